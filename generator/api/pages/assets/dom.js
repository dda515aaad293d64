// Elements that scripts make. Texts become text nodes, so no text of the catalog becomes markup.
import { texts } from "./site.js";

/** An element with attributes and children. A function listens to the event of its name. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** A text with its parts in braces filled in. */
export const fill = (text, parts) => text.replace(/\{(\w+)\}/g, (whole, name) => parts[name] ?? whole);

export function button(text, click, attributes = {}) {
  return element("button", { type: "button", click, ...attributes }, text);
}

/** A choice with a label; `options` has pairs of a value and its text. */
export function select(name, label, options, value, choose) {
  const list = element("select", { name, change: () => choose(list.value) });
  for (const [key, text] of options) list.append(element("option", { value: key, selected: key === value }, text));
  return element("label", {}, `${label} `, list);
}

export function checkbox(name, label, checked, choose) {
  const box = element("input", { type: "checkbox", name, checked, change: () => choose(box.checked) });
  return element("label", {}, box, ` ${label}`);
}

/** Whether a click on a dialog is outside of its box, not between its rows. */
function isBeside({ target, clientX, clientY }, box) {
  const { left, right, top, bottom } = box.getBoundingClientRect();
  return target === box && (clientX < left || clientX > right || clientY < top || clientY > bottom);
}

/** A window above the page: Escape, its button or a click beside it closes it. */
export function dialog(title, ...content) {
  const made = element(
    "dialog",
    {
      lang: texts.lang,
      "aria-label": title,
      click: (event) => isBeside(event, made) && made.close(),
      // The keys of the page below do not count.
      keydown: (event) => event.stopPropagation(),
    },
    element("h2", {}, title),
    ...content,
    element("p", {}, button(texts.close, () => made.close())),
  );
  made.addEventListener("close", () => made.remove());
  document.body.append(made);
  made.showModal();
  return made;
}

/** How to scroll to a place: at once on a device whose settings ask for less motion. */
export const scrolling = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "auto");
