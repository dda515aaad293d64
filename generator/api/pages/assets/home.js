// The first page: where reading goes on, and what is new since the last visit.
import { addBadge, card, shelved } from "./cards.js";
import { element } from "./dom.js";
import { texts } from "./site.js";
import { lastVisit, read } from "./store.js";

const MOST = 12;
const section = document.getElementById("shelf");
const heading = section.querySelector("h2");

/** Mark series and chapters that came after the last visit, with one request, if the site has a public list. */
async function markNew(since) {
  for (const time of document.querySelectorAll(".latest time")) {
    if (Date.parse(time.dateTime) > since) addBadge(time.parentElement.querySelector("a + a"));
  }
  if (!section.dataset.latest) return;
  const response = await fetch(section.dataset.latest);
  if (!response.ok) return;
  const { results } = await response.json();
  for (const { url } of results.filter((series) => Date.parse(series.updated) > since)) {
    for (const link of document.querySelectorAll(`.card a[href="${CSS.escape(url)}"], [data-series="${CSS.escape(url)}"] a`)) {
      addBadge(link);
    }
  }
}

function show() {
  const shown = shelved(read()).slice(0, MOST);
  section.hidden = shown.length === 0;
  if (section.hidden) delete document.documentElement.dataset.shelf;
  const grid = (entries) => element("ul", {}, ...entries.map(([path, entry]) => card(path, entry)));
  const begun = shown.filter(([, entry]) => entry.chapter);
  const others = shown.filter(([, entry]) => !entry.chapter);
  section.replaceChildren();
  if (begun.length) section.append(heading, grid(begun));
  if (others.length) section.append(element("h2", { lang: texts.lang }, texts.followed), grid(others));
  const since = lastVisit();
  if (since) markNew(since).catch(() => {});
}

show();
// The browser shows the page of before on the way back.
addEventListener("pageshow", ({ persisted }) => persisted && show());
