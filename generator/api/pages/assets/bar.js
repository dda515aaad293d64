// The bar of a chapter, which hides while reading, with the settings and the list of keys.
import { button, checkbox, dialog, element, select } from "./dom.js";
import { FITS, LAYOUTS } from "./layout.js";
import { texts } from "./site.js";
import { changeSetting, read } from "./store.js";

const bar = document.getElementById("bar");

/** Hide the bar, or show it. A focus in it shows it, too. */
export function showBar(isShown) {
  bar.classList.toggle("away", !isShown);
}

/** The bar follows the reader: away on the way down, back on the way up and at the end of the page. */
export function hideWhileReading() {
  let last = scrollY;
  addEventListener(
    "scroll",
    () => {
      const way = scrollY - last;
      if (Math.abs(way) < 8) return;
      last = scrollY;
      showBar(way < 0 || scrollY + innerHeight > document.documentElement.scrollHeight - 40);
    },
    { passive: true },
  );
}

export function toggleFullscreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen?.();
}

export const hasSingleKeys = () => read().settings.keys ?? true;

/** Fill the tools of the bar. `choose` gets what the reader changes; the function returns how to write the position. */
export function fillBar(pages, choose, more) {
  const position = element("span", { id: "position" });
  const settings = button(texts.reading, () => openSettings(pages, choose, more), { id: "settings", "aria-haspopup": "dialog" });
  const tools = document.getElementById("tools");
  tools.replaceChildren(position, settings);
  tools.lang = texts.lang;
  tools.hidden = false;
  return (text) => {
    position.textContent = text;
  };
}

function openSettings(pages, choose, more) {
  const { choice } = pages;
  const count = pages.images.length;
  const number = element("output", {}, `${pages.current + 1} / ${count}`);
  const slider = element("input", {
    type: "range",
    id: "jump",
    min: 1,
    max: count,
    value: pages.current + 1,
    dir: pages.strip.dataset.direction,
    input: () => {
      number.value = `${slider.value} / ${count}`;
      pages.show(slider.value - 1);
    },
  });
  const shift = checkbox("shifted", texts.shift_pairs, choice.shifted, (shifted) => choose({ shifted }));
  shift.hidden = choice.layout !== "double";
  const setLayout = (layout) => {
    choose({ layout });
    shift.hidden = layout !== "double";
    // Each layout has a usual size.
    sizes.querySelector("select").value = pages.fit;
  };
  const layouts = LAYOUTS.map((name) => [name, texts[`layout_${name}`]]);
  const fits = FITS.map((name) => [name, texts[`fit_${name}`]]);
  const sizes = select("fit", texts.fit, fits, pages.fit, (fit) => choose({ fit }));
  const setKeys = (isOn) => changeSetting("keys", isOn ? undefined : false);
  const rows = [
    [element("label", {}, `${texts.page_name} `, slider), " ", number],
    [select("layout", texts.layout, layouts, choice.layout, setLayout)],
    [sizes],
    [shift],
    [checkbox("keys", texts.single_keys, hasSingleKeys(), setKeys)],
  ];
  dialog(
    texts.reading,
    ...rows.map((row) => element("p", {}, ...row)),
    ...more(),
    element(
      "p",
      { class: "actions" },
      document.fullscreenEnabled ? button(texts.fullscreen, toggleFullscreen) : "",
      button(texts.keys, (event) => {
        event.target.closest("dialog").close();
        openKeys();
      }),
    ),
  );
}

export function openKeys() {
  const rows = [
    ["← →", texts.key_arrows],
    [texts.space, texts.key_space],
    [`${texts.home_key} ${texts.end_key}`, texts.key_ends],
    ["f", texts.key_fit],
    ["o", texts.key_shift],
    ["Shift F", texts.fullscreen],
    ["?", texts.keys],
  ];
  dialog(
    texts.keys,
    element("dl", {}, ...rows.flatMap(([keys, text]) => [
      element("dt", {}, ...keys.split(" ").flatMap((key) => [element("kbd", {}, key), " "])),
      element("dd", {}, text),
    ])),
    element("p", {}, texts.key_touch),
  );
}
