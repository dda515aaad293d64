// The shelf: what this device remembers of the site, as one value of localStorage. Nothing of it leaves the device.
import { shelf as isKept } from "./site.js";

const KEY = "flatpanel";
const VERSION = 1;
const TYPES = {
  settings: { theme: "string", keys: "boolean", oldestFirst: "boolean", notice: "boolean" },
  series: {
    title: "string",
    cover: "string",
    // The chapter that was read last, its page, whether that was the last one, and when.
    chapter: "string",
    heading: "string",
    page: "number",
    finished: "boolean",
    next: "string",
    at: "number",
    followed: "boolean",
    layout: "string",
    fit: "string",
    shifted: "boolean",
  },
};

// `visited` is when this visit began, `since` when the one before it did, `seen` when a list was opened; 0 if never.
const empty = () => ({ version: VERSION, settings: {}, series: {}, visited: 0, since: 0, seen: 0 });

/** The fields of a value that have the types of a table. */
function known(value, types) {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name, field]) => typeof field === types[name]));
}

/** Whether a path leads into this site: the file of a shelf can come from elsewhere. URLs lose tabs and line breaks. */
const isPath = (text) => /^\/(?![/\\])[^\t\n\r]*$/.test(text);

/** The parts of a value that a shelf can have; null for a value of another version. */
export function checked(value) {
  if (value?.version !== VERSION) return null;
  const shelf = { ...empty(), settings: known(value.settings, TYPES.settings) };
  Object.assign(shelf, known(value, { visited: "number", since: "number", seen: "number" }));
  for (const [path, entry] of Object.entries(value.series ?? {})) {
    if (!isPath(path)) continue;
    const series = known(entry, TYPES.series);
    for (const name of ["chapter", "next"]) if (series[name] && !isPath(series[name])) delete series[name];
    if (series.cover && !/^(?:https?:\/)?\//.test(series.cover)) delete series.cover;
    // Below the path of the series.
    if (Array.isArray(entry.read)) series.read = entry.read.filter((chapter) => typeof chapter === "string");
    shelf.series[path] = series;
  }
  return shelf;
}

/** The shelf as it is now: another tab may have changed it. */
export function read() {
  try {
    return (isKept && checked(JSON.parse(localStorage.getItem(KEY)))) || empty();
  } catch {
    return empty();
  }
}

export function write(shelf) {
  try {
    if (isKept) localStorage.setItem(KEY, JSON.stringify(shelf));
  } catch {
    // A private window, or no space: reading goes on without it.
  }
}

export function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing was stored.
  }
}

export function change(edit) {
  const shelf = read();
  edit(shelf);
  write(shelf);
}

/** What is remembered of a series; nothing of one that was never read. */
export const ofSeries = (path) => read().series[path] ?? {};

export function changeSeries(path, edit) {
  change((shelf) => edit((shelf.series[path] ??= {})));
}

export function changeSetting(name, value) {
  change(({ settings }) => {
    if (value === undefined) delete settings[name];
    else settings[name] = value;
  });
}

// A visit ends so many milliseconds after the last list or page that was read.
const VISIT = 30 * 60 * 1000;

/** When the last visit began; 0 on the first one. */
export function lastVisit() {
  const now = Date.now();
  change((shelf) => {
    const last = Math.max(shelf.visited, shelf.seen, ...Object.values(shelf.series).map(({ at }) => at ?? 0));
    if (now - last > VISIT) Object.assign(shelf, { since: shelf.visited, visited: now });
    shelf.seen = now;
  });
  return read().since;
}
