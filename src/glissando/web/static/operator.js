// The operator's page: counts, hours and the latest swipes, behind the token.

import { call } from "./api.js";
import { $, languageName, layoutName, make, makeSvg, themeButton, toast } from "./page.js";
import { drawTrail } from "./pad.js";

const HOURS = 48;

themeButton($("#theme"));
$("#login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", $("#token").value);
  load();
});
if (sessionStorage.getItem("token")) load();

async function load() {
  try {
    show(await call("/api/operator/summary", { headers: { authorization: `Bearer ${sessionStorage.getItem("token")}` } }));
  } catch (error) {
    sessionStorage.removeItem("token");
    toast(error.status === 404 ? "The operator page is shut: the server runs without a token." : error.message);
  }
}

function show({ groups, hours, recent, layouts }) {
  $("#login").hidden = true;
  $("#summary").hidden = false;
  const rows = groups.map((group) => make("tr", {},
    make("td", { text: layoutName(group.layout) }), make("td", { text: languageName(group.language) }),
    ...["swipes", "skipped", "sessions"].map((name) => make("td", { class: "number", text: group[name].toLocaleString() }))));
  $("#groups").replaceChildren(...(rows.length ? rows : [make("tr", {}, make("td", { colspan: 5, class: "muted", text: "Nothing yet." }))]));
  $("#hours").replaceChildren(hourChart(hours));
  const byName = new Map(layouts.map((layout) => [layout.name, layout]));
  $("#recent").replaceChildren(...recent.map((swipe) => card(swipe, byName.get(swipe.layout))));
}

function hourChart(hours) {
  const [width, height] = [600, 120];
  const now = Math.floor(Date.now() / 3600000) * 3600;
  const most = Math.max(1, ...hours.map((one) => one.swipes));
  const step = width / HOURS;
  const bars = hours.map(({ hour, swipes }) => {
    const x = (HOURS - 1 - (now - hour) / 3600) * step;
    const tall = (swipes / most) * (height - 4);
    const bar = makeSvg("rect", { x: x + 1, y: height - tall, width: step - 2, height: tall, rx: 2 });
    const title = makeSvg("title");
    title.textContent = `${new Date(hour * 1000).toLocaleString()}: ${swipes}`;
    bar.append(title);
    return bar;
  });
  const chart = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, class: "hours", role: "img", "aria-label": "Swipes per hour" },
    makeSvg("line", { x1: 0, x2: width, y1: height, y2: height }), ...bars);
  return make("div", {}, make("p", { class: "small muted", text: `Most in an hour: ${most.toLocaleString()}` }), chart);
}

function card(swipe, layout) {
  const canvas = make("canvas", { width: 300, height: Math.round(300 * (layout?.aspect ?? 0.4)), role: "img", "aria-label": `Swipe of ${swipe.word}` });
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--muted");
  context.font = "17px system-ui";
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const key of layout?.keys ?? []) context.fillText(key.letter, key.cx * canvas.width, key.cy * canvas.height);
  drawTrail(context, swipe.points, 0.95);
  return make("li", {}, canvas, make("span", { class: "small", text: swipe.word }), make("span", { class: "small muted", text: layoutName(swipe.layout) }));
}
