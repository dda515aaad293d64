// The page of errors: the page of a series finds chapters again whose paths have changed, unless it is gone itself.
import { read } from "./store.js";

const all = Object.entries(read().series);
const [path] = all.find(([, { chapter, next }]) => [chapter, next].includes(location.pathname)) ?? [];
if (path) location.replace(path);
