// Search: the list of /api/v2 with its filters, or the index of titles on a host without filters.
const form = document.getElementById("search");
const results = document.getElementById("results");
const message = document.getElementById("message");
const more = document.getElementById("more");
const LIMIT = 48;
const query = new URLSearchParams(location.search);
const title = (query.get("title") ?? "").trim();
const categories = query.getAll("categories").filter(Boolean);
const status = query.get("status") ?? "";

async function load(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.json();
}

/** A page of the list; null if the host does not read parameters. */
async function filtered(page) {
  const parameters = new URLSearchParams({ page, limit: LIMIT });
  if (title) parameters.set("title", title);
  if (status) parameters.set("status", status);
  if (categories.length) parameters.set("categories", categories.join(","));
  const [probe, answer] = await Promise.all([
    page === 1 ? load("/api/v2/series?limit=1") : null,
    load(`/api/v2/series?${parameters}`),
  ]);
  return probe && probe.results.length > 1 ? null : answer;
}

async function titles() {
  const text = title.toLowerCase();
  const { results: all } = await load(results.dataset.titles);
  const matching = all.filter((item) => [item.title, ...item.aliases].some((name) => name.toLowerCase().includes(text)));
  return { results: matching, last: true };
}

function card({ url, title: name, cover }) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  const image = document.createElement("img");
  const text = document.createElement("bdi");
  item.className = "card";
  link.href = new URL(url, location.origin).pathname;
  image.width = 240;
  image.height = 360;
  image.alt = "";
  image.loading = "lazy";
  const { base } = results.dataset;
  image.src = cover.startsWith(`${base}/`) && !cover.startsWith(`${base}//`) ? cover.slice(base.length) : cover;
  text.textContent = name;
  link.append(image, text);
  item.append(link);
  return item;
}

async function show(page) {
  message.textContent = message.dataset.searching;
  more.hidden = true;
  try {
    let answer = await filtered(page).catch(() => null);
    const complete = answer !== null;
    answer ??= await titles();
    results.append(...answer.results.map(card));
    message.textContent = results.children.length ? "" : message.dataset.none;
    if (!complete && (status || categories.length)) message.textContent = message.dataset.titleOnly;
    more.hidden = answer.last;
    more.onclick = () => show(page + 1);
  } catch {
    message.textContent = message.dataset.failed;
  }
}

for (const field of form.elements) {
  if (field.name === "categories") field.checked = categories.includes(field.value);
  else if (field.name) field.value = query.get(field.name) ?? "";
}
if (title || status || categories.length) show(1);
