// What is stored about a swipe beside its points: the screen, how points were got, and what the donor chooses to say.

import { getValue, put, remove } from "./collect-keep.js";
import { $ } from "./page.js";

const NAME = "about";
const CARD = 53.98; // mm: the short side of a bank card (ISO/IEC 7810 ID-1)
const USUAL = 0.16; // mm of a CSS pixel, on most phones; only where the slider begins

/** Binds the donor's own statements, all of which may be left out. They are remembered. */
export function bindAbout(root) {
  const kept = getValue(NAME) ?? {};
  const [hand, posture, slider, box, known] = ["#hand", "#posture", "#card-size", "#card-box", "#card-known"].map((one) => $(one, root));
  const now = { hand: kept.hand ?? "", posture: kept.posture ?? "", pixel: kept.ratio === devicePixelRatio ? kept.pixel : null };
  const save = () => { if (!put(NAME, JSON.stringify({ ...now, ratio: devicePixelRatio }))) remove(NAME); };
  const show = () => {
    box.style.height = `${slider.value}px`;
    known.textContent = now.pixel ? `Your screen has ${(25.4 / now.pixel).toFixed(0)} points to the inch.` : "Not set: sizes in millimetres are not stored.";
    $("#card-forget", root).hidden = !now.pixel;
  };
  [hand.value, posture.value] = [now.hand, now.posture];
  slider.value = Math.round(CARD / (now.pixel ?? USUAL));
  hand.addEventListener("change", () => { now.hand = hand.value; save(); });
  posture.addEventListener("change", () => { now.posture = posture.value; save(); });
  slider.addEventListener("input", () => { now.pixel = CARD / slider.valueAsNumber; save(); show(); });
  $("#card-forget", root).addEventListener("click", () => { now.pixel = null; save(); show(); });
  show();
  return { of: (layout, width) => described(now, layout, width) };
}

// The fields of a swipe that do not depend on its word.
function described({ hand, posture, pixel }, layout, width) {
  const key = median(layout.keys.map((one) => 2 * one.rx)) * width; // CSS pixels
  const known = pixel && (visualViewport?.scale ?? 1) === 1;
  return {
    orientation: orientation(), sampling: "getCoalescedEvents" in PointerEvent.prototype ? "coalesced" : "frame",
    pixel_ratio: Math.round(devicePixelRatio * 1000) / 1000, key_width_mm: known ? Math.round(key * pixel * 100) / 100 : null,
    hand: hand || null, posture: posture || null,
  };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const orientation = () => ((screen.orientation?.type ?? (innerWidth > innerHeight ? "landscape" : "portrait")).startsWith("landscape") ? "landscape" : "portrait");
