// The layout of a chapter: a strip, single pages or pairs of pages; which page is shown, and how it fits the window.
import { scrolling } from "./dom.js";

export const LAYOUTS = ["strip", "paged", "double"];
export const FITS = ["width", "height", "original"];
// Where a pair has room. On an upright screen, pages in pairs are shown one by one.
const ROOM_FOR_TWO = matchMedia("(min-aspect-ratio: 1)");

/** Whether a page is wider than tall; before its image is there, by the reserved size. */
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
    // The place in a strip that the script has scrolled to; null once the reader has scrolled.
    this.place = null;
    ROOM_FOR_TWO.addEventListener("change", () => this.choice.layout === "double" && this.arrange());
    addEventListener("scroll", () => this.follow(), { passive: true });
    // Before the change of size is painted, unlike the event of a loaded image.
    const sizes = new ResizeObserver(() => this.follow());
    for (const image of this.images) {
      sizes.observe(image);
      image.addEventListener("load", () => this.regroup());
    }
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
  arrange(choice = {}, part = 0) {
    Object.assign(this.choice, choice);
    document.body.classList.toggle("paged", this.isPaged);
    this.fitImages();
    this.show(this.current, part);
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

  /** Group the pages again; others may be shown then. */
  regroup() {
    const before = String(this.shown);
    this.group();
    if (String(this.shown) !== before) this.arrive(this.current);
  }

  /** Show a page; in a strip, with a part of it above the window. */
  show(index, part = 0) {
    this.arrive(Math.min(Math.max(index, 0), this.images.length - 1));
    if (this.isPaged) {
      this.strip.scrollLeft = 0;
      this.strip.scrollIntoView({ behavior: scrolling(), block: "start" });
    } else this.align(part);
  }

  get box() {
    return this.images[this.current].getBoundingClientRect();
  }

  /** The part of the page that is above the window; negative if the page begins below its upper edge. */
  get part() {
    return -this.box.top / this.box.height;
  }

  align(part) {
    scrollBy({ top: this.box.top + part * this.box.height, behavior: "instant" });
    this.place = { part, top: this.box.top, height: document.documentElement.scrollHeight };
  }

  /** In a strip that was scrolled or whose images have grown: stay at a place, or find the page that is read. */
  follow() {
    if (this.isPaged) return;
    const { place } = this;
    const { scrollHeight } = document.documentElement;
    const growth = Math.abs(scrollHeight - place?.height);
    if (Math.abs(place?.top - this.box.top) <= growth + 1) {
      if (growth) this.align(place.part);
    } else {
      // No place, or growth alone did not move the page: the reader did.
      this.place = null;
      // A page is read when it begins above the middle of the window. Near the end, where no page may get there, the
      // line moves down to the lower edge.
      const line = innerHeight - Math.min(Math.max(scrollHeight - innerHeight - scrollY, 0), innerHeight / 2);
      const isAhead = (index) => this.images[index].getBoundingClientRect().top > line;
      let index = this.current;
      while (index && isAhead(index)) index -= 1;
      while (index + 1 < this.images.length && !isAhead(index + 1)) index += 1;
      if (index !== this.current) this.arrive(index);
    }
  }

  /** Show the next or the previous pages; false at the ends of the chapter. */
  turn(step) {
    const group = this.groups[this.groups.indexOf(this.shown) + step];
    if (!group) return false;
    this.show(group[0]);
    return true;
  }
}
