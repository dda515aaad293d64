// What is remembered of a series under the slugs that it had before. Only pages of such series load this.
import { change } from "./store.js";

/** Both of two entries of a series: what was read in one of them, and the later progress. */
export function joined(mine, theirs) {
  const [earlier, later] = (theirs.at ?? 0) > (mine.at ?? 0) ? [mine, theirs] : [theirs, mine];
  return { ...earlier, ...later, read: [...new Set([...(mine.read ?? []), ...(theirs.read ?? [])])] };
}

/** Move it to the path that the series has now; `formerly` has the old slugs. */
export function move({ series: path, formerly }) {
  change(({ series }) => {
    for (const slug of formerly.split(" ")) {
      const before = path.replace(/[^/]+\/$/, `${slug}/`);
      const { [before]: entry } = series;
      if (!entry) continue;
      for (const name of ["chapter", "next"]) if (entry[name]) entry[name] = entry[name].replace(before, path);
      series[path] = joined(series[path] ?? {}, entry);
      delete series[before];
    }
  });
}
