// What each page does at once. Before it is painted: the colours and the layout that the reader chose, and room for
// what the first page will show. Later: start the service worker.

/** What this device remembers; nothing in a private window, or of a value of another program. */
function remembered() {
  try {
    return JSON.parse(localStorage.getItem("flatpanel")) ?? {};
  } catch {
    return {};
  }
}

/** Show the colours that the reader chose, or those of the device. Also called by shelf.js. */
function showColours() {
  const theme = remembered().settings?.theme;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const meta of document.querySelectorAll("meta[name=theme-color]")) {
    meta.dataset.media ??= meta.media;
    if (theme) meta.media = meta.dataset.media.includes(theme) ? "all" : "not all";
    else meta.media = meta.dataset.media;
  }
}

showColours();
// The browser shows the page of before on the way back.
addEventListener("pageshow", ({ persisted }) => persisted && showColours());
{
  const { settings, series } = remembered();
  const { dataset } = document.documentElement;
  const all = Object.entries(series ?? {});
  const [, own] = all.find(([path]) => location.pathname.startsWith(path)) ?? [];
  if (settings?.notice === false) dataset.notice = "closed";
  if (own?.layout) dataset.layout = own.layout;
  if (all.length) dataset.shelf = "";
}

/** Start the worker. The page that starts it first came without it, with images that the worker can have, too. */
async function work(url) {
  const isFirst = !navigator.serviceWorker.controller;
  await navigator.serviceWorker.register(url);
  const { active } = await navigator.serviceWorker.ready;
  const own = [...document.images].map((image) => image.currentSrc).filter((image) => image.startsWith(`${location.origin}/`));
  if (isFirst) active.postMessage({ action: "visited", urls: [location.origin + location.pathname, ...own] });
  active.postMessage({ action: "check" });
}

const { worker } = document.currentScript.dataset;
if (worker && "serviceWorker" in navigator) addEventListener("load", () => work(worker).catch(() => {}));
