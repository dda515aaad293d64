// Turning pages: keys, taps on the sides, swipes, and the wheel.
const SWIPE = 50;
// A wheel turns one page, however far it goes without a pause.
const WHEEL = 40;
const PAUSE = 200;
// The share of the window that a key moves it by.
const STRIDE = 0.9;

/** Call `turn` with 1 or -1, and `showBar` after a tap in the middle. `single` has the actions of single keys. */
export function listen(pages, { turn, showBar, single }) {
  const { strip } = pages;
  const onwards = strip.dataset.direction === "rtl" ? -1 : 1;
  byKeys(pages, turn, onwards, single);
  byTouch(pages, turn, onwards);
  byWheel(pages, turn);
  strip.addEventListener("click", (event) => {
    const { left, width } = strip.getBoundingClientRect();
    const third = Math.floor((3 * (event.clientX - left)) / width) - 1;
    if (!pages.isPaged || third === 0) showBar();
    else turn(third > 0 ? onwards : -onwards);
  });
}

/** How far the window can move to the end of the page, or with -1 to its start. */
function restDown({ strip }, step) {
  const { top, bottom } = strip.getBoundingClientRect();
  return step > 0 ? bottom - innerHeight : -top;
}

/** How far a page that is wider than the window can move on in the reading direction, or with -1 back. */
function restAcross({ strip, isPaged, fit }, step) {
  if (!isPaged || fit !== "original") return 0;
  // Negative from right to left.
  const place = Math.abs(strip.scrollLeft);
  return step > 0 ? strip.scrollWidth - strip.clientWidth - place : place;
}

function byKeys(pages, turn, onwards, single) {
  // Move over a page that is larger than the window; turn it at its edge.
  const across = (step, isHeld) => {
    if (restAcross(pages, step) <= 1) turn(step, isHeld);
    else pages.strip.scrollBy(step * onwards * STRIDE * innerWidth, 0);
  };
  const down = (step, isHeld) => {
    const rest = restDown(pages, step);
    if (rest <= 1) turn(step, isHeld);
    else scrollBy(0, step * Math.min(rest, STRIDE * innerHeight));
  };
  const actions = {
    ArrowRight: (isHeld) => across(onwards, isHeld),
    ArrowLeft: (isHeld) => across(-onwards, isHeld),
    Home: () => pages.show(0),
    End: () => pages.show(pages.images.length - 1),
  };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isSpace = event.key === " ";
    if (event.target.closest(isSpace ? "a, button, input, select, summary, textarea" : "input, select, textarea")) return;
    let action = actions[event.key] ?? single(event.key);
    // In the strip, Space scrolls.
    if (isSpace && pages.isPaged) action = (isHeld) => down(event.shiftKey ? -1 : 1, isHeld);
    if (!action) return;
    event.preventDefault();
    action(event.repeat);
  });
}

function byTouch(pages, turn, onwards) {
  const { strip } = pages;
  let start = null;
  let last = 0;
  let edges = [];
  const isZoomed = () => (globalThis.visualViewport?.scale ?? 1) > 1.05;
  globalThis.visualViewport?.addEventListener("resize", () => strip.classList.toggle("zoomed", isZoomed()));
  strip.addEventListener(
    "touchstart",
    (event) => {
      start = event.touches.length === 1 ? event.touches[0] : null;
      last = start?.clientX;
      edges = [-1, 1].filter((step) => restAcross(pages, step) <= 1);
    },
    { passive: true },
  );
  // Browsers that move the page themselves go back in the history at its side.
  strip.addEventListener(
    "touchmove",
    ({ touches: [{ clientX }] }) => {
      if (!pages.isPaged || !start || isZoomed()) return;
      strip.scrollLeft += last - clientX;
      last = clientX;
    },
    { passive: true },
  );
  strip.addEventListener(
    "touchend",
    (event) => {
      const end = event.changedTouches[0];
      if (!pages.isPaged || !start || event.touches.length || isZoomed()) return;
      const across = end.clientX - start.clientX;
      if (Math.abs(across) > SWIPE && Math.abs(across) > 2 * Math.abs(end.clientY - start.clientY)) {
        // A swipe to the left brings the page on the right, after the right side of this one.
        const step = across < 0 ? onwards : -onwards;
        if (edges.includes(step)) turn(step);
      }
    },
    { passive: true },
  );
}

/** A page that is higher than the window scrolls to its end first. */
function byWheel(pages, turn) {
  let way = 0;
  let last = 0;
  pages.strip.addEventListener(
    "wheel",
    (event) => {
      if (!pages.isPaged || event.ctrlKey || !event.deltaY) return;
      const step = Math.sign(event.deltaY);
      const isLast = step > 0 ? pages.shown.includes(pages.images.length - 1) : pages.current === 0;
      // Below the last page is the end of the chapter, above the first one its title.
      if (restDown(pages, step) > 1 || isLast) return;
      event.preventDefault();
      const now = performance.now();
      if (now - last > PAUSE) way = 0;
      last = now;
      const before = way;
      way += Math.abs(event.deltaY);
      if (before < WHEEL && way >= WHEEL) turn(step);
    },
    { passive: false },
  );
}
