// Which pairs must be taught before all are known: W_o[k] W_h W_i[l] → I, learned by descent.
import { normal } from "./random.js";

const D = 4, STEPS = 1500, RATE = 0.05, MOMENTUM = 0.9;

const product = (A, B, sum) => {
  for (let i = 0; i < D; i++) for (let k = 0; k < D; k++) { const a = A[i * D + k]; for (let j = 0; j < D; j++) sum[i * D + j] += a * B[k * D + j]; }
  return sum;
};
const empty = () => new Float64Array(D * D);
const turned = (A) => A.map((_, n) => A[(n % D) * D + Math.floor(n / D)]);
const gapOf = (A, B, gap = empty()) => { gap.fill(0); product(A, B, gap); for (let i = 0; i < D; i++) gap[i * D + i] -= 1; return gap; };
const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null);

// Languages that taught pairs connect, as outputs and inputs of one graph: how many pieces.
export function pieces(T) {
  const L = T.length, name = Array.from({ length: 2 * L }, (_, n) => n);
  T.forEach((row, k) => row.forEach((taught, l) => { if (taught) { const [a, b] = [name[k], name[L + l]]; name.forEach((n, i) => { if (n === b) name[i] = a; }); } }));
  return new Set(name).size;
}

// Gradient descent with momentum; it starts over with half the step where it diverges.
export function learn(T, scale, seed) {
  for (let halvings = 0; halvings < 6; halvings++) {
    const found = descend(T, scale, seed, RATE * 0.5 ** halvings);
    if (found) return found;
  }
  throw new Error("the training diverged with every step size; choose a smaller scale");
}

function descend(T, scale, seed, rate) {
  const L = T.length, draw = normal(seed), matrix = () => empty().map(() => scale * draw());
  const outs = T.map(matrix), W = matrix(), ins = T.map(matrix), pull = empty();
  const all = [...outs, W, ...ins], speeds = all.map(empty);
  const pairs = T.flatMap((row, k) => row.flatMap((taught, l) => (taught ? [[k, l]] : []))), weight = L / pairs.length;
  const marks = new Set(Array.from({ length: 60 }, (_, n) => Math.floor(STEPS ** (n / 59))));
  const found = { steps: [], taught: [], untaught: [], errors: [] };
  for (let at = 1; at <= STEPS; at++) {
    const left = outs.map((o) => product(o, W, empty())), right = ins.map((i) => product(W, i, empty()));
    if (marks.has(at)) {
      found.errors = left.map((a) => ins.map((b) => gapOf(a, b).reduce((sum, x) => sum + x * x, 0) / D));
      const of = (kind) => found.errors.flatMap((row, k) => row.filter((_, l) => T[k][l] === kind));
      if (!(Math.max(...found.errors.flat()) < 1e3)) return null;
      found.steps.push(at); found.taught.push(mean(of(1))); found.untaught.push(mean(of(0)));
    }
    const slopes = all.map(empty), through = T.map(empty), [rights, inputs, lefts] = [right, ins, left].map((list) => list.map(turned));
    for (const [k, l] of pairs) {
      gapOf(left[k], ins[l], pull);
      for (let i = 0; i < D * D; i++) pull[i] *= weight;
      product(pull, rights[l], slopes[k]);
      product(pull, inputs[l], through[k]);
      product(lefts[k], pull, slopes[L + 1 + l]);
    }
    outs.forEach((o, k) => product(turned(o), through[k], slopes[L]));
    for (let n = 0; n < all.length; n++) for (let i = 0; i < D * D; i++) all[n][i] += speeds[n][i] = MOMENTUM * speeds[n][i] - rate * slopes[n][i];
  }
  return found;
}
