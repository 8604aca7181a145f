// The service worker: keeps the files of the page, so that it opens without a network. The kit's files are kept by
// kitfiles.js; here they are only found. Requests to the API pass by.

// Whoever serves this file puts the version and the addresses of the page's files in their place.
const PAGE = {"version": "", "files": []};
const SCOPE = self.registration.scope;
const NAME = `glissando page ${new URL(SCOPE).pathname}`; // one host may have several keyboards
const files = new Set(PAGE.files.map((file) => new URL(file, SCOPE).href));

self.addEventListener("install", (event) => event.waitUntil(keepFiles()));
self.addEventListener("activate", (event) => event.waitUntil(tidy()));
self.addEventListener("message", ({ data }) => { if (data === "use") self.skipWaiting(); });
self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method !== "GET") return;
  const address = plain(url);
  if (files.has(address)) event.respondWith(answerPage(event, address));
  else if (url.startsWith(`${SCOPE}kit/`) && url.includes("?v=")) event.respondWith(answer(undefined, url, event.request));
});

// All files or none: modules of two versions do not go together.
async function keepFiles() {
  const cache = await caches.open(`${NAME} ${PAGE.version}`);
  await cache.addAll([...files].map((file) => new Request(file, { cache: "no-cache" })));
}

async function tidy() {
  for (const name of await caches.keys()) {
    if (name.startsWith(`${NAME} `) && name !== `${NAME} ${PAGE.version}`) await caches.delete(name);
  }
  await self.clients.claim();
}

// The other pages of a server share modules with the keyboard. They get them from the server: after an upgrade the kept
// ones are older than theirs.
async function answerPage({ request, clientId }, address) {
  const client = clientId ? await self.clients.get(clientId) : null;
  if (client?.type === "window" && !files.has(plain(client.url))) return fetch(request);
  return answer(`${NAME} ${PAGE.version}`, address, request);
}

const plain = (url) => url.replace(/[?#].*$/u, "").replace(/\/index\.html$/u, "/");

async function answer(cacheName, address, request) {
  return await caches.match(address, { cacheName }) ?? fetch(request);
}
