// The page of the shelf: all that this device remembers, and ways to save it, to bring it back and to delete it.
import { card, shelved } from "./cards.js";
import { button, checkbox, element, select } from "./dom.js";
import { joined } from "./former.js";
import { KEPT, about, size } from "./offline.js";
import { texts } from "./site.js";
import { change, changeSetting, checked, forget, read, write } from "./store.js";

const main = document.getElementById("my-shelf");
const PROGRESS = ["chapter", "heading", "page", "finished", "next", "at"];
const message = element("p", { class: "note", role: "status" });

function section(title, ...content) {
  return element("section", {}, element("h2", { tabindex: -1 }, title), ...content);
}

/** Delete fields of a series, and the series if nothing but its description is left. */
function drop(series, path, names) {
  for (const name of names) delete series[path][name];
  const { title, cover, ...others } = series[path];
  if (!Object.values(others).some((value) => value.length ?? value)) delete series[path];
}

/** Cards of series; their button deletes the fields of `names`. */
function grid(entries, names) {
  if (!entries.length) return element("p", { class: "note" }, texts.nothing_here);
  const cards = entries.map(([path, entry]) => {
    const remove = button(texts.remove, () => {
      change(({ series }) => drop(series, path, names));
      show();
      main.querySelector("h2").focus();
    });
    remove.setAttribute("aria-label", `${texts.remove}: ${entry.title ?? path}`);
    return card(path, entry, element("p", {}, remove));
  });
  return element("ul", { class: "grid" }, ...cards);
}

/** The page has the colours that are chosen now: a file can bring them, too. A template may lack theme.js. */
const showTheme = () => globalThis.showColours?.();

function settings() {
  const { theme, keys, notice } = read().settings;
  const themes = ["system", "light", "dark"].map((name) => [name, texts[`theme_${name}`]]);
  const setTheme = (name) => {
    changeSetting("theme", name === "system" ? undefined : name);
    showTheme();
  };
  const showNotice = (isOn) => changeSetting("notice", isOn ? undefined : false);
  return section(
    texts.settings,
    element("p", {}, select("theme", texts.theme, themes, theme ?? "system", setTheme)),
    element("p", {}, checkbox("keys", texts.single_keys, keys ?? true, (isOn) => changeSetting("keys", isOn ? undefined : false))),
    // Only for readers who have met one.
    notice === false ? element("p", {}, checkbox("notice", texts.notice_again, false, showNotice)) : "",
  );
}

function save() {
  const url = URL.createObjectURL(new Blob([JSON.stringify(read(), null, 1)], { type: "application/json" }));
  element("a", { href: url, download: "shelf.json" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function bringBack(file) {
  let saved = null;
  try {
    saved = checked(JSON.parse(await file.text()));
  } catch {
    // No JSON: as a file of another program.
  }
  if (saved) {
    const shelf = read();
    for (const [path, entry] of Object.entries(saved.series)) shelf.series[path] = joined(shelf.series[path] ?? {}, entry);
    write({ ...shelf, settings: { ...shelf.settings, ...saved.settings } });
    show();
    document.getElementById("import").focus();
  }
  message.textContent = saved ? texts.imported : texts.not_a_shelf;
}

function data() {
  const file = element("input", { type: "file", id: "import", accept: "application/json", change: () => bringBack(file.files[0]) });
  const deleteAll = () => {
    if (!confirm(texts.forget_all)) return;
    forget();
    show();
    document.getElementById("forget").focus();
  };
  return section(
    texts.my_data,
    element("p", {}, texts.on_this_device),
    element("p", { class: "actions" }, button(texts.export, save, { id: "export" }), button(texts.forget, deleteAll, { id: "forget" })),
    element("p", {}, element("label", { for: "import" }, `${texts.import} `), file),
  );
}

/** All kept chapters. */
async function keptList() {
  const nothing = () => element("p", { class: "note" }, texts.nothing_here);
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
      if (!list.children.length) list.replaceWith(nothing());
      kept.querySelector("h2").focus();
    };
    const attributes = { "aria-label": `${texts.remove}: ${label}` };
    item.append(known ? ` ${size(known.bytes)} ` : " ", button(texts.remove, remove, attributes));
    list.append(item);
  }
  return list.children.length ? list : nothing();
}

// Before the rest is shown, which it would move.
// Settings of the browser can refuse storage.
const keptSection = async () => section(texts.kept_chapters, await keptList().catch(() => ""));
let kept = await keptSection();

function show() {
  showTheme();
  const entries = shelved(read());
  main.replaceChildren(
    section(texts.continue_reading, grid(entries.filter(([, entry]) => entry.chapter), PROGRESS)),
    section(texts.followed, grid(entries.filter(([, entry]) => entry.followed), ["followed"])),
    kept,
    settings(),
    data(),
    message,
  );
}

show();
// The browser shows the page of before on the way back.
addEventListener("pageshow", async ({ persisted }) => {
  if (!persisted) return;
  show();
  const present = await keptSection();
  kept.replaceWith(present);
  kept = present;
});
