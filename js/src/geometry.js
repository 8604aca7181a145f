// How well a swipe follows a word's keys: the location walks along them, the shape compares the two drawings.

const FAR = 1e9; // a cost no walk takes
const LONGEST = 256; // letters of a word, and one more

/**
 * @typedef {object} Constants the bundle's "geometry"
 * @property {number} points that a swipe is compared at
 * @property {number} row_height in key widths
 * @property {number} touch_bias how far below a key's centre it is touched, in row heights
 * @property {number} haste what passing a key at the mean speed costs
 * @property {number} max_speed
 * @property {number} tunnel key widths beside a stretch that cost nothing
 * @property {number} stray what a key width beyond that costs
 * @property {number} turn what the wrong direction costs
 */

/** Points of a path, one array for each coordinate. */
class Line {
  /** @param {number} room points at the most */
  constructor(room) {
    this.x = new Float64Array(room);
    this.y = new Float64Array(room);
    this.t = new Float64Array(room); // milliseconds
    this.along = new Float64Array(room); // the way to each point
    this.length = 0;
  }

  /**
   * Adds a point.
   * @param {number} x
   * @param {number} y
   * @param {number} [t]
   */
  push(x, y, t = 0) {
    const i = this.length;
    this.x[i] = x;
    this.y[i] = y;
    this.t[i] = t;
    this.along[i] = i ? this.along[i - 1] + gap(x, y, this.x[i - 1], this.y[i - 1]) : 0;
    this.length += 1;
  }

  /**
   * Puts points at equal distances along this path into another.
   * @param {Line} even as many as it has room for
   */
  resample(even) {
    const { x, y, t, along, length } = this;
    const [last, count] = [length - 1, even.x.length];
    let left = 0;
    even.length = 0;
    for (let i = 0; i < count - 1; i += 1) {
      const target = (along[last] * i) / (count - 1);
      while (left < last - 1 && along[left + 1] < target) left += 1;
      const right = Math.min(left + 1, last);
      const step = along[right] - along[left];
      const share = step > 0 ? (target - along[left]) / step : 0;
      even.push(x[left] * (1 - share) + x[right] * share, y[left] * (1 - share) + y[right] * share, t[left] * (1 - share) + t[right] * share);
    }
    even.push(x[last], y[last], t[last]); // with its time: a finger may rest there
  }
}

/** A layout's keys in key widths, letter by letter. */
export class Ruler {
  /**
   * @param {import("./types.js").Layout} layout
   * @param {number[][]} groups for each letter of the trie, the indices of its keys
   * @param {Constants} constants
   */
  constructor(layout, groups, constants) {
    const { points: n, row_height: rowHeight, touch_bias: bias } = constants;
    this.constants = constants;
    const width = 2 * median(layout.keys.map((key) => key.rx));
    const height = 2 * median(layout.keys.map((key) => key.ry));
    this.scale = [1 / width, rowHeight / height];
    this.bias = bias * rowHeight;
    this.keys = groups.map((group) => group.map((index) => {
      const { cx, cy } = layout.keys[index];
      return [Math.fround(cx) * this.scale[0], Math.fround(cy) * this.scale[1]];
    }));
    this.letters = groups.length;
    this.trace = new Line(n); // the swipe
    this.headingX = new Float64Array(n);
    this.headingY = new Float64Array(n);
    this.drawn = new Float64Array(2 * n); // the swipe's shape
    this.drawing = new Float64Array(2 * n); // a word's
    this.visits = groups.map(() => new Float32Array(n));
    this.strays = new Float32Array(this.letters ** 2 * n);
    this.known = new Uint8Array(this.letters ** 2);
    this.cost = new Float64Array(n);
    this.line = new Line(LONGEST); // from key to key of a word
    this.even = new Line(n);
  }

  /**
   * Takes a swipe; `distances` then measures words against it.
   * @param {number[][]} points
   */
  measure(points) {
    const clip = (/** @type {number} */ value) => Math.min(Math.max(value, -1), 2); // beyond a whole keyboard away the distance no longer matters
    const path = new Line(points.length);
    for (const [x, y, t] of points) path.push(clip(x) * this.scale[0], clip(y) * this.scale[1] - this.bias, t - points[0][2]);
    path.resample(this.trace);
    normalise(this.trace, this.drawn);
    this.#measureHeadings();
    this.#measureVisits();
    this.known.fill(0);
  }

  /**
   * How far the swipe is from a word.
   * @param {number[]} word labels of the letters, doubled ones once
   * @returns {number[]} location and shape
   */
  distances(word) {
    return [this.#walk(word), this.#shape(word)];
  }

  // The direction in which the swipe passes each point, of length 1.
  #measureHeadings() {
    const { x, y, length } = this.trace;
    for (let i = 0; i < length; i += 1) {
      const [before, after] = [Math.max(i - 1, 0), Math.min(i + 1, length - 1)];
      const norm = Math.max(gap(x[after], y[after], x[before], y[before]), 1e-9);
      this.headingX[i] = (x[after] - x[before]) / norm;
      this.headingY[i] = (y[after] - y[before]) / norm;
    }
  }

  // What passing a letter at a point costs: its distance, and the finger's haste there.
  #measureVisits() {
    const { trace: { x, y, t }, keys, visits } = this;
    const { points: n, haste, max_speed: fastest } = this.constants;
    const frame = Math.max(t[n - 1] - t[0], 1e-3) / (n - 1); // ms per point at the mean speed
    for (let i = 0; i < n; i += 1) {
      const [before, after] = [Math.max(i - 1, 0), Math.min(i + 1, n - 1)];
      const speed = (frame * (after - before)) / Math.max(t[after] - t[before], 1e-3);
      const cost = haste * Math.min(speed, fastest);
      for (let letter = 0; letter < keys.length; letter += 1) {
        let nearest = FAR;
        for (const [kx, ky] of keys[letter]) nearest = Math.min(nearest, gap(x[i], y[i], kx, ky));
        visits[letter][i] = nearest + cost;
      }
    }
  }

  /**
   * What a point costs on the stretch from letter a to letter b, for the best of their keys; computed when first needed.
   * @param {number} a
   * @param {number} b
   */
  #stretch(a, b) {
    const { points: n } = this.constants;
    const pair = a * this.letters + b;
    const costs = this.strays.subarray(pair * n, (pair + 1) * n);
    if (this.known[pair]) return costs;
    this.known[pair] = 1;
    costs.fill(FAR);
    for (const from of this.keys[a]) for (const to of this.keys[b]) this.#stray(from, to, costs);
    return costs;
  }

  /**
   * Lowers the costs to those of the stretch between two keys.
   * @param {number[]} from
   * @param {number[]} to
   * @param {Float32Array} costs
   */
  #stray([fromX, fromY], [toX, toY], costs) {
    const { trace, headingX, headingY } = this;
    const { points: n, tunnel, stray, turn } = this.constants;
    const length = Math.max(gap(fromX, fromY, toX, toY), 1e-9);
    const dx = (toX - fromX) / length;
    const dy = (toY - fromY) / length;
    for (let i = 0; i < n; i += 1) {
      const x = trace.x[i] - fromX;
      const y = trace.y[i] - fromY;
      const along = Math.min(Math.max(x * dx + y * dy, 0), length);
      const distance = gap(x, y, along * dx, along * dy);
      const cosine = headingX[i] * dx + headingY[i] * dy;
      costs[i] = Math.min(costs[i], stray * Math.max(distance - tunnel, 0) + turn * (1 - cosine));
    }
  }

  /**
   * The cheapest way to pass the letters in order; points between two letters lie on the stretch between them.
   * @param {number[]} word
   */
  #walk(word) {
    const { cost } = this;
    const { points: n } = this.constants;
    const m = word.length;
    const share = m / n;
    let stretch = this.#stretch(word[0], word[Math.min(1, m - 1)]);
    let spent = 0;
    for (let i = 0; i < n; i += 1) {
      spent += share * stretch[i];
      cost[i] = spent;
    }
    for (let letter = 0; letter < m; letter += 1) {
      const passing = this.visits[word[letter]];
      stretch = this.#stretch(word[Math.max(Math.min(letter, m - 2), 0)], word[Math.min(letter + 1, m - 1)]);
      let best = FAR;
      for (let i = 0; i < n; i += 1) {
        best = Math.min(best + share * stretch[i], cost[i] + passing[i]);
        cost[i] = best;
      }
    }
    return cost[n - 1] / m;
  }

  /**
   * The root mean square distance between the two drawings.
   * @param {number[]} word
   */
  #shape(word) {
    const { line, even, drawing, drawn } = this;
    line.length = 0;
    for (const letter of word) {
      const [x, y] = this.#nearest(letter);
      line.push(x, y);
    }
    line.resample(even);
    normalise(even, drawing);
    let sum = 0;
    for (let i = 0; i < drawing.length; i += 1) sum += (drawing[i] - drawn[i]) ** 2;
    return Math.sqrt(sum / this.constants.points);
  }

  /**
   * The key of a letter; of several the one nearest to the end of the line.
   * @param {number} letter
   */
  #nearest(letter) {
    const { line: { x, y, length } } = this;
    const [first, ...others] = this.keys[letter];
    if (!length) return first;
    const far = (/** @type {number[]} */ [kx, ky]) => gap(kx, ky, x[length - 1], y[length - 1]);
    return others.reduce((best, key) => (far(key) < far(best) ? key : best), first);
  }
}

/**
 * Centres a path and makes the longer side of its bounding box 1; a point stays one.
 * @param {Line} path n points
 * @param {Float64Array} shape [2 n], x first
 */
function normalise({ x, y, length: n }, shape) {
  let size = 0;
  for (const [axis, values] of [x, y].entries()) {
    let [low, high, sum] = [Infinity, -Infinity, 0];
    for (let i = 0; i < n; i += 1) {
      low = Math.min(low, values[i]);
      high = Math.max(high, values[i]);
      sum += values[i];
    }
    size = Math.max(size, high - low);
    for (let i = 0; i < n; i += 1) shape[axis * n + i] = values[i] - sum / n;
  }
  const scale = size > 1e-6 ? 1 / size : 0;
  for (let i = 0; i < 2 * n; i += 1) shape[i] *= scale;
}

/**
 * The distance between two points.
 * @param {number} ax
 * @param {number} ay
 * @param {number} bx
 * @param {number} by
 */
function gap(ax, ay, bx, by) {
  const dx = ax - bx;
  const dy = ay - by;
  return Math.sqrt(dx * dx + dy * dy);
}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
