// A memory as a picture: in one or two dimensions the regions in which each symbol is read,
// above them one circle a frequency, since no slice through more dimensions holds the orbit.
import { element, node } from "./dom.js";
import { circles, orbit, reading } from "./memory.js";

const MOST = 12, PALETTE = 7;
const SHAPES = [
  [[1, 0], [0.71, 0.71], [0, 1], [-0.71, 0.71], [-1, 0], [-0.71, -0.71], [0, -1], [0.71, -0.71]], [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  [[0, -1.15], [1.05, 0.75], [-1.05, 0.75]], [[0, -1.2], [0.9, 0], [0, 1.2], [-0.9, 0]], [[-1, -0.6], [1, -0.6], [1, 0.6], [-1, 0.6]],
  [[-1.05, -0.75], [1.05, -0.75], [0, 1.15]], [[-0.35, -1.1], [0.35, -1.1], [0.35, -0.35], [1.1, -0.35], [1.1, 0.35], [0.35, 0.35], [0.35, 1.1], [-0.35, 1.1], [-0.35, 0.35], [-1.1, 0.35], [-1.1, -0.35], [-0.35, -0.35]],
  [[-0.6, -1], [0.6, -1], [0.6, 1], [-0.6, 1]], [[-1.2, 0], [0, -0.6], [1.2, 0], [0, 0.6]],
];
// No two symbols look alike: up to seven have the page's colours, more have hues of their own and other shapes.
export const look = (symbol, count) => ({
  colour: count <= PALETTE ? `var(--c${symbol})` : `oklch(${[0.5, 0.62, 0.74][symbol % 3]} 0.15 ${((360 * symbol) / count).toFixed(0)})`,
  shape: Math.floor(symbol / PALETTE) % SHAPES.length,
});
function marker(symbol, count, x, y, r) {
  const { colour, shape } = look(symbol, count), corners = SHAPES[shape].map(([a, b]) => `${(x + r * a).toFixed(4)} ${(y + r * b).toFixed(4)}`);
  return shape ? element("path", { class: "symbol", d: `M${corners.join("L")}Z`, fill: colour }) : element("circle", { class: "symbol", cx: x, cy: y, r, fill: colour });
}
const visible = (symbol) => (symbol === " " ? "␣" : symbol);
// Which look means which symbol.
export const legend = (alphabet) => alphabet.map((symbol, n) => node("span", {}, element("svg", { viewBox: "-1.3 -1.3 2.6 2.6", "aria-hidden": "true" }, marker(n, alphabet.length, 0, 0, 1)), visible(symbol)));
const letter = (words, x, y, size) => element("text", { x, y: y + 0.35 * size, "text-anchor": "middle", style: `font-size:${size}px;font-weight:600` }, words);
const ring = (r) => element("circle", { class: "state", r, "stroke-width": r / 2.6 });
const inside = (v) => Math.max(-1.18, Math.min(1.18, v));

// Draws into the svg; what is returned moves the ring to a state.
export function picture(svg, network) {
  svg.replaceChildren();
  return network.dimension <= 2 ? plane(svg, network) : wheels(svg, network);
}

function plane(svg, network) {
  const stops = orbit(network), far = Math.max(1e-9, ...stops.flatMap(([h]) => h.map(Math.abs))) * 1.3, flat = network.dimension === 1;
  const at = ([a, b = 0]) => [(a / far) * 1.2, (-b / far) * 1.2];
  svg.append(regions(network, far, flat));
  svg.append(element("path", { d: `M${stops.map(([h]) => at(h).join(" ")).join("L")}Z`, fill: "none", stroke: "var(--soft)", "stroke-width": 0.007, opacity: stops.length > 30 ? 0.4 : 1 }));
  const size = Math.min(0.1, 2.2 / stops.length + 0.03);
  for (const [n, [h, symbol]] of stops.entries()) {
    const [x, y] = at(h), out = flat ? [0, n % 2 ? 0.12 : -0.12] : [x * 0.11, y * 0.11];
    svg.append(marker(symbol, network.alphabet.length, x, y, 0.035), letter(visible(network.alphabet[symbol]), x + out[0], y + out[1], size));
  }
  const dot = ring(0.06);
  svg.append(dot);
  return { note: flat ? "One dimension: the bands are what is read at each state." : "The regions are what the network says at each state.",
    move: (h) => { const [x, y] = at(h); dot.setAttribute("cx", inside(x)); dot.setAttribute("cy", inside(y)); } };
}
function regions(network, far, flat) {
  const cells = 200, canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  canvas.width = canvas.height = cells;
  const style = getComputedStyle(document.documentElement), colours = network.alphabet.map((_, n, all) => look(n, all.length).colour.replace(/var\((.*)\)/, (_, name) => style.getPropertyValue(name)));
  for (let i = 0; i < cells; i++) {
    for (let j = 0; j < (flat ? 1 : cells); j++) {
      const [a, b] = [((i + 0.5) / cells) * 2 - 1, 1 - ((j + 0.5) / cells) * 2].map((v) => v * far);
      pen.fillStyle = colours[reading(network.weights, flat ? [a] : [a, b])];
      pen.fillRect(i, flat ? 0 : j, 1, flat ? cells : 1);
    }
  }
  return element("image", { href: canvas.toDataURL(), x: -1.2, y: -1.2, width: 2.4, height: 2.4, opacity: 0.28, preserveAspectRatio: "none" });
}

function wheels(svg, network) {
  const { frequencies, place } = circles(network), stops = orbit(network), p = stops.length;
  const order = frequencies.map((f, n) => n).sort((a, b) => frequencies[b].share - frequencies[a].share).slice(0, MOST).sort((a, b) => a - b);
  const columns = order.length < 2 ? 1 : order.length <= 4 ? 2 : order.length <= 9 ? 3 : 4, rows = Math.ceil(order.length / columns), cell = 2.4 / columns, top = -(rows * cell) / 2;
  const radius = cell * 0.36, dots = [];
  for (const [n, which] of order.entries()) {
    const { k, share } = frequencies[which], cx = -1.2 + (n % columns + 0.5) * cell, cy = top + (Math.floor(n / columns) + 0.54) * cell;
    svg.append(element("circle", { class: "wheel", cx, cy, r: radius, "stroke-width": 0.006 }), letter(`${k}/${p} · ${Math.round(100 * share)} %`, cx, cy - cell * 0.45, Math.min(0.075, cell * 0.085)));
    const stacked = new Map();
    for (const [m, [, symbol]] of stops.entries()) {
      const spot = (k * m) % p, turn = (2 * Math.PI * spot) / p, r = radius * (1 - 0.14 * (stacked.get(spot) ?? 0));
      stacked.set(spot, (stacked.get(spot) ?? 0) + 1);
      svg.append(marker(symbol, network.alphabet.length, cx + r * Math.cos(turn), cy - r * Math.sin(turn), Math.min(0.05 * cell, (2.4 * radius) / p + 0.008)));
      if (p <= 16 && columns < 3) svg.append(letter(visible(network.alphabet[symbol]), cx + (r - 0.13 * cell) * Math.cos(turn), cy - (r - 0.13 * cell) * Math.sin(turn), cell * 0.07));
    }
    const dot = ring(Math.min(0.06, 0.075 * cell));
    svg.append(dot); dots.push([dot, which, cx, cy]);
  }
  const more = frequencies.length - order.length;
  return { note: `${network.dimension} dimensions: one circle a frequency (turns a period, share of the motion)${more ? `, the ${MOST} strongest of ${frequencies.length}` : ""}. Symbols at one place are stacked inwards.`,
    move: (h) => {
      const found = place(h);
      for (const [dot, which, cx, cy] of dots) { const [a, b] = found[which]; dot.setAttribute("cx", cx + radius * Math.max(-1.3, Math.min(1.3, a))); dot.setAttribute("cy", cy - radius * Math.max(-1.3, Math.min(1.3, b))); }
    } };
}
