// Chapters kept for reading without a network. The service worker loads them: its policy permits the images.
import { button, element, fill } from "./dom.js";
import { texts } from "./site.js";

export const KEPT = "flatpanel:kept:";
const ABOUT = "/kept.json";
// Milliseconds until the worker is asked again.
const PAUSE = 5000;
export const size = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

function ask(message, heard) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => heard(data);
  navigator.serviceWorker.ready.then(({ active }) => active.postMessage(message, [port2]));
}

/** What is known of a kept chapter; undefined if it is not kept as a whole. */
export const about = async (path) => (await caches.match(ABOUT, { cacheName: KEPT + path }))?.json();

/** Whether the worker may load images: those of this site, and those of a host that permits it. */
function canKeep(images) {
  const foreign = images.find((url) => new URL(url).origin !== location.origin);
  return foreign ? new Promise((done) => ask({ action: "test", url: foreign }, done)) : true;
}

// The row of the chapter while it is being kept: the settings can be closed and opened again.
let keeping = null;

/** A row for the settings of a chapter: keep it, its progress, its size, delete it. Empty where it cannot be kept. */
export function keepRow(path, described, images) {
  if (keeping) return keeping;
  const row = element("p", { class: "keep", role: "status" });
  const show = async () => {
    const known = await about(path);
    const remove = async () => {
      await caches.delete(KEPT + path);
      show();
    };
    const keep = () => {
      navigator.storage?.persist?.();
      keeping = row;
      // Again and again: a browser may end the worker at any time, and the next one goes on.
      const asking = () => ask({ action: "keep", page: path, ...described }, heard);
      const timer = setInterval(asking, PAUSE);
      const heard = ({ done, count, bytes, isKept, failed }) => {
        if (isKept || failed) {
          clearInterval(timer);
          keeping = null;
        }
        if (isKept) show();
        else row.replaceChildren(failed ? texts.keep_failed : fill(texts.keeping, { done, count, size: size(bytes) }));
      };
      asking();
    };
    if (known) row.replaceChildren(`${fill(texts.kept, { size: size(known.bytes) })} `, button(texts.remove, remove));
    else row.replaceChildren(button(texts.keep, keep, { id: "keep" }));
  };
  const offer = async () => {
    // On the first page of a visitor, the worker comes later.
    if ((await navigator.serviceWorker?.ready) && (await canKeep(images))) show();
  };
  offer();
  return row;
}
