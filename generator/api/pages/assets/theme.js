// What each page does at once. Before it is painted: the colours and the layout that the reader chose, and room for
// what the first page will show. Later: start the service worker.
try {
  const { settings, series } = JSON.parse(localStorage.getItem("flatpanel")) ?? {};
  const { dataset } = document.documentElement;
  const all = Object.entries(series ?? {});
  const [, own] = all.find(([path]) => location.pathname.startsWith(path)) ?? [];
  if (settings?.theme) {
    dataset.theme = settings.theme;
    for (const meta of document.querySelectorAll("meta[name=theme-color]")) {
      meta.media = meta.media.includes(settings.theme) ? "all" : "not all";
    }
  }
  if (settings?.notice === false) dataset.notice = "closed";
  if (own?.layout) dataset.layout = own.layout;
  if (all.length) dataset.shelf = "";
} catch {
  // A private window, or a value of another program: the page looks as it does without a choice.
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
