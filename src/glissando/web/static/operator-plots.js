// Small plots for the operator's page.

import { make, makeSvg } from "./page.js";

const HOURS = 48;
const [WIDTH, HEIGHT] = [300, 150];

/**
 * A histogram.
 * @param {{least: number, below: number | null, swipes: number}[]} bars
 * @param {{label: string, poor: (bar: object) => boolean}} options label: for screen readers; poor: bars that are drawn in another colour
 */
export function histogram(bars, { label, poor }) {
  const [width, height, foot, head] = [WIDTH, HEIGHT, 18, 16];
  const step = width / bars.length;
  const most = Math.max(1, ...bars.map((one) => one.swipes));
  const parts = bars.flatMap((one, i) => {
    const tall = (one.swipes / most) * (height - foot - head);
    const x = i * step;
    const bar = titled(makeSvg("rect", { x: x + 1, y: height - foot - tall, width: step - 2, height: tall, rx: 2, class: poor(one) ? "poor" : "" }),
      `${one.below === null ? `${one.least} and more` : `${one.least} to ${one.below}`}: ${one.swipes.toLocaleString("en")}`);
    const value = one.swipes ? [written({ x: x + step / 2, y: height - foot - tall - 4, class: "value" }, short(one.swipes))] : [];
    return [bar, ...value, ...(i % 2 ? [] : [written({ x: x + (i ? 0 : 5), y: height - 3 }, String(one.least))])];
  });
  return makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": `${label}: ${bars.map((one) => `${one.swipes} from ${one.least}`).join(", ")}` },
    makeSvg("line", { x1: 0, x2: width, y1: height - foot, y2: height - foot }), ...parts);
}

/** Swipes of the last 48 hours. hours: {hour, swipes}, only those with swipes. */
export function hourChart(hours) {
  const now = Math.floor(Date.now() / 3600000) * 3600;
  const most = Math.max(1, ...hours.map((one) => one.swipes));
  const step = WIDTH / HOURS;
  const bars = hours.map(({ hour, swipes }) => {
    const tall = (swipes / most) * HEIGHT;
    const place = { x: (HOURS - 1 - (now - hour) / 3600) * step + 0.5, y: HEIGHT - tall, width: step - 1, height: tall };
    return titled(makeSvg("rect", place), `${new Date(hour * 1000).toLocaleString("en-GB")}: ${swipes.toLocaleString("en")}`);
  });
  const chart = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot hours", preserveAspectRatio: "none", role: "img", "aria-label": "Swipes per hour" }, ...bars);
  const axis = make("div", { class: "axis small muted" }, ...["48 hours ago", "24 hours ago", "now"].map((text) => make("span", { text })));
  return make("div", {}, make("p", { class: "small muted", text: hours.length ? `Most in an hour: ${most.toLocaleString("en")}` : "None." }), chart, axis);
}

const short = (count) => (count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10000 ? 1 : 0)}k`);

function titled(element, text) {
  const title = makeSvg("title");
  title.textContent = text;
  element.append(title);
  return element;
}

function written(attributes, text) {
  const element = makeSvg("text", attributes);
  element.textContent = text;
  return element;
}
