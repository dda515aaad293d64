// The page of a chapter. Without scripts, it is a strip of images with links.
import { fillBar, hasSingleKeys, hideWhileReading, openKeys, showBar, toggleFullscreen } from "./bar.js";
import { element, fill } from "./dom.js";
import { loadAhead, tryAgain } from "./images.js";
import { FITS, LAYOUTS, Pages } from "./layout.js";
import { keepRow } from "./offline.js";
import { arrive as note, pageUrl } from "./progress.js";
import { shelf, texts } from "./site.js";
import { changeSeries, ofSeries } from "./store.js";
import { listen } from "./turning.js";

const strip = document.getElementById("strip");

function read() {
  const { chapter: path, series } = strip.dataset;
  const neighbour = (rel) => document.querySelector(`#bar a[rel=${rel}]`);
  const described = {
    chapter: path,
    heading: document.querySelector("h1").textContent,
    title: document.querySelector(".kicker a").textContent,
    cover: document.querySelector("#end img")?.getAttribute("src") ?? undefined,
    next: neighbour("next")?.getAttribute("href"),
  };
  const kept = ofSeries(series);
  const layout = [kept.layout, strip.dataset.layout].find((name) => LAYOUTS.includes(name)) ?? "strip";
  const choice = { layout, fit: FITS.includes(kept.fit) ? kept.fit : undefined, shifted: kept.shifted ?? false };
  const pages = new Pages(strip, choice, arrived);
  const count = pages.images.length;
  // Screen readers announce a page that was turned, not each one that scrolls by.
  const announced = element("p", { class: "unseen", role: "status", lang: texts.lang });
  strip.after(announced);

  function choose(change) {
    pages.arrange(change);
    changeSeries(series, (entry) => Object.assign(entry, change));
  }

  const writePosition = fillBar(pages, choose, () => {
    const images = pages.images.map((image) => new URL(image.getAttribute("src"), location).href);
    return shelf ? [keepRow(path, described, images)] : [];
  });

  /** Note the pages that are read: in the address, in the bar and for the next visit. */
  function arrived(first, last) {
    writePosition(`${first === last ? first + 1 : `${first + 1}–${last + 1}`} / ${count}`);
    loadAhead(pages.images, last, neighbour("next")?.href);
    history.replaceState(null, "", pageUrl(path, first + 1));
    note(series, described, first + 1, last + 1 === count);
  }

  /** One page on or back; beyond the ends to the next chapter, or to the last page of the previous one. */
  function turn(step) {
    const link = neighbour(step > 0 ? "next" : "prev");
    if (pages.turn(step)) {
      showBar(false);
      announced.textContent = fill(texts.page_of, { page: pages.current + 1, count });
    } else if (link) location.assign(step > 0 ? link.href : `${link.href}#last`);
    else if (step > 0) document.getElementById("end")?.focus();
  }

  const singleKeys = {
    f: () => choose({ fit: FITS[(FITS.indexOf(pages.fit) + 1) % FITS.length] }),
    o: () => choose({ shifted: !pages.choice.shifted }),
    F: toggleFullscreen,
    "?": openKeys,
  };
  listen(pages, {
    turn,
    showBar: () => showBar(document.getElementById("bar").classList.contains("away")),
    single: (key) => (hasSingleKeys() ? singleKeys[key] : undefined),
  });

  /** The page of the URL. A path that ends in a number comes from elsewhere: the replaced service has such links. */
  function wanted() {
    if (location.hash === "#last") return count - 1;
    const page = location.hash.startsWith("#page-")
      ? location.hash.slice(6)
      : location.pathname.startsWith(path) && location.pathname.slice(path.length).replace("/", "");
    return Math.min(Math.max(Number.parseInt(page, 10) || 1, 1), count) - 1;
  }

  // A link to another page of the same chapter loads nothing.
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#page-")) pages.show(wanted());
  });

  // The link to the content would lead to the first page.
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    strip.focus({ preventScroll: true });
  });

  history.scrollRestoration = "manual";
  tryAgain(pages.images);
  const first = wanted();
  if (first || pages.isPaged) {
    pages.current = first;
    pages.arrange();
  } else {
    pages.fitImages();
    pages.arrive(0);
  }
  hideWhileReading();
}

// Behind the notice of an explicit series, no page is turned and none is noted as read.
const notice = document.getElementById("notice");
if (strip && notice && getComputedStyle(notice).display !== "none") {
  document.addEventListener("noticeclosed", read, { once: true });
} else if (strip) read();
