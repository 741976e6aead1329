// h' = R h + γ tanh(W h), R of rotations by an angle with one radius: the exponents by QR.
//
// Below radius 1 the state stays within γ √N / (1 − r), so that a positive exponent there is
// chaos. Beyond it the state may run away, which is no chaos: once (r − 1) |h| > γ √N every
// step makes it longer. Errors are those of batch means, as measure/lyapunov/errors.py has them.
import { normal } from "./random.js";

const BATCHES = 24, EDGE = 0.01;
let kept;

export function weights(units, seed) {
  if (kept?.units !== units || kept.seed !== seed) {
    const draw = normal(seed);
    kept = { units, seed, W: Float64Array.from({ length: units * units }, () => draw() / Math.sqrt(units)) };
  }
  return kept.W;
}

// One step of the map at h, and of the frame Q, whose columns lie one behind the other.
function step(W, h, Q, columns, { radius, angle, coupling }) {
  const N = h.length, c = radius * Math.cos(angle), s = radius * Math.sin(angle), slope = new Float64Array(N), z = new Float64Array(N);
  for (let i = 0; i < N; i++) {
    let sum = 0;
    for (let j = 0, at = i * N; j < N; j++) sum += W[at + j] * h[j];
    z[i] = Math.tanh(sum); slope[i] = coupling * (1 - z[i] * z[i]);
  }
  const turned = (v, from, i) => (i % 2 ? s * v[from + i - 1] + c * v[from + i] : c * v[from + i] - s * v[from + i + 1]);
  const next = new Float64Array(N), q = new Float64Array(N);
  for (let i = 0; i < N; i++) next[i] = turned(h, 0, i) + coupling * z[i];
  for (let n = 0; n < columns; n++) {
    const from = n * N;
    for (let i = 0; i < N; i++) {
      let sum = 0;
      for (let j = 0, at = i * N; j < N; j++) sum += W[at + j] * Q[from + j];
      q[i] = turned(Q, from, i) + slope[i] * sum;
    }
    Q.set(q, from);
  }
  return next;
}

// The columns made orthonormal in place (Gram and Schmidt, modified); the logarithms of their lengths.
function factorise(Q, N, columns) {
  return Float64Array.from({ length: columns }, (_, n) => {
    const a = n * N;
    let square = 0;
    for (let i = 0; i < N; i++) square += Q[a + i] * Q[a + i];
    const length = Math.sqrt(square);
    if (length > 0) for (let i = 0; i < N; i++) Q[a + i] /= length;
    for (let m = n + 1; m < columns; m++) {
      const b = m * N;
      let dot = 0;
      for (let i = 0; i < N; i++) dot += Q[a + i] * Q[b + i];
      for (let i = 0; i < N; i++) Q[b + i] -= dot * Q[a + i];
    }
    return Math.log(length);
  });
}

// The mean of a series with its standard error; correlated neighbours count as fewer.
export function batchMean(series) {
  const size = Math.floor(series.length / BATCHES), sums = Array.from({ length: BATCHES }, (_, b) => series.slice(b * size, (b + 1) * size).reduce((x, y) => x + y, 0) / size);
  const mean = sums.reduce((x, y) => x + y, 0) / BATCHES, e = sums.map((x) => x - mean);
  const square = e.reduce((x, y) => x + y * y, 0);
  if (!(square > 1e-24)) return { mean, error: 0, effective: BATCHES };
  const rho = (e.slice(1).reduce((sum, x, n) => sum + x * e[n], 0) / (BATCHES - 1)) / (square / BATCHES);
  const believed = Math.min(0.95, Math.max(-1 / 3, rho + (1 + 3 * rho) / BATCHES));
  const alike = (1 + believed) / (1 - believed), effective = BATCHES / Math.max(alike, 1);
  return { mean, error: Math.sqrt((alike * square) / (BATCHES * (BATCHES - 1))) * (1 + (12 / Math.max(effective, 8)) ** 4), effective };
}

// asked: radius, angle, coupling, units, seed. Exponents with errors, orbit, and how a small difference grows.
export function spectrum(asked, steps = 300, columns = asked.units) {
  const N = asked.units, W = weights(N, asked.seed), draw = normal(1), warmup = Math.floor(steps / 5);
  let h = new Float64Array(N).fill(1 / Math.sqrt(N)), grown = 0;
  const Q = Float64Array.from({ length: N * columns }, draw), logs = Array.from({ length: columns }, () => []);
  factorise(Q, N, columns);
  const orbit = [[h[0], h[1]]], growth = [0];
  for (let t = 0; t < steps; t++) {
    h = step(W, h, Q, columns, asked);
    const lengths = factorise(Q, N, columns);
    if (!h.every(Number.isFinite)) break;
    grown += lengths[0]; growth.push(grown / Math.LN10); orbit.push([h[0], h[1]]);
    if (t >= warmup) lengths.forEach((log, n) => logs[n].push(log));
  }
  const found = logs.map(batchMean).sort((a, b) => b.mean - a.mean), top = found[0];
  const escaped = (asked.radius - 1) * Math.hypot(...h) > asked.coupling * Math.sqrt(N);
  return {
    exponents: found.map((f) => f.mean), errors: found.map((f) => f.error), orbit, growth, escaped,
    settled: top.effective >= 8 && top.error <= Math.max(0.3 * Math.abs(top.mean), 0.05),
    regime: regime(top.mean, top.error, escaped),
  };
}

// What the largest exponent means for memory, in words.
export function regime(exponent, error, escaped) {
  if (escaped) return "the state runs away: gradients explode, but this is no chaos";
  if (exponent === -Infinity) return "nothing is remembered";
  if (Math.abs(exponent) < Math.max(EDGE, 2 * error)) return "the edge: gradients neither fade nor explode";
  if (exponent > 0) return "chaos: the state stays bounded and gradients explode";
  return `gradients fade, by a factor e in ${(-1 / exponent).toFixed(0)} steps`;
}
