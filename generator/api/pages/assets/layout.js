// The layout of a chapter: a strip, single pages or pairs of pages; which page is shown, and how it fits the window.
import { scrolling } from "./dom.js";

export const LAYOUTS = ["strip", "paged", "double"];
export const FITS = ["width", "height", "original"];
// Where a pair has room. On an upright screen, pages in pairs are shown one by one.
const ROOM_FOR_TWO = matchMedia("(min-aspect-ratio: 1)");

/** Whether a page is wider than tall: by the image, or until it is there by the size that is reserved for it. */
function isWide(image) {
  if (image.naturalWidth) return image.naturalWidth > image.naturalHeight;
  return Number(image.getAttribute("width")) > Number(image.getAttribute("height"));
}

/** The indexes of pages that are shown together. The first page and wide ones are alone; `shifted` pairs the first. */
function groupsOf(images, inPairs, shifted) {
  const groups = [];
  let isOpen = false;
  images.forEach((image, index) => {
    const alone = !inPairs || isWide(image) || (index === 0 && !shifted);
    if (isOpen && !alone) groups.at(-1).push(index);
    else groups.push([index]);
    isOpen = !alone && groups.at(-1).length === 1;
  });
  return groups;
}

export class Pages {
  /** `choice` has layout, fit and shifted; `arrived` is called with the first and the last page that are shown. */
  constructor(strip, choice, arrived) {
    Object.assign(this, { strip, choice, arrived, images: [...strip.querySelectorAll("img")], current: 0 });
    // Scrolling that the script started does not change the page.
    this.quietUntil = 0;
    ROOM_FOR_TWO.addEventListener("change", () => this.arrange());
    for (const image of this.images) image.addEventListener("load", () => this.group());
    // In the strip, the page that is read is the one in the middle of the window.
    const middle = new IntersectionObserver(
      (entries) => {
        const entry = entries.findLast((item) => item.isIntersecting);
        if (entry && !this.isPaged && performance.now() > this.quietUntil) this.arrive(this.images.indexOf(entry.target));
      },
      { rootMargin: "-50% 0px -50% 0px" },
    );
    for (const image of this.images) middle.observe(image);
  }

  get isPaged() {
    return this.choice.layout !== "strip";
  }

  get fit() {
    return this.choice.fit ?? (this.isPaged ? "height" : "width");
  }

  get shown() {
    return this.groups.find((group) => group.includes(this.current));
  }

  /** Group the pages, and mark those that are shown: an image that has come may be wider than it seemed. */
  group() {
    const inPairs = this.choice.layout === "double" && ROOM_FOR_TWO.matches;
    this.groups = groupsOf(this.images, inPairs, this.choice.shifted);
    this.images.forEach((image, index) => image.classList.toggle("now", this.shown.includes(index)));
  }

  /** Apply a choice; the page stays. */
  arrange(choice = {}) {
    Object.assign(this.choice, choice);
    document.body.classList.toggle("paged", this.isPaged);
    this.fitImages();
    this.show(this.current);
  }

  /** Let the browser choose the copies that the size of the pages needs. The page has the sizes of a strip. */
  fitImages() {
    this.strip.dataset.fit = this.fit;
    for (const image of this.images) {
      // The original size is that of the widest copy.
      const [, widest] = /(\d+)w$/.exec(image.srcset) ?? [];
      if (!widest) continue;
      image.dataset.sizes ??= image.sizes;
      const inWidth = this.isPaged && this.fit === "width" ? "100vw" : image.dataset.sizes;
      const sizes = this.fit === "original" ? `${widest}px` : inWidth;
      // The same value again would load the image again.
      if (image.sizes !== sizes) image.sizes = sizes;
    }
  }

  arrive(index) {
    this.current = index;
    this.group();
    this.arrived(this.shown[0], this.shown.at(-1));
  }

  show(index) {
    this.quietUntil = performance.now() + 300;
    this.arrive(Math.min(Math.max(index, 0), this.images.length - 1));
    const target = this.isPaged ? this.strip : this.images[this.current];
    target.scrollIntoView({ behavior: scrolling(), block: "start" });
  }

  /** Show the next or the previous pages; false at the ends of the chapter. */
  turn(step) {
    const group = this.groups[this.groups.indexOf(this.shown) + step];
    if (!group) return false;
    this.show(group[0]);
    return true;
  }
}
