// Chapters that are kept for reading without a network. The service worker loads them: its policy permits the images.
import { button, element, fill } from "./dom.js";
import { texts } from "./site.js";

const KEPT = "flatpanel:kept:";
const ABOUT = "/kept.json";
const size = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

function ask(message, heard) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => heard(data);
  navigator.serviceWorker.controller.postMessage(message, [port2]);
}

/** What is known of a kept chapter; undefined if it is not kept as a whole. */
async function about(path) {
  if (!(await caches.has(KEPT + path))) return undefined;
  const found = await (await caches.open(KEPT + path)).match(ABOUT);
  return found?.json();
}

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
      ask({ action: "keep", page: path, ...described, images }, ({ done, count, bytes, isKept, failed }) => {
        if (isKept || failed) keeping = null;
        if (isKept) show();
        else row.replaceChildren(failed ? texts.keep_failed : fill(texts.keeping, { done, count, size: size(bytes) }));
      });
    };
    if (known) row.replaceChildren(`${fill(texts.kept, { size: size(known.bytes) })} `, button(texts.remove, remove));
    else row.replaceChildren(button(texts.keep, keep, { id: "keep" }));
  };
  const offer = async () => {
    if (navigator.serviceWorker?.controller && (await canKeep(images))) show();
  };
  offer();
  return row;
}

/** All kept chapters, for the page of the shelf. */
export async function keptList() {
  const names = globalThis.caches ? (await caches.keys()).filter((name) => name.startsWith(KEPT)) : [];
  const list = element("ul", { class: "entries" });
  for (const name of names) {
    const path = name.slice(KEPT.length);
    // A chapter that was not kept as a whole, as the browser was closed, takes room, too.
    const known = await about(path);
    const label = known ? `${known.title}: ${known.heading}` : path;
    const item = element("li", {}, element("a", { href: path }, element("bdi", {}, label)));
    const remove = async () => {
      await caches.delete(name);
      item.remove();
    };
    const attributes = { "aria-label": `${texts.remove}: ${label}` };
    item.append(known ? ` ${size(known.bytes)} ` : " ", button(texts.remove, remove, attributes));
    list.append(item);
  }
  return list.children.length ? list : element("p", { class: "note" }, texts.nothing_here);
}
