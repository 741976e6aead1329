// A network that repeats a string, step by step, and what its orbit is made of.
import { normal } from "./random.js";

export const apply = (W, h) => W.map((row) => row.reduce((sum, w, j) => sum + w * h[j], 0));
const argmax = (v) => v.reduce((best, value, n) => (value > v[best] ? n : best), 0);
export const reading = ({ W_y, b_y }, h) => argmax(apply(W_y, h).map((value, i) => value + b_y[i]));
const step = (w, h, token) => {
  let next = apply(w.W_h, h);
  if (w.W_x) next = next.map((value, i) => value + w.W_x[i][token]);
  return w.activation === "tanh" ? next.map(Math.tanh) : next;
};
export const orbit = ({ weights: w, period }) => {
  const stops = [];
  for (let n = 0, h = w.h_0, token = w.first; n < period; n++) { h = step(w, h, token); token = reading(w, h); stops.push([h, token]); }
  return stops;
};

// One network on its way, and every symbol that it said.
export class Runner {
  constructor(network) { this.network = network; this.restart(); }
  restart() { this.states = [this.network.weights.h_0]; this.said = []; }
  // A kick of this length on average; the seed fixes it, so that all who race get the same numbers.
  advance(length, seed) {
    const w = this.network.weights, n = this.said.length;
    let h = step(w, this.states.at(-1), n ? this.said.at(-1) : w.first);
    if (length > 0) { const draw = normal(7919 * seed + n), size = length / Math.sqrt(h.length); h = h.map((value) => value + size * draw()); }
    this.states.push(h); this.said.push(reading(w, h));
  }
  back() { if (this.said.length > 1) { this.said.pop(); this.states.pop(); } }
  wrong(n) { return this.said[n] !== this.network.indices[n % this.network.period]; }
  get forgot() { return this.said.findIndex((_, n) => this.wrong(n)); }
}

// Any periodic orbit is a sum of circles, h(n) = c₀ + Σ_k Re(c_k e^{iωkn}): its frequencies by
// their share of the motion, and `place`, which finds a state's point on each circle.
export function circles(network) {
  const states = orbit(network).map(([h]) => h), p = states.length, d = states[0].length;
  const turn = (k, n) => (2 * Math.PI * ((k * n) % p)) / p;
  const centre = states[0].map((_, i) => states.reduce((sum, h) => sum + h[i], 0) / p), found = [];
  for (let k = 1; k <= p / 2; k++) {
    const size = 2 * k === p ? 1 / p : 2 / p;
    const [re, im] = [Math.cos, Math.sin].map((wave) => centre.map((_, i) => size * states.reduce((sum, h, n) => sum + wave(turn(k, n)) * h[i], 0)));
    const energy = [...re, ...(2 * k === p ? [] : im)].reduce((sum, x) => sum + x * x, 0);
    found.push({ k, energy, axes: 2 * k === p ? [re] : [re, im] });
  }
  const total = found.reduce((sum, f) => sum + f.energy, 0), kept = found.filter((f) => f.energy > 1e-9 * total);
  const B = kept.flatMap((f) => f.axes), inverse = solve(B.map((a, i) => B.map((b, j) => a.reduce((sum, x, n) => sum + x * b[n], 0) + (i === j ? 1e-9 * total : 0))), B);
  const place = (h) => { const all = inverse.map((row) => row.reduce((sum, w, i) => sum + w * (h[i] - centre[i]), 0)); let at = 0; return kept.map((f) => [all[at++], f.axes.length > 1 ? all[at++] : 0]); };
  return { frequencies: kept.map((f) => ({ k: f.k, share: f.energy / total })), place, dimension: d };
}

// G X = B by elimination with pivots.
function solve(G, B) {
  const rows = G.map((row, i) => [...row, ...B[i]]), n = G.length;
  for (let c = 0; c < n; c++) {
    const best = rows.slice(c).reduce((top, row, i) => (Math.abs(row[c]) > Math.abs(rows[top][c]) ? c + i : top), c);
    [rows[c], rows[best]] = [rows[best], rows[c]];
    for (let r = 0; r < n; r++) if (r !== c) { const f = rows[r][c] / rows[c][c]; if (f) for (let j = c; j < rows[r].length; j++) rows[r][j] -= f * rows[c][j]; }
  }
  return rows.map((row, i) => row.slice(n).map((x) => x / row[i]));
}
