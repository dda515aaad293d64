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
