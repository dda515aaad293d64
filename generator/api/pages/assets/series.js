// The page of a series: where reading goes on, which chapters were read, their order, and a way to a number.
import { button, checkbox, element, scrolling } from "./dom.js";
import { isRead, mark, pageUrl, resume } from "./progress.js";
import { shelf, texts } from "./site.js";
import { change, changeSeries, changeSetting, lastVisit, ofSeries, read } from "./store.js";

const article = document.querySelector("[data-series]");
const { series } = article.dataset;
const described = {
  title: document.querySelector("h1").textContent,
  cover: document.querySelector(".cover").getAttribute("src"),
};
const newestFirst = [...document.querySelectorAll(".chapters li > a")];
const pathOf = (link) => link.getAttribute("href").replace(/#.*/, "");
const paths = newestFirst.map(pathOf);
const list = document.querySelector(".chapters");

/**
 * Remember the series as it is now: its title and its cover, and chapters that entered a volume or left it. Their paths
 * changed, and their numbers did not.
 */
function update() {
  const withoutVolume = (path) => path.slice(series.length).replace(/^\d+\//, "");
  const byNumber = new Map();
  // A number that several volumes have does not tell which one it was.
  for (const path of paths) byNumber.set(withoutVolume(path), byNumber.has(withoutVolume(path)) ? undefined : path);
  const present = (path) => {
    const other = paths.includes(path) ? undefined : byNumber.get(withoutVolume(path));
    return other && [path, other].some((either) => either.startsWith(`${series}0/`)) ? other : path;
  };
  change(({ series: all }) => {
    const { [series]: entry } = all;
    if (!entry) return;
    Object.assign(entry, described);
    for (const name of ["chapter", "next"]) if (entry[name]) entry[name] = present(entry[name]);
    if (entry.read) entry.read = [...new Set(entry.read.map((path) => present(series + path).slice(series.length)))];
  });
}

function offerToContinue() {
  const link = document.getElementById("continue");
  if (!link) return;
  const url = resume(paths, ofSeries(series));
  link.hidden = !url;
  if (!url) return;
  link.href = url;
  link.title = newestFirst[paths.indexOf(url.replace(/#.*/, ""))].textContent;
}

/** The row of the chapter that is being read leads to its page. */
function keepPlace() {
  const { chapter, page, finished } = ofSeries(series);
  for (const link of newestFirst) link.href = pathOf(link) === chapter && !finished ? pageUrl(chapter, page) : pathOf(link);
}

/** Mark a row, for eyes and for screen readers. */
function setMark(row, name, text, isSet) {
  row.classList.toggle(name, isSet);
  row.querySelector(`.mark-${name}`)?.remove();
  if (isSet) row.append(element("span", { class: `unseen mark-${name}`, lang: texts.lang }, text));
}

function showMarks() {
  const entry = ofSeries(series);
  const since = lastVisit();
  for (const link of newestFirst) {
    const row = link.parentElement;
    const wasRead = isRead(series, entry, pathOf(link));
    const published = Date.parse(row.querySelector("time")?.dateTime);
    setMark(row, "read", texts.was_read, wasRead);
    setMark(row, "new", texts.new, !wasRead && since > 0 && published > since);
  }
}

// The order in the settings when it was last read. Without storage there is none, and that of the page stays.
let setting;

/** In the lists of all volumes, from the oldest chapter or from the newest one. */
function setOrder(oldestFirst) {
  const parts = [...list.querySelectorAll("details, ol")].filter((part) => part.parentElement === list);
  const place = parts.at(-1)?.nextSibling;
  const isReversed = list.dataset.order === "oldest";
  if (isReversed === oldestFirst) return;
  list.dataset.order = oldestFirst ? "oldest" : "newest";
  for (const part of parts.reverse()) list.insertBefore(part, place);
  for (const rows of list.querySelectorAll("ol")) rows.append(...[...rows.children].reverse());
}

/** A button in each row marks it and all older chapters as read, or it and all newer ones as not read. */
function setMarking(isOn) {
  for (const old of list.querySelectorAll(".mark")) old.remove();
  if (!isOn) return;
  newestFirst.forEach((link, place) => {
    const click = () => {
      const wasRead = link.parentElement.classList.contains("read");
      const chapters = wasRead ? newestFirst.slice(0, place + 1) : newestFirst.slice(place);
      mark(series, chapters.map(pathOf), !wasRead, described);
      showMarks();
      setMarking(true);
      list.querySelectorAll(".mark")[[...list.querySelectorAll("li > a")].indexOf(link)].focus();
    };
    const text = link.parentElement.classList.contains("read") ? texts.mark_unread : texts.mark_read;
    link.after(button(text, click, { class: "mark", lang: texts.lang, "aria-label": `${text}: ${link.textContent}` }));
  });
}

let jumped;

/** Lead to the chapter with a number, or to the next one if several volumes have it; false if there is none. */
function jump(number) {
  const links = newestFirst.filter((item) => Number(pathOf(item).split("/").at(-2)) === number);
  const link = links[(links.indexOf(jumped) + 1) % links.length];
  if (!link) return false;
  jumped = link;
  const volume = link.closest("details");
  if (volume) volume.open = true;
  link.focus({ preventScroll: true });
  link.scrollIntoView({ behavior: scrolling(), block: "center" });
  return true;
}

function jumpForm() {
  const input = () => number.setCustomValidity("");
  const number = element("input", { name: "number", inputmode: "decimal", size: 5, required: true, input });
  const submit = (event) => {
    event.preventDefault();
    if (jump(Number.parseFloat(number.value.replace(",", ".")))) return;
    number.setCustomValidity(texts.no_results);
    number.reportValidity();
  };
  return element(
    "form",
    { submit },
    element("label", {}, `${texts.chapter_number} `, number),
    " ",
    element("button", { type: "submit" }, texts.go),
  );
}

function follow(isFollowed) {
  changeSeries(series, (entry) => Object.assign(entry, { ...described, followed: isFollowed }));
}

function addTools() {
  const tools = document.getElementById("list-tools");
  // A theme may have a template from before there were tools.
  if (!tools) return;
  const order = (oldestFirst) => {
    setOrder(oldestFirst);
    changeSetting("oldestFirst", oldestFirst || undefined);
    setting = read().settings.oldestFirst;
  };
  tools.append(jumpForm(), checkbox("oldest", texts.oldest_first, false, order));
  if (shelf) tools.append(checkbox("follow", texts.follow, false, follow), checkbox("marking", texts.marking, false, setMarking));
}

/** Show what is remembered: on the way back, another page may have changed it. */
function showTools() {
  const { oldestFirst } = read().settings;
  if (oldestFirst !== setting) setOrder(oldestFirst ?? false);
  setting = oldestFirst;
  const states = { oldest: list.dataset.order === "oldest", follow: ofSeries(series).followed ?? false };
  for (const box of document.querySelectorAll("#list-tools input")) if (box.name in states) box.checked = states[box.name];
  if (list.querySelector(".mark")) setMarking(true);
}

function show() {
  update();
  offerToContinue();
  keepPlace();
  showMarks();
  showTools();
}

// What is remembered has the old slugs of the series: it is moved before it is shown.
if (article.dataset.formerly) await import("./former.js").then(({ move }) => move(article.dataset), () => {});
if (newestFirst.length) {
  addTools();
  show();
  // The browser shows the page of before on the way back.
  addEventListener("pageshow", ({ persisted }) => persisted && show());
}
