// Small networks to try, drawn here and written as safetensors with torch's names.
import { normal } from "./random.js";

const drawn = (rows, columns, scale, draw) => Float32Array.from({ length: rows * columns }, () => scale * draw());
// Pairs of units that turn by different angles and shrink by one radius.
const turning = (units, radius) => {
  const W = new Float32Array(units * units);
  for (let i = 0; i < units; i += 2) {
    const angle = 0.3 + (2.4 * i) / units, c = radius * Math.cos(angle), s = radius * Math.sin(angle);
    W.set([c, -s], i * units + i); W.set([s, c], (i + 1) * units + i);
  }
  return W;
};
function layer(gates, units, inputs, n, { gain = 1, forget = 0, W, draw }) {
  const size = gates * units, scale = 1 / Math.sqrt(units), bias = new Float32Array(size);
  if (forget) bias.fill(forget, units, 2 * units); // torch's second gate of an LSTM
  return { [`rnn.weight_ih_l${n}`]: [[size, inputs], drawn(size, inputs, scale, draw)], [`rnn.weight_hh_l${n}`]: [[size, units], W ?? drawn(size, units, gain * scale, draw)],
    [`rnn.bias_ih_l${n}`]: [[size], bias], [`rnn.bias_hh_l${n}`]: [[size], new Float32Array(size)] };
}
const kinds = {
  fading: (draw) => layer(1, 16, 2, 0, { gain: 0.6, draw }),
  turning: (draw) => layer(1, 16, 2, 0, { W: turning(16, 0.99), draw }),
  chaotic: (draw) => layer(1, 32, 2, 0, { gain: 2.5, draw }),
  lstm: (draw) => layer(4, 16, 2, 0, { gain: 0.5, forget: 3, draw }),
  gru: (draw) => layer(3, 16, 2, 0, { draw }),
  deep: (draw) => ({ ...layer(4, 8, 2, 0, { draw }), ...layer(4, 8, 8, 1, { draw }), "head.weight": [[2, 8], drawn(2, 8, 0.35, draw)], "head.bias": [[2], new Float32Array(2)] }),
};

// The file: the length of the header, the header as JSON, then the numbers.
function safetensors(tensors) {
  const header = {}, parts = [];
  let at = 0;
  for (const [name, [shape, values]] of Object.entries(tensors)) { header[name] = { dtype: "F32", shape, data_offsets: [at, at + values.byteLength] }; parts.push(values); at += values.byteLength; }
  const words = JSON.stringify(header), length = new DataView(new ArrayBuffer(8));
  length.setBigUint64(0, BigInt(words.length), true);
  return [length.buffer, words, ...parts];
}
export const sample = (kind) => kinds[kind] && new File(safetensors(kinds[kind](normal(5))), `${kind}.safetensors`);
