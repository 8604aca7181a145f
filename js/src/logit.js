// A conditional logit: the weights under which the alternatives that were chosen are likeliest.
//
// Each choice has some alternatives, and each alternative a row of values; the first was chosen. The softmax of the
// weighted sums is their probability. The cost is convex in the weights, so a few Newton steps solve it.

const STEPS = 30;
const SMALL = 1e-6; // a step that is as good as none

/**
 * The weights of least cost, by Newton steps that are halved where they go uphill.
 * @param {number[][][]} choices for each, for each alternative, [C] values
 * @param {number[]} start [C]
 * @param {number[]} penalties [C]; penalty * (weight - 1)^2 is added to the mean cost
 * @returns {number[]} [C]
 */
export function fitWeights(choices, start, penalties) {
  const spread = deviations(choices.flat());
  const size = (/** @type {number[]} */ step) => Math.max(...step.map((one, c) => Math.abs(one * spread[c])));
  let weights = start;
  let before = cost(choices, weights, penalties);
  for (let round = 0; round < STEPS; round += 1) {
    const { gradient, curvature } = slope(choices, weights, penalties);
    let step = solve(curvature, gradient);
    let next = weights.map((weight, c) => weight - step[c]);
    let after = cost(choices, next, penalties);
    while (after > before + 1e-12 && size(step) > SMALL) { // far from the optimum a whole step can go uphill
      step = step.map((one) => one / 2);
      next = weights.map((weight, c) => weight - step[c]);
      after = cost(choices, next, penalties);
    }
    [weights, before] = [next, after];
    if (size(step) < SMALL) break;
  }
  return weights;
}

/**
 * The probability of every alternative of a choice.
 * @param {number[][]} rows
 * @param {number[]} weights
 * @returns {number[]}
 */
function shares(rows, weights) {
  const scores = rows.map((row) => row.reduce((sum, value, c) => sum + value * weights[c], 0));
  const highest = Math.max(...scores);
  const mass = scores.map((score) => Math.exp(score - highest));
  const total = mass.reduce((sum, one) => sum + one, 0);
  return mass.map((one) => one / total);
}

/**
 * Mean cross-entropy of what was chosen, in nats, and what the prior adds.
 * @param {number[][][]} choices
 * @param {number[]} weights
 * @param {number[]} penalties
 * @returns {number}
 */
function cost(choices, weights, penalties) {
  const sum = choices.reduce((total, rows) => total - Math.log(Math.max(shares(rows, weights)[0], 1e-300)), 0);
  return penalties.reduce((total, penalty, c) => total + penalty * (weights[c] - 1) ** 2, sum / choices.length);
}

/**
 * Gradient and curvature of the cost.
 * @param {number[][][]} choices
 * @param {number[]} weights
 * @param {number[]} penalties
 * @returns {{gradient: number[], curvature: number[][]}}
 */
function slope(choices, weights, penalties) {
  const gradient = penalties.map((penalty, c) => 2 * penalty * (weights[c] - 1));
  const curvature = penalties.map((penalty, c) => penalties.map((_, d) => (c === d ? 2 * penalty : 0)));
  for (const rows of choices) {
    const likely = shares(rows, weights);
    const mean = weights.map((_, c) => rows.reduce((sum, row, i) => sum + likely[i] * row[c], 0));
    mean.forEach((value, c) => { gradient[c] += (value - rows[0][c]) / choices.length; });
    rows.forEach((row, i) => {
      const centred = row.map((value, c) => value - mean[c]);
      for (let c = 0; c < centred.length; c += 1) {
        for (let d = 0; d < centred.length; d += 1) curvature[c][d] += (likely[i] * centred[c] * centred[d]) / choices.length;
      }
    });
  }
  return { gradient, curvature };
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

/**
 * The standard deviation of every column.
 * @param {number[][]} rows
 * @returns {number[]}
 */
function deviations(rows) {
  return rows[0].map((_, c) => {
    const mean = rows.reduce((sum, row) => sum + row[c], 0) / rows.length;
    return Math.sqrt(rows.reduce((sum, row) => sum + (row[c] - mean) ** 2, 0) / rows.length) + 1e-9;
  });
}
