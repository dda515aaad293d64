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
// Milliseconds between two addresses: browsers permit 100 in 30 seconds.
const PAUSE = 500;

function read() {
  const { chapter: path, series } = strip.dataset;
  const neighbour = (rel) => document.querySelector(`#bar a[rel=${rel}]`);
  const described = {
    chapter: path,
    heading: document.querySelector("h1").textContent,
    title: document.querySelector(".kicker a").textContent,
    cover: document.querySelector("#end img")?.getAttribute("src"),
    next: neighbour("next")?.getAttribute("href"),
  };
  const chosen = () => {
    const kept = ofSeries(series);
    const layout = [kept.layout, strip.dataset.layout].find((name) => LAYOUTS.includes(name)) ?? "strip";
    return { layout, fit: FITS.find((name) => name === kept.fit), shifted: kept.shifted ?? false };
  };
  const pages = new Pages(strip, chosen(), arrived);
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

  // On the last page, a visitor from the next chapter has not read this one.
  let isFromNext = location.hash === "#last" || history.state?.isFromNext === true;
  // Nothing is read in a tab behind another.
  let wasShown = false;
  let isReturning = false;
  let numbers = "";
  let [writing, written] = [0, -PAUSE];

  /** Note the place in the address, and in its state. */
  function writeAddress() {
    clearTimeout(writing);
    [writing, written] = [0, performance.now()];
    const state = { isFromNext, top: scrollY, part: pages.isPaged ? 0 : pages.part };
    try {
      history.replaceState(state, "", pageUrl(path, pages.shown[0] + 1));
    } catch {
      // Refused, as after too many: reading goes on.
    }
  }

  function writeSoon() {
    writing ||= setTimeout(writeAddress, written + PAUSE - performance.now());
  }

  /** Note the pages that are read: for the next visit, in the bar and in the address. */
  function arrived(first, last) {
    const isLast = last + 1 === count;
    isFromNext &&= isLast;
    wasShown ||= !document.hidden;
    if (wasShown && !isReturning) note(series, described, first + 1, isLast && !isFromNext);
    numbers = first === last ? `${first + 1}` : `${first + 1}–${last + 1}`;
    writePosition(`${numbers} / ${count}`);
    loadAhead(pages.images, last, neighbour("next")?.href);
    writeSoon();
  }

  /** One page on or back; beyond the ends to the next chapter, or to the last page of the previous one. */
  function turn(step, isHeld = false) {
    const link = neighbour(step > 0 ? "next" : "prev");
    if (pages.turn(step)) {
      showBar(false);
      // A focus in the bar holds it.
      if (document.activeElement?.closest("#bar")) strip.focus({ preventScroll: true });
      announced.textContent = fill(texts.page_of, { page: numbers, count });
    } else if (isHeld) return;
    else if (link) {
      writeAddress();
      location.assign(step > 0 ? link.href : `${link.href}#last`);
    } else if (step > 0) document.getElementById("end")?.focus();
  }

  const singleKeys = {
    f: () => choose({ fit: FITS[(FITS.indexOf(pages.fit) + 1) % FITS.length] }),
    o: () => pages.choice.layout === "double" && choose({ shifted: !pages.choice.shifted }),
    F: toggleFullscreen,
    "?": openKeys,
  };
  listen(pages, {
    turn,
    showBar: () => showBar(document.getElementById("bar").classList.contains("away")),
    single: (key) => (hasSingleKeys() ? singleKeys[key] : undefined),
  });

  /** The page of the URL. A path that ends in a number is one of the replaced service. */
  function wanted() {
    if (location.hash === "#last") return count - 1;
    const page = location.hash.startsWith("#page-")
      ? location.hash.slice(6)
      : location.pathname.startsWith(path) && location.pathname.slice(path.length).replace("/", "");
    return Math.min(Math.max(Number.parseInt(page, 10) || 1, 1), count) - 1;
  }

  // A link to another page loads nothing.
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#page-")) pages.show(wanted());
  });

  // The link to the content would lead to the first page.
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    strip.focus({ preventScroll: true });
  });

  addEventListener("scroll", writeSoon, { passive: true });
  addEventListener("pagehide", writeAddress);
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    // Safari restores no place.
    scrollTo(0, history.state?.top);
    // The next chapter may have another choice now. Its progress stays.
    isReturning = ofSeries(series).chapter;
    if (isReturning && JSON.stringify(chosen()) !== JSON.stringify(pages.choice)) pages.arrange(chosen());
    isReturning = false;
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) writeAddress();
    else if (!wasShown) pages.arrive(pages.current);
  });
  addEventListener("beforeprint", () => {
    for (const image of pages.images) image.loading = "eager";
  });

  history.scrollRestoration = "manual";
  tryAgain(pages.images);
  const first = wanted();
  const part = Number(history.state?.part) || 0;
  if (first || part || pages.isPaged) {
    // A slow script finds a reader who has begun: in a strip, which is shown after three seconds.
    const begun = (image) => image.getBoundingClientRect().top < innerHeight / 2;
    const isStrip = pages.isPaged && scrollY && getComputedStyle(strip).visibility === "visible";
    pages.current = first || (isStrip && pages.images.findLastIndex(begun)) || 0;
    pages.arrange({}, part);
  } else {
    pages.fitImages();
    pages.arrive(0);
  }
  hideWhileReading();
}

if (strip?.dataset.formerly) import("./former.js").then(({ move }) => move(strip.dataset), () => {});

// Behind the notice of an explicit series, nothing is read.
const notice = document.getElementById("notice");
if (strip && notice && getComputedStyle(notice).display !== "none") {
  document.addEventListener("noticeclosed", read, { once: true });
} else if (strip) read();
