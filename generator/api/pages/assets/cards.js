// Series of the shelf as cards, and badges on what is new.
import { element, fill } from "./dom.js";
import { pageUrl } from "./progress.js";
import { texts } from "./site.js";

/** The series of a shelf as pairs of path and entry: those that are read, the last one first, then the followed ones. */
export function shelved({ series }) {
  const entries = Object.entries(series).filter(([, entry]) => entry.chapter || entry.followed);
  return entries.sort(([, one], [, other]) => (other.at ?? 0) - (one.at ?? 0));
}

/** Where reading goes on. */
function target(path, entry) {
  if (!entry.chapter || (entry.finished && !entry.next)) return path;
  return entry.finished ? entry.next : pageUrl(entry.chapter, entry.page);
}

export function card(path, entry, ...more) {
  const place = entry.chapter && !entry.finished ? fill(texts.place, { chapter: entry.heading, page: entry.page }) : "";
  return element(
    "li",
    { class: "card", "data-series": path },
    element(
      "a",
      { href: target(path, entry) },
      element("img", { src: entry.cover ?? "/assets/icon.svg", width: 240, height: 360, alt: "" }),
      element("bdi", {}, entry.title ?? path),
    ),
    element("small", {}, place),
    ...more,
  );
}

export function addBadge(link) {
  if (!link.querySelector(".badge")) link.append(" ", element("span", { class: "badge", lang: texts.lang }, texts.new));
}
