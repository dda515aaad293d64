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
// Each page of this site starts this worker; a notice of a proxy or CDN does not.
const OURS = "data-worker=";

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(caches.open(NEEDED).then((cache) => cache.addAll(FILES)));
});

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

const keptNames = async () => (await caches.keys()).filter((name) => name.startsWith(KEPT));

// Images of other hosts are asked for here only if a kept chapter has them.
let keptUrls = new Set();

async function findKeptUrls() {
  const kept = await Promise.all((await keptNames()).map((name) => caches.open(name)));
  keptUrls = new Set((await Promise.all(kept.map((cache) => cache.keys()))).flat().map(({ url }) => url));
}

const started = findKeptUrls();

/** Whether a response may stay on the device: it is complete and public. */
function isPublic(response) {
  const age = response.headers.get("Cache-Control") ?? "";
  return response.status === 200 && response.type !== "opaque" && !/private|no-store/.test(age);
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
  if (request.mode === "navigate") await started;
  // Kept images first: they are large.
  const kept = isImage && (await fromKept(request));
  if (kept) return kept;
  try {
    const response = await fetch(request);
    const name = isImage ? IMAGES : FILES.includes(url.pathname) ? NEEDED : PAGES;
    if (isPublic(response)) event.waitUntil(store(name, url, response.clone()));
    else if (GONE.includes(response.status)) event.waitUntil(caches.open(name).then((cache) => cache.delete(keyOf(url))));
    return response;
  } catch (error) {
    const found = await fromDevice(request);
    if (found || request.mode !== "navigate") return found ?? Response.error();
    // A page that was never visited: the shelf says what is there. Links from elsewhere may lack the last slash.
    return Response.redirect(url.pathname.endsWith("/") ? "/shelf/" : `${keyOf(url)}/`);
  }
}

const keyOf = (url) => url.origin + url.pathname;

/** Store a response, unless it is of another address: browsers refuse that for a page. */
async function store(name, url, response) {
  if (response.redirected) return;
  const cache = await caches.open(name);
  await cache.put(keyOf(url), response);
  const keys = await cache.keys();
  await Promise.all(keys.slice(0, Math.max(keys.length - MOST[name], 0)).map((key) => cache.delete(key)));
}

// What pages ask for
const ACTIONS = { keep, check, visited, test };

addEventListener("message", (event) => {
  const { action, ...message } = event.data;
  const report = (value) => event.ports[0]?.postMessage(value);
  if (Object.hasOwn(ACTIONS, action)) event.waitUntil(ACTIONS[action](message, report));
});

/** Keep a chapter with its images; report how much is there. */
async function keep({ page, title, heading, images }, report) {
  const cache = await caches.open(KEPT + page);
  let bytes = 0;
  try {
    for (const [index, url] of [page, ...images].entries()) {
      const response = await fetch(url);
      if (!isPublic(response)) throw new Error(`${url}: ${response.status}`);
      bytes += (await response.clone().blob()).size;
      await cache.put(url, url === page ? await withoutCopies(response) : response);
      report({ done: index, count: images.length, bytes });
    }
    await cache.put(ABOUT, new Response(JSON.stringify({ title, heading, bytes })));
    await findKeptUrls();
    report({ isKept: true, bytes });
  } catch {
    // No space, no network, or a host that lets no script read its images.
    await caches.delete(KEPT + page);
    report({ failed: true });
  }
}

/** A page that names no smaller copies of its images: the device has the originals. */
async function withoutCopies(response) {
  const text = (await response.text()).replaceAll(/ srcset="[^"]*"/g, "");
  return new Response(text, { headers: response.headers });
}

/** Delete what is kept of chapters that are licensed, restricted or removed by now; refresh the others. */
async function check() {
  const files = await caches.open(NEEDED);
  const last = await files.match(CHECKED);
  // Each time it asks for the page of every kept chapter.
  if (Date.now() - Number((await last?.text()) ?? 0) < VISIT) return;
  await files.put(CHECKED, new Response(String(Date.now())));
  for (const name of await keptNames()) {
    try {
      const response = await fetch(name.slice(KEPT.length), { cache: "no-cache" });
      const text = await response.clone().text();
      const isOurs = isPublic(response) && text.includes(OURS);
      // The page of a licensed chapter has no images.
      if (isOurs && text.includes('id="strip"')) await refresh(name, response, text);
      else if (isOurs || GONE.includes(response.status)) await drop(name);
    } catch {
      // Without a network, or an image that is not there: what is kept stays as it is.
    }
  }
  await findKeptUrls();
}

/** Keep a chapter as it is now, with the images that are new in it, under the path that its series has now. */
async function refresh(name, response, text) {
  const { pathname } = new URL(response.url);
  const about = await (await caches.open(name)).match(ABOUT);
  if (!about) return;
  const cache = await caches.open(KEPT + pathname);
  const strip = text.slice(text.indexOf('id="strip"'), text.indexOf('id="end"'));
  for (const [, source] of strip.matchAll(/<img [^>]*?src="([^"]+)"/g)) {
    const url = source.replaceAll("&amp;", "&");
    const image = (await caches.match(url)) ?? (await fetch(url));
    if (!isPublic(image)) return;
    await cache.put(url, image);
  }
  await cache.put(pathname, await withoutCopies(response));
  await cache.put(ABOUT, about);
  if (KEPT + pathname !== name) await drop(name);
}

/** Delete a kept chapter, and its page and images that were visited. */
async function drop(name) {
  const kept = await (await caches.open(name)).keys();
  const others = await Promise.all([PAGES, IMAGES].map((other) => caches.open(other)));
  await Promise.all(others.flatMap((cache) => kept.map(({ url }) => cache.delete(url))));
  await caches.delete(name);
}

/** Store what a page has loaded before this worker was there: it comes from the cache of the browser. */
async function visited({ urls }) {
  for (const [index, text] of urls.entries()) {
    const url = new URL(text);
    try {
      const response = await fetch(url);
      if (isPublic(response)) await store(index ? IMAGES : PAGES, url, response);
    } catch {
      return;
    }
  }
}

/** Whether a script may read an image of another host. */
async function test({ url }, report) {
  report(await fetch(url).then(isPublic, () => false));
}
