// Turning pages: keys, taps on the sides, swipes, and the wheel.
const SWIPE = 50;
// A wheel turns one page, however far it goes without a pause.
const WHEEL = 40;
const PAUSE = 200;

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

function byKeys(pages, turn, onwards, single) {
  const actions = {
    ArrowRight: () => turn(onwards),
    ArrowLeft: () => turn(-onwards),
    Home: () => pages.show(0),
    End: () => pages.show(pages.images.length - 1),
  };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isSpace = event.key === " ";
    if (event.target.closest(isSpace ? "a, button, input, select, summary, textarea" : "input, select, textarea")) return;
    let action = actions[event.key] ?? single(event.key);
    // In the strip, Space scrolls.
    if (isSpace && pages.isPaged) action = () => turn(event.shiftKey ? -1 : 1);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function byTouch(pages, turn, onwards) {
  const { strip } = pages;
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
      if (!pages.isPaged || !start || event.touches.length || (globalThis.visualViewport?.scale ?? 1) > 1.05) return;
      const across = end.clientX - start.clientX;
      if (Math.abs(across) > SWIPE && Math.abs(across) > 2 * Math.abs(end.clientY - start.clientY)) {
        // A swipe to the left brings the page on the right.
        turn(across < 0 ? onwards : -onwards);
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
      const { top, bottom } = pages.strip.getBoundingClientRect();
      const isAtEdge = step > 0 ? bottom <= innerHeight + 1 : top >= -1;
      const isLast = step > 0 ? pages.shown.includes(pages.images.length - 1) : pages.current === 0;
      // Below the last page is the end of the chapter, above the first one its title.
      if (!isAtEdge || isLast) return;
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
