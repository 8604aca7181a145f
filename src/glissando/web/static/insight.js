// The two panels: what the network saw, and why a word was not first.

import { $, make, makeSvg, percent } from "./page.js";
import { colourAt } from "./pad.js";

export function showSeen(root, answer, layout, points) {
  const word = answer.candidates[0];
  $("#seen-empty", root).hidden = true;
  $("#seen-literal", root).replaceChildren(
    "Read letter by letter, without a dictionary: ", make("strong", { text: answer.literal || "nothing" }), ".",
    answer.asked ? " The swipe was in doubt, so a second network compared its shape with the likeliest words." : "",
  );
  $("#seen-letters", root).replaceChildren(...answer.letters.map((one) => letterCard(one, layout, points)));
  $("#seen-letters", root).scrollLeft = 0;
  $("#seen-gate", root).replaceChildren(...(word ? [gateChart(answer)] : []));
}

function letterCard(seen, layout, points) {
  const width = 264;
  const height = Math.round(width * Math.min(layout.aspect, 1));
  const canvas = make("canvas", { width, height, role: "img", "aria-label": `Where the network saw ${seen.letter}` });
  const context = canvas.getContext("2d");
  if (seen.field) drawField(context, seen.field);
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink");
  drawPath(context, points, ink);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const key of layout.keys) {
    const own = key.letter === seen.letter;
    context.globalAlpha = own ? 1 : 0.45;
    context.fillStyle = ink;
    context.font = `${own ? "bold 24px" : "15px"} system-ui`;
    context.fillText(key.letter, key.cx * width, key.cy * height);
  }
  return make("li", { class: "seen" }, canvas, make("div", { class: "seen-line" },
    make("strong", { text: seen.letter }), make("span", { class: "muted small", text: percent(seen.confidence) })));
}

// The whole swipe, faintly, for orientation.
function drawPath(context, points, ink) {
  const { width, height } = context.canvas;
  context.beginPath();
  for (const [x, y] of points) context.lineTo(x * width, y * height);
  Object.assign(context, { strokeStyle: ink, globalAlpha: 0.22, lineWidth: 2.5, lineJoin: "round" });
  context.stroke();
  context.globalAlpha = 1;
}

// The field, smoothed by scaling a small picture up; likelier places are more opaque and pinker.
function drawField(context, field) {
  const small = document.createElement("canvas");
  small.width = field[0].length;
  small.height = field.length;
  const image = new ImageData(small.width, small.height);
  field.flat().forEach((value, i) => {
    const share = value / 255;
    const [r, g, b] = colourAt(share).match(/\d+/gu).map(Number);
    image.data.set([r, g, b, Math.round(235 * share ** 0.6)], 4 * i);
  });
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingQuality = "high";
  context.drawImage(small, 0, 0, context.canvas.width, context.canvas.height);
}

function gateChart({ gate, letters }) {
  const [width, height, top] = [320, 90, 22];
  const x = (frame) => 6 + (frame / Math.max(gate.length - 1, 1)) * (width - 12);
  const y = (value) => top + (1 - value) * (height - top - 6);
  const line = gate.map((value, frame) => `${x(frame).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
  const marks = letters.flatMap((one) => {
    const text = makeSvg("text", { x: x(one.frame), y: 11, "text-anchor": "middle" });
    text.textContent = one.letter;
    return [makeSvg("line", { x1: x(one.frame), x2: x(one.frame), y1: top, y2: height - 6, class: "mark" }), text,
      makeSvg("circle", { cx: x(one.frame), cy: y(gate[one.frame]), r: 3 })];
  });
  return makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, class: "gate", role: "img", "aria-label": "The gate over time: how sure the network is that a letter is meant" },
    makeSvg("path", { d: `M${x(0)} ${y(0)}L${line}L${x(gate.length - 1)} ${y(0)}Z`, class: "area" }),
    makeSvg("path", { d: `M${line}`, class: "line" }), ...marks);
}

/**
 * Says why a word was not first.
 * @param {HTMLElement} root
 * @param {object} answer the explanation, see /docs
 * @param {{isOwn: (word: string) => boolean, learn: (word: string) => void}} own a person's own words
 */
export function showWhy(root, answer, { isOwn, learn }) {
  const { meant } = answer;
  const best = answer.candidates[0]?.word ?? "nothing";
  const parts = [make("p", { class: "verdict" }, ...verdict(meant, best))];
  if (meant.verdict === "out of lexicon") parts.push(isOwn(meant.word) ? make("p", { class: "read", text: "It is one of your words." })
    : make("button", { class: "button add", type: "button", text: `Add “${meant.word}” to my words`, onclick: () => { learn(meant.word); showWhy(root, answer, { isOwn, learn }); } }));
  if (meant.verdict !== "first") parts.push(read(answer.literal));
  if (meant.opinion && meant.verdict !== "first") parts.push(make("p", { class: "small said", text: opinions(answer, best) }));
  if (blamed(meant)) {
    parts.push(costs(`“${meant.word}”, letter by letter`, meant.costs, meant.worst));
    if (meant.verdict !== "first") parts.push(costs(`“${best}”, for comparison`, meant.best_costs, null));
    parts.push(make("p", { class: "muted small", text:
      "A bar is how little the network believed the letter where it fits best (in nats; shorter is better)." +
      (meant.score === null ? "" : ` The word's score is ${meant.score.toFixed(1)}, that of “${best}” ${meant.best_score?.toFixed(1) ?? "–"}; its frequency is ${meant.frequency} of 255.`) }));
  }
  root.replaceChildren(...parts);
}

// The letter that cost most, where it cost anything worth saying.
const blamed = (meant) => (meant.worst === null ? "" : meant.costs[meant.worst].letter);

// What the network read without a dictionary.
function read(literal) {
  const letters = [...literal];
  return make("p", { class: "read" }, "Here is what I read: ", ...(letters.length
    ? [make("strong", { class: "read-letters", text: letters.join(" "), "aria-label": letters.join(", ") }), ", letter by letter."] : ["no letters at all."]));
}

function verdict(meant, best) {
  const word = make("strong", { text: meant.word });
  const worst = blamed(meant);
  const blame = worst ? [" The letter that cost most: ", make("strong", { text: worst }), "."] : [];
  const place = (otherwise) => (meant.would_rank ? ` ${otherwise} it would have come ${ordinal(meant.would_rank)}.` : "");
  switch (meant.verdict) {
    case "first": return [word, " was the first reading."];
    case "outscored": return [word, ` came ${ordinal(meant.rank)}: taken together, more spoke for “${best}”.`, ...blame];
    case "pruned": return [word, ` is in the dictionary, but the search gave it up on the way${worst ? ": too little spoke for its first letters" : ""}.`, place("Otherwise"), ...blame];
    case "out of lexicon": return [word, " is not in the dictionary, so it could not be found.", place("As one of your words"), ...blame];
    default: return [word, " cannot be typed on this layout, or is too long for one swipe."];
  }
}

// What the second network and the words before say of the two words, in points of the score.
function opinions({ asked, best, meant }, first) {
  const side = (points) => (Math.abs(points) < 0.05 ? "for neither word"
    : `for “${points > 0 ? meant.word : first}” by ${Math.abs(points).toFixed(1)}`);
  const said = [asked
    ? `In doubt, a second network compared shapes: it spoke ${side(meant.opinion.match_points - best.match_points)}.`
    : "The first network was sure, so the second was not asked."];
  if (best.gain !== null) said.push(`The words before spoke ${side(meant.opinion.gain_points - best.gain_points)}.`);
  return said.join(" ");
}

function costs(title, letters, worst) {
  const most = Math.max(4, ...letters.map((one) => one.cost));
  const bars = letters.map((one, i) => {
    const bar = make("i", { class: i === worst ? "worst" : "" });
    bar.style.height = `${Math.max(3, (one.cost / most) * 100)}%`;
    return make("li", { title: one.cost.toFixed(2) }, make("span", { class: "small muted", text: one.cost.toFixed(1) }), make("div", {}, bar), make("strong", { text: one.letter }));
  });
  return make("figure", {}, make("figcaption", { class: "small", text: title }), make("ol", { class: "costs" }, ...bars));
}

function ordinal(n) {
  const ending = n % 100 > 10 && n % 100 < 14 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th";
  return `${n}${ending}`;
}
