// The first page: where reading goes on, and what is new since the last visit.
import { addBadge, card, shelved } from "./cards.js";
import { lastVisit, read } from "./store.js";

const MOST = 12;
const section = document.getElementById("shelf");
const list = section.querySelector("ul");
const shown = shelved(read()).slice(0, MOST);
section.hidden = shown.length === 0;
if (section.hidden) delete document.documentElement.dataset.shelf;
list.append(...shown.map(([path, entry]) => card(path, entry)));

/** The API has whole URLs, and pages have paths of images on their own site. */
function ownPath(url) {
  const { base } = section.dataset;
  return url.startsWith(`${base}/`) && !url.startsWith(`${base}//`) ? url.slice(base.length) : url;
}

/** Mark series and chapters that came after the last visit, with one request, if the site has a public list. */
async function markNew(since) {
  for (const time of document.querySelectorAll(".latest time")) {
    if (Date.parse(time.dateTime) > since) addBadge(time.parentElement.querySelector("a + a"));
  }
  if (!section.dataset.latest) return;
  const response = await fetch(section.dataset.latest);
  if (!response.ok) return;
  const { results } = await response.json();
  for (const { url, title, cover, updated } of results.filter((series) => Date.parse(series.updated) > since)) {
    if (shown.length && list.children.length < MOST && !list.querySelector(`[data-series="${CSS.escape(url)}"]`)) {
      list.append(card(url, { title, cover: ownPath(cover) }));
    }
    for (const link of document.querySelectorAll(`.card a[href="${CSS.escape(url)}"], [data-series="${CSS.escape(url)}"] a`)) {
      addBadge(link);
    }
  }
}

const since = lastVisit();
if (since) markNew(since).catch(() => {});
