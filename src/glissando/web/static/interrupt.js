// A call, another app, another tab: the browser may never say that a finger has gone.

// Calls forget() whenever the page loses the screen or the focus. For things that live as long as the page.
export function interrupted(forget) {
  window.addEventListener("blur", forget);
  window.addEventListener("pagehide", forget);
  document.addEventListener("visibilitychange", () => { if (document.hidden) forget(); });
}
