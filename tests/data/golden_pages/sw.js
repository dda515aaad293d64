const FILES = ["/","/shelf/","/manifest.webmanifest","/assets/style.css","/assets/reader.css","/assets/notice.css","/assets/site.js","/assets/icon.svg","/assets/bar.js","/assets/cards.js","/assets/chapter.js","/assets/dom.js","/assets/former.js","/assets/home.js","/assets/images.js","/assets/layout.js","/assets/missing.js","/assets/notice.js","/assets/progress.js","/assets/reader.js","/assets/search.js","/assets/series.js","/assets/shelf.js","/assets/offline.js","/assets/store.js","/assets/theme.js","/assets/turning.js"];
addEventListener("fetch", (event) => {
  if (new URL(event.request.url).pathname.endsWith(".cbz")) event.stopImmediatePropagation();
});
// The service worker: pages that were visited, and chapters that the reader keeps, without a network. FILES has what
// each page needs. With a network, every answer but kept images comes from there, so that an update is seen at once.
const PREFIX = "flatpanel:";
const [NEEDED, PAGES, IMAGES] = ["files", "pages", "images"].map((name) => PREFIX + name);
// Each kept chapter has a cache of its own, with this entry beside its page and its images.
const KEPT = `${PREFIX}kept:`;
const ABOUT = "/kept.json";
// When kept chapters were checked, and the milliseconds until that is done again.
const [CHECKED, VISIT] = ["/checked.txt", 30 * 60 * 1000];
const MOST = { [NEEDED]: 100, [PAGES]: 100, [IMAGES]: 150 };
const GONE = [404, 410, 451]; // of what is restricted, licensed or removed; a proxy or CDN refuses with 401 or 403
// Each page of this site starts this worker; a notice of a proxy or CDN and the page of a login do not.
const OURS = "data-worker=";

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(storeNeeded());
});

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

const keptNames = async () => (await caches.keys()).filter((name) => name.startsWith(KEPT));

// What kept chapters have. A look into the cache of each, for every image, would take long.
let keptUrls = new Set();

async function findKeptUrls() {
  const kept = await Promise.all((await keptNames()).map((name) => caches.open(name)));
  keptUrls = new Set((await Promise.all(kept.map((cache) => cache.keys()))).flat().map(({ url }) => url));
}

const started = findKeptUrls();

/** Whether a response may stay on the device: it is complete and public, and no page of another program. */
async function mayStay(response) {
  const age = response.headers.get("Cache-Control") ?? "";
  if (response.status !== 200 || response.type === "opaque" || /private|no-store/.test(age)) return false;
  const isPage = /^text\/html/i.test(response.headers.get("Content-Type"));
  return !isPage || (await response.clone().text()).includes(OURS);
}

/** Whether a request can have an API key, or is for a part of a body: such answers are never kept. */
function isPlain(request, url) {
  const hasKey = request.headers.has("X-API-Key") || url.searchParams.has("api_key");
  return request.method === "GET" && !hasKey && !request.headers.has("Range") && !url.pathname.startsWith("/api/");
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) {
    if (keptUrls.has(request.url)) event.respondWith(fromDevice(request).then((found) => found ?? fetch(request)));
  } else if (isPlain(request, url)) event.respondWith(answer(event, url));
});

const matching = ({ mode }) => ({ ignoreVary: true, ignoreSearch: mode === "navigate" });

async function fromKept(request) {
  for (const cacheName of await keptNames()) {
    const found = await caches.match(request, { ...matching(request), cacheName });
    if (found) return found;
  }
}

/** What is kept wins: the page of a kept chapter names only images that are kept with it. */
const fromDevice = async (request) => (await fromKept(request)) ?? caches.match(request, matching(request));

async function answer(event, url) {
  const { request } = event;
  const isImage = request.destination === "image";
  await started;
  // Kept images first: they are large.
  const kept = isImage && keptUrls.has(request.url) && (await fromKept(request));
  if (kept) return kept;
  try {
    const response = await fetch(request);
    const name = isImage ? IMAGES : FILES.includes(url.pathname) ? NEEDED : PAGES;
    const isGone = GONE.includes(response.status);
    event.waitUntil(isGone ? caches.open(name).then((cache) => cache.delete(keyOf(url))) : store(name, url, response.clone()));
    return response;
  } catch (error) {
    const found = await fromDevice(request);
    if (found || request.mode !== "navigate") return found ?? Response.error();
    // A page that was never visited: the shelf says what is there. Links from elsewhere may lack the last slash.
    return Response.redirect(url.pathname.endsWith("/") ? "/shelf/" : `${keyOf(url)}/`);
  }
}

const keyOf = (url) => url.origin + url.pathname;

/** Store a response that may stay, unless it is of another address: browsers refuse that for a page. */
async function store(name, url, response) {
  if (response.redirected || !(await mayStay(response))) return;
  const cache = await caches.open(name);
  await cache.put(keyOf(url), response);
  const keys = await cache.keys();
  await Promise.all(keys.slice(0, Math.max(keys.length - MOST[name], 0)).map((key) => cache.delete(key)));
}

/** Store the files that pages need, or none. Without a script or a style of this site, there is no worker yet. */
async function storeNeeded() {
  const responses = await Promise.all(FILES.map((path) => fetch(path)));
  for (const [index, response] of responses.entries()) {
    const path = FILES[index];
    // A theme may have a first page that is of no use here.
    const isNeeded = !path.endsWith("/");
    if (isNeeded && (response.redirected || !(await mayStay(response)))) throw new Error(`${path}: not of this site`);
  }
  await Promise.all(responses.map((response, index) => store(NEEDED, new URL(FILES[index], location), response)));
}

// What pages ask for
const ACTIONS = { keep, check, visited, test };

addEventListener("message", (event) => {
  const { action, ...message } = event.data;
  const report = (value) => event.ports[0]?.postMessage(value);
  if (Object.hasOwn(ACTIONS, action)) event.waitUntil(ACTIONS[action](message, report));
});

/** Store what a page has loaded before this worker was there: it comes from the cache of the browser. */
async function visited({ urls }) {
  for (const [index, text] of urls.entries()) {
    const url = new URL(text);
    try {
      await store(index ? IMAGES : PAGES, url, await fetch(url));
    } catch {
      return;
    }
  }
}

/** Whether a script may read an image of another host. */
async function test({ url }, report) {
  report(await fetch(url).then(mayStay, () => false));
}
// The second part of the service worker: chapters that the reader keeps. Each has a cache of its own.

// Where the progress of each chapter goes that is being kept.
const reports = new Map();

/** Keep a chapter. Its page asks again until it is kept: a browser may end this worker, and the next one goes on. */
async function keep({ page, title, heading }, report) {
  const isBegun = reports.has(page);
  reports.set(page, report);
  if (isBegun) return;
  let answer = { isKept: true };
  try {
    const response = await fetch(page);
    if (!(await isOurs(response))) throw new Error(`${page}: ${response.status}`);
    await copy(page, response, { title, heading, bytes: 0 }, (progress) => reports.get(page)(progress));
    await findKeptUrls();
  } catch {
    // No space, no network, or a host that lets no script read its images.
    answer = { failed: true };
  }
  reports.get(page)(answer);
  reports.delete(page);
}

/** Store a chapter under a path, with all images that its page names, or nothing; report how much is there. */
async function copy(path, response, about, report) {
  const cacheName = KEPT + path;
  try {
    // Without the smaller copies of images: the device has the originals.
    const text = (await response.text()).replaceAll(/ srcset="[^"]*"/g, "");
    const strip = text.slice(text.indexOf('id="strip"'), text.indexOf('id="end"'));
    const images = [...strip.matchAll(/<img [^>]*?src="([^"]+)"/g)];
    const urls = images.map(([, source]) => source.replaceAll("&#x27;", "'").replaceAll("&amp;", "&"));
    if (!urls.length) throw new Error(`${path}: no images`);
    const cache = await caches.open(cacheName);
    for (const [index, url] of urls.entries()) {
      report?.({ done: index, count: urls.length, bytes: about.bytes });
      if (!(await storedImage(url, { cacheName }))) {
        // Of a chapter that moved, the earlier path has most images.
        const image = (!report && (await storedImage(url))) || (await fetch(url));
        if (!(await mayStay(image))) throw new Error(`${url}: ${image.status}`);
        await cache.put(url, image);
      }
      if (report) about.bytes += (await (await cache.match(url)).blob()).size;
    }
    await cache.put(path, new Response(text, { headers: response.headers }));
    await cache.put(ABOUT, new Response(JSON.stringify(about)));
    // The page may name other images than before: those of another version of the chapter, if that has the path now.
    const plain = (url) => new URL(url, location).href.split("#")[0];
    const named = new Set([path, ABOUT, ...urls].map(plain));
    const others = (await cache.keys()).filter(({ url }) => !named.has(plain(url)));
    await Promise.all(others.map((request) => cache.delete(request)));
  } catch (error) {
    // No half of a chapter. What was kept as a whole stays.
    if (!(await caches.match(ABOUT, { cacheName }))) await caches.delete(cacheName);
    throw error;
  }
}

/** A stored image. An earlier worker could store the login of a network in its place. */
async function storedImage(url, options) {
  const image = await caches.match(url, options);
  return image && (await mayStay(image)) ? image : null;
}

/** Delete what is kept of chapters that are licensed, restricted or removed by now; keep the others as they are now. */
async function check() {
  const files = await caches.open(NEEDED);
  const last = await files.match(CHECKED);
  // Each time it asks for the page of every kept chapter.
  if (Date.now() - Number((await last?.text()) ?? 0) < VISIT) return;
  await files.put(CHECKED, new Response(String(Date.now())));
  for (const cacheName of await keptNames()) {
    try {
      const response = await pageOf(cacheName.slice(KEPT.length));
      const isPage = await isOurs(response);
      const about = await caches.match(ABOUT, { cacheName });
      const { pathname } = new URL(response.url);
      // The page of a licensed chapter has no images.
      if (GONE.includes(response.status) || (isPage && !(await response.clone().text()).includes('id="strip"'))) {
        await drop(cacheName);
      } else if (isPage && about) {
        const moves = KEPT + pathname !== cacheName;
        // Another chapter may be kept under this path already.
        const isTaken = moves && (await caches.match(ABOUT, { cacheName: KEPT + pathname }));
        if (!isTaken) await copy(pathname, response, await about.json());
        if (moves) await drop(cacheName);
      }
    } catch {
      // Without a network, or an image that is not there: what is kept stays as it is.
    }
  }
  await findKeptUrls();
}

/** Whether a response is a page of this site. Those of a proxy, a CDN or a login may have any type. */
async function isOurs(response) {
  return (await mayStay(response)) && (await response.clone().text()).includes(OURS);
}

/** The page of a chapter, also if the series has another slug, or if the chapter entered a volume or left it. */
async function pageOf(path) {
  const load = (url) => fetch(url, { cache: "no-cache" });
  const response = await load(path);
  const [, series, volume, number] = /(\/.+\/)(\d+)\/([^/]+\/)$/.exec(new URL(response.url).pathname) ?? [];
  if (response.status !== 404 || !series) return response;
  const list = await load(series);
  // Without the list, nothing tells whether the chapter moved. If the series is gone, so is the chapter.
  if (!(await isOurs(list))) return list;
  const links = [...(await list.text()).matchAll(/href="([^"]+\/)(\d+)\/([^"/]+\/)"/g)];
  const ofNumber = links.filter((link) => link[1] === series && link[3] === number);
  // A number that several volumes have does not tell which one it was.
  const [other, ...more] = new Set(ofNumber.map((link) => link[2]));
  return other && !more.length && [volume, other].includes("0") ? load(`${series}${other}/${number}`) : response;
}

/** Delete a kept chapter, and its page and images that were visited. */
async function drop(name) {
  const kept = await (await caches.open(name)).keys();
  const others = await Promise.all([PAGES, IMAGES].map((other) => caches.open(other)));
  await Promise.all(others.flatMap((cache) => kept.map(({ url }) => cache.delete(url))));
  await caches.delete(name);
}
