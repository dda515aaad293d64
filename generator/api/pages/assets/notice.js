// The notice over the pages of an explicit series. Its link closes it without a script, too; this remembers it.
import { changeSetting } from "./store.js";

document.querySelector("#notice a").addEventListener("click", (event) => {
  event.preventDefault();
  document.documentElement.dataset.notice = "closed";
  changeSetting("notice", false);
  document.getElementById("content").focus({ preventScroll: true });
  document.dispatchEvent(new Event("noticeclosed"));
});
