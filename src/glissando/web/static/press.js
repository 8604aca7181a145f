// A key outside the letter area: press, hold and slide, with pointer events.
//
// Clicks would not do. After a fast swipe Chromium takes the next tap for the end of a fling and sends no click, but it
// always sends pointer events. A click without a pointer (Enter, a screen reader) presses too.

import { interrupted } from "./interrupt.js";

const SLIP = 10; // pixels that a finger may move and still press
const HOLD_MS = 420;
const REPEAT_MS = 70;

// act: {press(event), hold(), repeats, slide(pixels), slid()}
//   press: the key was tapped. hold: it is held; called again and again where repeats is true.
//   slide: the finger has moved so far to the right since touch-down; slid: it has gone.
// options: {turns, scrolls}: scrolls leaves a drag to the browser, for rows that scroll.
export function pressable(element, act, { turns = null, scrolls = false } = {}) {
  let touch = null;

  function down(event) {
    if (event.isPrimary) finish(); // the first finger on the screen: whatever another one has left behind is over
    if (touch || event.button > 0) return;
    touch = { id: event.pointerId, x: event.clientX, y: event.clientY, turn: turns?.begin(), mode: "press" };
    if (!scrolls) {
      event.preventDefault(); // the focus stays where it is
      element.setPointerCapture(event.pointerId);
    }
    element.classList.add("down");
    if (act.hold) touch.timer = setTimeout(hold, HOLD_MS);
  }

  function hold() {
    touch.mode = "hold";
    touch.turn?.drop();
    act.hold();
    if (act.repeats) touch.timer = setTimeout(hold, REPEAT_MS);
  }

  function move(event) {
    if (event.pointerId !== touch?.id || touch.mode === "hold") return;
    const [right, below] = [event.clientX - touch.x, event.clientY - touch.y];
    if (touch.mode === "press" && act.slide && Math.abs(right) > SLIP) {
      touch.mode = "slide";
      touch.turn?.drop();
      clearTimeout(touch.timer);
    }
    if (touch.mode === "slide") act.slide(right);
    else if (scrolls && Math.hypot(right, below) > SLIP) finish();
  }

  function up(event) {
    if (event.pointerId !== touch?.id) return;
    const { turn, mode } = touch;
    const box = element.getBoundingClientRect();
    const inside = event.clientX >= box.left - SLIP && event.clientX <= box.right + SLIP && event.clientY >= box.top - SLIP && event.clientY <= box.bottom + SLIP;
    touch.turn = null; // it ends here, not in finish
    finish();
    if (mode !== "press" || !inside) turn?.drop();
    else if (turn) turn.end(() => act.press(event));
    else act.press(event);
  }

  function finish() {
    if (!touch) return;
    const { turn, timer, mode } = touch;
    touch = null;
    clearTimeout(timer);
    element.classList.remove("down");
    turn?.drop();
    if (mode === "slide") act.slid?.();
  }

  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  for (const kind of ["pointercancel", "lostpointercapture"]) {
    element.addEventListener(kind, (event) => { if (event.pointerId === touch?.id) finish(); });
  }
  if (scrolls) element.addEventListener("pointerleave", (event) => { if (event.pointerId === touch?.id) finish(); });
  interrupted(finish);
  element.addEventListener("click", (event) => { if (event.detail === 0) act.press(event); });
  element.addEventListener("contextmenu", (event) => event.preventDefault());
  return element;
}

// The browser makes no fling, no zoom and no click out of touches on an element.
export function ownTouches(element) {
  element.addEventListener("touchstart", (event) => { if (event.cancelable) event.preventDefault(); }, { passive: false });
}
