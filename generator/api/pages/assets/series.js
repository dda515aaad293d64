// The page of a series: a link to the page where reading goes on.
import { resume } from "./progress.js";
import { ofSeries } from "./store.js";

const { series } = document.querySelector("[data-series]")?.dataset ?? {};
const links = [...document.querySelectorAll(".chapters li > a")];

function offerToContinue(link) {
  const newestFirst = links.map((item) => item.getAttribute("href"));
  const url = resume(newestFirst, ofSeries(series));
  if (!url) return;
  link.href = url;
  link.title = links[newestFirst.indexOf(url.replace(/#.*/, ""))].textContent;
  link.hidden = false;
}

const link = document.getElementById("continue");
if (link) offerToContinue(link);
