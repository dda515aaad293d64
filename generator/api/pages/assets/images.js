// Images of a chapter: load those that come next, and try again those that failed.
import { fill } from "./dom.js";
import { texts } from "./site.js";

const AHEAD = 3;
const OF_NEXT_CHAPTER = 2;
// Milliseconds before each attempt.
const WAITS = [1000, 4000];

/** Load the images after the one at `index`, and near the end the first ones of the next chapter. */
export function loadAhead(images, index, nextChapter) {
  for (const image of images.slice(index, index + AHEAD + 1)) image.loading = "eager";
  if (index >= images.length - AHEAD && nextChapter && !navigator.connection?.saveData) loadStart(nextChapter);
}

let started = false;

async function loadStart(url) {
  if (started) return;
  started = true;
  try {
    const response = await fetch(url);
    const chapter = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const image of [...chapter.querySelectorAll("#strip img")].slice(0, OF_NEXT_CHAPTER)) {
      const { sizes, srcset } = image;
      Object.assign(new Image(), { sizes, srcset, src: image.getAttribute("src") });
    }
  } catch {
    // Without a network, the next chapter loads later.
  }
}

/** Load an image again: the original, since a smaller copy may be gone. */
function load(image) {
  image.removeAttribute("srcset");
  image.setAttribute("src", image.getAttribute("src"));
}

/** Try failed images again, later when the reader taps them. */
export function tryAgain(images) {
  for (const image of images) {
    const { alt } = image;
    let attempts = 0;
    const failed = () => {
      if (attempts < WAITS.length) {
        setTimeout(() => load(image), WAITS[attempts]);
        attempts += 1;
        return;
      }
      image.alt = fill(texts.image_failed, { page: alt });
      image.classList.add("failed");
      image.setAttribute("role", "button");
      image.tabIndex = 0;
    };
    const retry = (event) => {
      if (!image.classList.contains("failed") || (event.key && event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      event.stopPropagation();
      attempts = WAITS.length;
      load(image);
    };
    image.addEventListener("error", failed);
    image.addEventListener("click", retry);
    image.addEventListener("keydown", retry);
    image.addEventListener("load", () => {
      attempts = 0;
      image.alt = alt;
      image.classList.remove("failed");
      image.removeAttribute("role");
      image.removeAttribute("tabindex");
    });
    if (image.complete && image.currentSrc && !image.naturalWidth) failed();
  }
}
