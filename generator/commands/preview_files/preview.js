// On the pages of `serve --preview`: reload after each rebuild, show the problems of the catalog, mark missing images.
"use strict";
(() => {
    const banner = document.getElementById("preview-banner");
    const panel = document.getElementById("preview-problems");
    // The release of this page: that of the script element, or that of the response, or else that of the first status.
    const [navigation] = performance.getEntriesByType("navigation");
    const timing = navigation?.serverTiming?.find((entry) => entry.name === "release");
    let shown = document.currentScript.dataset.release ?? timing?.description;
    let problems = "";

    const place = (problem) => (problem.file ? `${problem.file}:${problem.line}:${problem.column}:` : "");

    function item(problem) {
        const element = document.createElement("li");
        const start = document.createElement("b");
        start.textContent = place(problem);
        element.append(start, " ", problem.field ? `${problem.field}: ` : "", problem.message);
        return element;
    }

    function show(state) {
        shown ??= state.release;
        if (state.release !== shown) {
            // The browser keeps the scroll position.
            location.reload();
            return;
        }
        banner.classList.toggle("is-building", state.building);
        const text = JSON.stringify(state.problems);
        if (text !== problems && !state.building) {
            problems = text;
            panel.querySelector("ul").replaceChildren(...state.problems.map(item));
            panel.hidden = state.problems.length === 0;
        }
    }

    async function poll() {
        try {
            show(await (await fetch("/preview/state.json")).json());
        } catch {
            // The server was stopped, or nginx loads a new release.
        }
        setTimeout(poll, 1000);
    }

    // The server sends a picture for a missing file of its own; an image of another host may fail in the browser only.
    function mark(image) {
        image.classList.add("preview-missing");
        image.alt = `missing image: ${image.src.split("/").pop()}`;
    }

    document.addEventListener("error", ({ target }) => target instanceof HTMLImageElement && mark(target), true);
    [...document.images].filter((image) => image.src && image.complete && !image.naturalWidth).forEach(mark);
    poll();
})();
