// The progress of each series: the page that was read last, and the chapters that were read.
import { changeSeries } from "./store.js";

/** The URL of a page, with a fragment: not every host has a rule for a path that ends in a number. */
export const pageUrl = (chapter, page) => (page > 1 ? `${chapter}#page-${page}` : chapter);

// Chapters are stored as paths below that of their series.
const below = (series, chapter) => chapter.slice(series.length);

/** Note the page that is read. */
export function arrive(series, { chapter, heading, title, cover, next }, page, finished) {
  changeSeries(series, (entry) => {
    Object.assign(entry, { chapter, heading, title, cover, next, page, finished, at: Date.now() });
    if (finished) entry.read = [...new Set([...(entry.read ?? []), below(series, chapter)])];
  });
}

export function isRead(series, entry, chapter) {
  return entry.read?.includes(below(series, chapter)) ?? false;
}

/** Mark chapters as read, or as not read. */
export function mark(series, chapters, asRead, { title, cover }) {
  const paths = chapters.map((chapter) => below(series, chapter));
  changeSeries(series, (entry) => {
    const others = (entry.read ?? []).filter((path) => !paths.includes(path));
    Object.assign(entry, { title, cover, read: asRead ? [...others, ...paths] : others });
  });
}

// Of the chapters that share a number, one has the path of the number, and the others are versions below it.
const ofNumber = (path) => path.replace(/version-\d+\/$/, "");

/**
 * Where reading goes on, of paths from the newest to the oldest: the page that was read last, or after the last page of
 * a chapter the next one. Null if the chapter is not in the list.
 */
export function resume(newestFirst, entry) {
  const place = newestFirst.indexOf(entry.chapter);
  if (place < 0) return null;
  const next = newestFirst.slice(0, place).findLast((path) => path === ofNumber(path) && path !== ofNumber(entry.chapter));
  return entry.finished && next ? next : pageUrl(entry.chapter, entry.page);
}
