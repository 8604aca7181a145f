// A conditional logit: the weights under which the alternatives that were chosen are likeliest.
//
// Each choice has some alternatives, and each alternative a row of values; the first was chosen. The softmax of the
// weighted sums is their probability. The cost is convex in the weights, so a few Newton steps solve it.

const STEPS = 30;
const SMALL = 1e-6; // a step that is as good as none

/** Choices, their alternatives laid end to end. */
class Choices {
  /**
   * @param {number[][][]} choices for each, for each alternative, [C] values
   * @param {number[]} penalties [C]
   */
  constructor(choices, penalties) {
    const rows = choices.flat();
    this.penalties = penalties;
    this.columns = penalties.length;
    this.values = Float64Array.from(rows.flat());
    this.shares = new Float64Array(rows.length); // the probability of every alternative within its choice
    this.starts = [0];
    for (const { length } of choices) this.starts.push(this.starts[this.starts.length - 1] + length);
    this.count = choices.length;
    this.spread = penalties.map((_, c) => deviation(rows.map((row) => row[c])));
  }

  /**
   * Mean cross-entropy of what was chosen, in nats, and what the prior adds. It leaves the shares behind.
   * @param {number[]} weights [C]
   * @returns {number}
   */
  cost(weights) {
    const { values, shares, starts, columns, count } = this;
    let sum = 0;
    for (let choice = 0; choice < count; choice += 1) {
      const [start, end] = [starts[choice], starts[choice + 1]];
      let [highest, total] = [-Infinity, 0];
      for (let i = start; i < end; i += 1) {
        let score = 0;
        for (let c = 0; c < columns; c += 1) score += values[i * columns + c] * weights[c];
        shares[i] = score;
        highest = Math.max(highest, score);
      }
      for (let i = start; i < end; i += 1) total += shares[i] = Math.exp(shares[i] - highest);
      for (let i = start; i < end; i += 1) shares[i] /= total;
      sum -= Math.log(Math.max(shares[start], 1e-300));
    }
    return this.penalties.reduce((total, penalty, c) => total + penalty * (weights[c] - 1) ** 2, sum / count);
  }

  /**
   * Gradient and curvature of the cost at the weights it was asked for last.
   * @param {number[]} weights [C]
   * @returns {{gradient: number[], curvature: number[][]}}
   */
  slope(weights) {
    const { values, shares, starts, columns, count, penalties } = this;
    const gradient = penalties.map((penalty, c) => 2 * penalty * (weights[c] - 1));
    const curvature = penalties.map((penalty, c) => penalties.map((_, d) => (c === d ? 2 * penalty : 0)));
    for (let choice = 0; choice < count; choice += 1) {
      const mean = new Float64Array(columns);
      for (let i = starts[choice]; i < starts[choice + 1]; i += 1) {
        for (let c = 0; c < columns; c += 1) mean[c] += shares[i] * values[i * columns + c];
      }
      for (let c = 0; c < columns; c += 1) gradient[c] += (mean[c] - values[starts[choice] * columns + c]) / count;
      for (let i = starts[choice]; i < starts[choice + 1]; i += 1) {
        for (let c = 0; c < columns; c += 1) {
          const weighed = (shares[i] * (values[i * columns + c] - mean[c])) / count;
          for (let d = 0; d < columns; d += 1) curvature[c][d] += weighed * (values[i * columns + d] - mean[d]);
        }
      }
    }
    return { gradient, curvature };
  }
}

/**
 * The weights of least cost, by Newton steps that are halved where they go uphill.
 * @param {number[][][]} choices for each, for each alternative, [C] values
 * @param {number[]} start [C]
 * @param {number[]} penalties [C]; penalty * (weight - 1)^2 is added to the mean cost
 * @returns {number[]} [C]
 */
export function fitWeights(choices, start, penalties) {
  const laid = new Choices(choices, penalties);
  const size = (/** @type {number[]} */ step) => Math.max(...step.map((one, c) => Math.abs(one * laid.spread[c])));
  let weights = start;
  let before = laid.cost(weights);
  for (let round = 0; round < STEPS; round += 1) {
    const { gradient, curvature } = laid.slope(weights);
    let step = solve(curvature, gradient);
    let next = weights.map((weight, c) => weight - step[c]);
    let after = laid.cost(next);
    while (after > before + 1e-12 && size(step) > SMALL) { // far from the optimum a whole step can go uphill
      step = step.map((one) => one / 2);
      next = weights.map((weight, c) => weight - step[c]);
      after = laid.cost(next);
    }
    [weights, before] = [next, after];
    if (size(step) < SMALL) break;
  }
  return weights;
}

/**
 * Solves a system of linear equations by elimination; the matrix is positive definite.
 * @param {number[][]} matrix
 * @param {number[]} right
 * @returns {number[]}
 */
function solve(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  rows.forEach((pivot, c) => {
    for (let i = c + 1; i < rows.length; i += 1) {
      const factor = rows[i][c] / pivot[c];
      for (let j = c; j <= rows.length; j += 1) rows[i][j] -= factor * pivot[j];
    }
  });
  const found = right.map(() => 0);
  for (let c = rows.length - 1; c >= 0; c -= 1) {
    const known = found.reduce((sum, value, j) => (j > c ? sum + rows[c][j] * value : sum), 0);
    found[c] = (rows[c][rows.length] - known) / rows[c][c];
  }
  return found;
}

/** @param {number[]} values */
function deviation(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) + 1e-9;
}
