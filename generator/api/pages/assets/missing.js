// The page of errors: the page of a series finds chapters again whose paths have changed, unless it is gone itself.
import { read } from "./store.js";

const { series } = read();
const [path] = Object.entries(series).find(([, { chapter, next }]) => [chapter, next].includes(location.pathname)) ?? [];
if (path && !series[location.pathname]) location.replace(path);
