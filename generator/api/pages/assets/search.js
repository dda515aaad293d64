// Search, and the lists of series in another order, from an index of all series: every host has it.
import { element, fill } from "./dom.js";
import { texts } from "./site.js";

const form = document.getElementById("search");
const results = document.getElementById("results");
const message = document.getElementById("message");
const more = document.getElementById("more");
const LIMIT = 48;
const STATUSES = ["ongoing", "hiatus", "completed", "canceled"];
// The index is in the order of titles.
const ORDERS = {
  title: () => 0,
  latest: (one, other) => (other.latest ?? 0) - (one.latest ?? 0),
  status: (one, other) => STATUSES.indexOf(one.status) - STATUSES.indexOf(other.status),
};

let index = null;

async function load() {
  const response = await fetch(results.dataset.titles);
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return (await response.json()).results;
}

/** A text without marks and capitals: one who types "ubermut" means "Übermut". */
const fold = (text) => text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase();

/** The series that the form selects; title finds the names of authors and artists, too. */
function selected(all) {
  const { title, status, kind, sort, categories } = values();
  const words = fold(title).split(/\s+/).filter(Boolean);
  const found = all.filter((item) => {
    const names = [item.title, ...(item.aliases ?? []), ...(item.people ?? [])].map(fold);
    return (
      words.every((word) => names.some((name) => name.includes(word))) &&
      (!status || item.status === status) &&
      (!kind || item.kind === kind) &&
      categories.every((category) => item.categories?.includes(category))
    );
  });
  return found.sort(ORDERS[sort] ?? ORDERS.title);
}

function values() {
  const fields = new FormData(form);
  const text = (name) => (fields.get(name) ?? "").trim();
  return {
    title: text("title"),
    status: text("status"),
    kind: text("kind"),
    sort: text("sort"),
    categories: fields.getAll("categories"),
  };
}

function card({ url, title, cover }) {
  return element(
    "li",
    { class: "card" },
    element(
      "a",
      { href: url },
      element("img", { src: cover, width: 240, height: 360, alt: "", loading: "lazy" }),
      element("bdi", {}, title),
    ),
  );
}

/** Load the index once; false, with a message, if that fails. */
async function isLoaded() {
  message.textContent = texts.searching;
  try {
    index ??= await load();
    message.textContent = "";
    return true;
  } catch {
    message.textContent = texts.search_failed;
    return false;
  }
}

async function show() {
  if (!(await isLoaded())) return;
  const found = selected(index);
  const showMore = () => {
    const shown = results.children.length;
    results.append(...found.slice(shown, shown + LIMIT).map(card));
    more.hidden = results.children.length >= found.length;
  };
  results.replaceChildren();
  showMore();
  more.onclick = showMore;
  // The list of the page, if it has one, is in place of this one.
  for (const part of document.querySelectorAll(".grid:not(#results), .pager")) part.hidden = true;
  const count = found.length === 1 ? texts.series_one : fill(texts.series_many, { count: found.length });
  message.textContent = found.length ? count : texts.no_results;
}

/** What the form selects, in the address: a link to it shows the same. */
function note() {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
}

const asked = new URLSearchParams(location.search);
for (const field of form.elements) {
  if (field.type === "checkbox") field.checked = asked.getAll(field.name).includes(field.value);
  else if (field.name && asked.has(field.name)) field.value = asked.get(field.name);
  // A value that a list does not have leaves it empty.
  if (field.selectedIndex === -1) field.selectedIndex = 0;
}
form.addEventListener("change", () => {
  note();
  show();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  note();
  show();
});
document.getElementById("random").addEventListener("click", async () => {
  if ((await isLoaded()) && index.length) location.assign(index[Math.floor(Math.random() * index.length)].url);
});
const { sort, ...filters } = values();
if (sort !== "title" || Object.values(filters).some((value) => value.length)) {
  // What was chosen is seen beside what it leaves.
  form.closest("details")?.setAttribute("open", "");
  show();
}
