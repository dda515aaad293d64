// This site keeps nothing on devices: the service worker of another time goes, with all that it kept.
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => {
  event.waitUntil(leave());
});

async function leave() {
  const names = (await caches.keys()).filter((name) => name.startsWith("flatpanel:"));
  await Promise.all(names.map((name) => caches.delete(name)));
  await registration.unregister();
}
