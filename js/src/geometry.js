// How well a swipe follows a word's keys: the location walks along them, the shape compares the two drawings.

const FAR = 1e9; // a cost no walk takes

// A layout's keys in key widths, letter by letter.
export class Ruler {
  // groups: for each letter of the trie, the indices of its keys; constants: the bundle's "geometry".
  constructor(layout, groups, constants) {
    this.constants = constants;
    const width = 2 * median(layout.keys.map((key) => key.rx));
    const height = 2 * median(layout.keys.map((key) => key.ry));
    this.scale = [1 / width, constants.row_height / height];
    this.bias = constants.touch_bias * constants.row_height;
    this.keys = groups.map((group) => group.map((index) => {
      const { cx, cy } = layout.keys[index];
      return [Math.fround(cx) * this.scale[0], Math.fround(cy) * this.scale[1]];
    }));
    this.letters = groups.length;
    this.strays = new Float32Array(this.letters ** 2 * constants.points);
    this.known = new Uint8Array(this.letters ** 2);
  }

  // Takes a swipe; `distances` then measures words against it.
  measure(points) {
    const clip = (value) => Math.min(Math.max(value, -1), 2); // beyond a whole keyboard away the distance no longer matters
    const places = points.map(([x, y, t]) => [
      clip(x) * this.scale[0], clip(y) * this.scale[1] - this.bias, t - points[0][2],
    ]);
    this.trace = resampleEvenly(places, this.constants.points);
    this.drawn = normalise(this.trace);
    this.headings = headings(this.trace);
    this.visits = this.#visits();
    this.known.fill(0);
  }

  // word: labels of the letters, doubled ones once. -> [location, shape]
  distances(word) {
    return [this.#walk(word), this.#shape(word)];
  }

  // What passing a letter at a point costs: its distance, and the finger's haste there.
  #visits() {
    const { trace, keys } = this;
    const { points: n, haste, max_speed: fastest } = this.constants;
    const frame = Math.max(trace[n - 1][2] - trace[0][2], 1e-3) / (n - 1); // ms per point at the mean speed
    const visits = keys.map(() => new Float32Array(n));
    for (let i = 0; i < n; i += 1) {
      const before = Math.max(i - 1, 0);
      const after = Math.min(i + 1, n - 1);
      const speed = (frame * (after - before)) / Math.max(trace[after][2] - trace[before][2], 1e-3);
      const cost = haste * Math.min(speed, fastest);
      keys.forEach((places, letter) => {
        visits[letter][i] = Math.min(...places.map((place) => gap(trace[i], place))) + cost;
      });
    }
    return visits;
  }

  // What a point costs on the stretch from letter a to letter b, for the best of their keys; computed when first needed.
  #stretch(a, b) {
    const { trace, headings: heading } = this;
    const { points: n, tunnel, stray, turn } = this.constants;
    const pair = a * this.letters + b;
    const costs = this.strays.subarray(pair * n, (pair + 1) * n);
    if (this.known[pair]) return costs;
    this.known[pair] = 1;
    costs.fill(FAR);
    for (const from of this.keys[a]) {
      for (const to of this.keys[b]) {
        const length = Math.max(gap(from, to), 1e-9);
        const dx = (to[0] - from[0]) / length;
        const dy = (to[1] - from[1]) / length;
        for (let i = 0; i < n; i += 1) {
          const x = trace[i][0] - from[0];
          const y = trace[i][1] - from[1];
          const along = Math.min(Math.max(x * dx + y * dy, 0), length);
          const offX = x - along * dx;
          const offY = y - along * dy;
          const distance = Math.sqrt(offX * offX + offY * offY);
          const cosine = heading[i][0] * dx + heading[i][1] * dy;
          costs[i] = Math.min(costs[i], stray * Math.max(distance - tunnel, 0) + turn * (1 - cosine));
        }
      }
    }
    return costs;
  }

  // The cheapest way to pass the letters in order; points between two letters lie on the stretch between them.
  #walk(word) {
    const { points: n } = this.constants;
    const m = word.length;
    const share = m / n;
    const cost = new Float64Array(n);
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

  // The root mean square distance between the two drawings.
  #shape(word) {
    const line = [];
    for (const letter of word) {
      const last = line.at(-1);
      const nearer = (best, place) => (last && gap(place, last) < gap(best, last) ? place : best);
      line.push(this.keys[letter].reduce(nearer));
    }
    const shape = normalise(resampleEvenly(line, this.constants.points));
    let sum = 0;
    for (let i = 0; i < shape.length; i += 1) sum += (shape[i] - this.drawn[i]) ** 2;
    return Math.sqrt(sum / this.constants.points);
  }
}

// Points at equal distances along a path; what comes after x and y is interpolated alike.
export function resampleEvenly(path, count) {
  const last = path.length - 1;
  const along = new Float64Array(path.length);
  for (let i = 1; i <= last; i += 1) along[i] = along[i - 1] + gap(path[i], path[i - 1]);
  const even = [];
  let left = 0;
  for (let i = 0; i < count - 1; i += 1) {
    const target = (along[last] * i) / (count - 1);
    while (left < last - 1 && along[left + 1] < target) left += 1;
    const right = Math.min(left + 1, last);
    const step = along[right] - along[left];
    const share = step > 0 ? (target - along[left]) / step : 0;
    even.push(path[left].map((value, column) => value * (1 - share) + path[right][column] * share));
  }
  even.push(path[last]); // with its time: a finger may rest there
  return even;
}

// Centred, the longer side of the bounding box 1; a point stays one. -> [2 n], x first.
function normalise(path) {
  const n = path.length;
  const shape = new Float64Array(2 * n);
  let size = 0;
  for (let axis = 0; axis < 2; axis += 1) {
    let [low, high, sum] = [Infinity, -Infinity, 0];
    for (const point of path) {
      low = Math.min(low, point[axis]);
      high = Math.max(high, point[axis]);
      sum += point[axis];
    }
    size = Math.max(size, high - low);
    for (let i = 0; i < n; i += 1) shape[axis * n + i] = path[i][axis] - sum / n;
  }
  const scale = size > 1e-6 ? 1 / size : 0;
  return shape.map((value) => value * scale);
}

// The direction in which the swipe passes each point, of length 1.
function headings(path) {
  return path.map((_, i) => {
    const before = path[Math.max(i - 1, 0)];
    const after = path[Math.min(i + 1, path.length - 1)];
    const norm = Math.max(gap(after, before), 1e-9);
    return [(after[0] - before[0]) / norm, (after[1] - before[1]) / norm];
  });
}

function gap(a, b) {
  const dx = a[0] - b[0];
  const dy = a[1] - b[1];
  return Math.sqrt(dx * dx + dy * dy);
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
