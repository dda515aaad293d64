// Reading: pages one by one or as a strip, keys, gestures, and the progress of each series. Without it, a chapter is
// a strip of images with links.
const strip = document.getElementById("strip");
const series = document.querySelector("[data-series]");

/** The value of a key of localStorage; null if the browser keeps none. */
function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A private window, or no space: reading goes on without it.
  }
}

/** The URL of a page, with a fragment: not every host has a rule for a path that ends in a number. */
function pageUrl(chapter, page) {
  return page > 1 ? `${chapter}#page-${page}` : chapter;
}

const progressKey = `progress:${series?.dataset.series}`;
// Of a series, since the pages of some are far too long to be shown one by one.
const modeKey = `mode:${series?.dataset.series}`;

/**
 * On the page of a series: lead to the page that was read last, if its chapter is still in the list; after the last
 * page of a chapter, to the next chapter. It may be newer than the visit to the last page.
 */
function offerToContinue(link) {
  let progress;
  try {
    progress = JSON.parse(recall(progressKey));
  } catch {
    return;
  }
  const path = (item) => item.getAttribute("href");
  // Of the chapters that share a number, one has the path of the number, and the others are versions below it.
  const ofNumber = (url) => url.replace(/version-\d+\/$/, "");
  const newestFirst = [...document.querySelectorAll(".chapters li > a")];
  const place = newestFirst.findIndex((item) => path(item) === progress?.chapter);
  if (place < 0) return;
  const next = newestFirst
    .slice(0, place)
    .findLast((item) => path(item) === ofNumber(path(item)) && path(item) !== ofNumber(progress.chapter));
  const chapter = (progress.finished && next) || newestFirst[place];
  link.href = chapter === next ? path(next) : pageUrl(progress.chapter, Number.parseInt(progress.page, 10));
  link.title = chapter.textContent;
  link.hidden = false;
}

/** On the page of a chapter. */
function read() {
  const images = [...strip.querySelectorAll("img")];
  const path = strip.dataset.chapter;
  const leftToRight = strip.dataset.direction !== "rtl";
  const mode = document.getElementById("mode");
  const position = document.getElementById("position");
  let current = 0;
  let paged = false;
  // Scrolling that the script started does not change the page.
  let quiet = 0;

  const behaviour = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "auto");

  /** Note the page that is read: in the address, in the bar and for the next visit. Load the next image. */
  function arrive(index) {
    current = index;
    position.value = `${index + 1} / ${images.length}`;
    images.forEach((image, other) => image.classList.toggle("now", other === index));
    for (const near of images.slice(index, index + 2)) near.loading = "eager";
    history.replaceState(null, "", pageUrl(path, index + 1));
    const finished = index + 1 === images.length;
    remember(progressKey, JSON.stringify({ chapter: path, page: index + 1, finished }));
  }

  function show(index) {
    quiet = performance.now() + 300;
    arrive(index);
    (paged ? strip : images[index]).scrollIntoView({ behavior: behaviour(), block: "start" });
  }

  /** One page on or back; beyond the ends to the next chapter, or to the last page of the previous one. */
  function turn(step) {
    const index = current + step;
    const link = document.querySelector(`#bar a[rel=${step > 0 ? "next" : "prev"}]`);
    if (images[index]) show(index);
    else if (link) location.assign(step > 0 ? link.href : `${link.href}#last`);
    else if (step > 0) document.getElementById("end")?.focus();
  }

  function setMode(isPaged) {
    paged = isPaged;
    document.body.classList.toggle("paged", paged);
    mode.setAttribute("aria-pressed", String(paged));
    show(current);
  }

  mode.addEventListener("click", () => {
    setMode(!paged);
    remember(modeKey, paged ? "paged" : "strip");
    // So that the keys turn pages instead of pressing the button.
    strip.focus({ preventScroll: true });
  });

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isSpace = event.key === " ";
    if (event.target.closest(isSpace ? "a, button, input, select, summary, textarea" : "input, select, textarea")) return;
    const actions = {
      ArrowRight: () => turn(leftToRight ? 1 : -1),
      ArrowLeft: () => turn(leftToRight ? -1 : 1),
      Home: () => show(0),
      End: () => show(images.length - 1),
    };
    if (paged) actions[" "] = () => turn(event.shiftKey ? -1 : 1);
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  strip.addEventListener("click", (event) => {
    if (!paged) return;
    const { left, width } = strip.getBoundingClientRect();
    const right = event.clientX > left + width / 2;
    turn(right === leftToRight ? 1 : -1);
  });

  let start = null;
  strip.addEventListener(
    "touchstart",
    (event) => {
      start = event.touches.length === 1 ? event.touches[0] : null;
    },
    { passive: true },
  );
  strip.addEventListener(
    "touchend",
    (event) => {
      const end = event.changedTouches[0];
      if (!paged || !start || event.touches.length || (globalThis.visualViewport?.scale ?? 1) > 1.05) return;
      const across = end.clientX - start.clientX;
      if (Math.abs(across) > 50 && Math.abs(across) > 2 * Math.abs(end.clientY - start.clientY)) {
        // A swipe to the left brings the page on the right.
        turn(across < 0 === leftToRight ? 1 : -1);
      }
    },
    { passive: true },
  );

  // In the strip, the page that is read is the one in the middle of the window.
  const middle = new IntersectionObserver(
    (entries) => {
      const entry = entries.findLast((item) => item.isIntersecting);
      if (entry && !paged && performance.now() > quiet) arrive(images.indexOf(entry.target));
    },
    { rootMargin: "-50% 0px -50% 0px" },
  );
  for (const image of images) middle.observe(image);

  /** The page of the URL. A path that ends in a number comes from elsewhere: the replaced service has such links. */
  function wanted() {
    if (location.hash === "#last") return images.length - 1;
    const page = location.hash.startsWith("#page-")
      ? location.hash.slice(6)
      : location.pathname.startsWith(path) && location.pathname.slice(path.length).replace("/", "");
    return Math.min(Math.max(Number.parseInt(page, 10) || 1, 1), images.length) - 1;
  }

  // A link to another page of the same chapter loads nothing.
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#page-")) show(wanted());
  });

  // The link to the content would lead to the first page.
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    strip.focus({ preventScroll: true });
  });

  const first = wanted();
  document.getElementById("tools").hidden = false;
  document.getElementById("help").hidden = false;
  history.scrollRestoration = "manual";
  current = first;
  if (recall(modeKey) === "paged") setMode(true);
  else if (first) show(first);
  else arrive(0);
}

if (strip) read();
else {
  const link = document.getElementById("continue");
  if (link) offerToContinue(link);
}
