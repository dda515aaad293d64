// For templates of themes that name this script only: it loads the script of the page.
import(document.getElementById("strip") ? "/assets/chapter.js" : "/assets/series.js");
