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
