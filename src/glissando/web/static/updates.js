// Keeps the page for times without a network, and brings a newer one into use at the next start.

const ROOT = new URL("..", import.meta.url);

/**
 * Registers the service worker. Plain HTTP has none: then the page works as long as the network does.
 * @param {() => void} newer called when a newer page was downloaded, to be used at the next start
 */
export async function keepPage(newer) {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  let registration;
  try { registration = await workers.register(new URL("sw.js", ROOT), { scope: ROOT.pathname }); } catch { return; }
  if (!registration) return; // some browsers say nothing when they refuse
  if (registration.waiting && workers.controller) { // it was downloaded during the last visit
    workers.addEventListener("controllerchange", () => location.reload(), { once: true });
    registration.waiting.postMessage("use");
    return;
  }
  registration.addEventListener("updatefound", () => {
    const { installing } = registration;
    installing.addEventListener("statechange", () => { if (installing.state === "installed" && workers.controller) newer(); });
  });
  // What an installed keyboard has downloaded should stay.
  if (matchMedia("(display-mode: standalone)").matches) navigator.storage?.persist?.();
}
