// A finger's points to the path the encoder reads: to 60 Hz, then to 64 samples even in index.

const AXES = /** @type {const} */ ([0, 1]);

export class GestureError extends Error {}

/**
 * Throws where points are not a gesture.
 * @param {import("./types.js").Points} points
 */
export function checkPoints(points) {
  if (!Array.isArray(points) || points.length === 0) throw new GestureError("a gesture needs at least one point");
  let before = -Infinity;
  for (const [i, point] of points.entries()) {
    if (point.length !== 3 || !point.every(Number.isFinite)) throw new GestureError(`point ${i} must be three finite numbers`);
    if (point[2] < before) throw new GestureError(`time runs backwards at point ${i}`);
    before = point[2];
  }
}

/**
 * The path that the encoder reads.
 * @param {import("./types.js").Points} points
 * @param {{points: number, rate_hz: number}} constants
 * @returns {Float32Array} [2 * points], x first, each in [0, 1]
 */
export function resample(points, { points: count, rate_hz: rate }) {
  const times = points.map((point) => point[2] - points[0][2]);
  const duration = times[times.length - 1];
  const frames = Math.max(2, roundHalfEven(duration / (1000 / rate)) + 1); // samples at 60 Hz
  const step = (frames - 1) / (count - 1);
  const path = new Float32Array(2 * count);
  for (let i = 0; i < count; i += 1) {
    const where = i === count - 1 ? frames - 1 : i * step; // in units of those samples
    const low = Math.min(Math.floor(where), frames - 2);
    const weight = where - low;
    for (const axis of AXES) {
      const first = interpolate(points, times, axis, instant(low, frames, duration));
      const second = interpolate(points, times, axis, instant(low + 1, frames, duration));
      path[axis * count + i] = Math.min(Math.max(first * (1 - weight) + second * weight, 0), 1);
    }
  }
  return path;
}

/**
 * @param {number} sample
 * @param {number} frames
 * @param {number} duration
 */
function instant(sample, frames, duration) {
  return sample === frames - 1 ? duration : sample * (duration / (frames - 1));
}

/**
 * Between the last point at or before the instant and the next one: of points at one instant the last counts.
 * @param {import("./types.js").Points} points
 * @param {number[]} times
 * @param {0 | 1} axis
 * @param {number} at
 */
function interpolate(points, times, axis, at) {
  let low = 0;
  let high = times.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle;
    else high = middle;
  }
  if (low === times.length - 1 || times[low] === at) return points[low][axis];
  const slope = (points[low + 1][axis] - points[low][axis]) / (times[low + 1] - times[low]);
  return slope * (at - times[low]) + points[low][axis];
}

/**
 * Math.round takes halves up; the reference takes them to the even neighbour.
 * @param {number} value
 */
export function roundHalfEven(value) {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}
