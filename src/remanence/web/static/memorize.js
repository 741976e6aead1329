import { $, ask, complain, node, number, tell } from "./ask.js";
import { element } from "./plot.js";
import { about } from "./words.js";

let network, states, said, timer, drawn, asked;

const apply = (W, h) => W.map((row) => row.reduce((sum, w, j) => sum + w * h[j], 0));
const argmax = (v) => v.reduce((best, value, n) => (value > v[best] ? n : best), 0);
const gauss = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
const project = (h) => network.directions.map((d) => d.reduce((sum, w, j) => sum + w * (h[j] - network.centre[j]), 0));
const visible = (symbol) => (symbol === " " ? "␣" : symbol);
const readable = (proof) => proof.replace(/\d{1,3}(,\d{3}){3,}/g, (n) => about(Number(n.replaceAll(",", ""))));
const wanted = (n) => network.indices[n % network.period];

function advance() {
  const w = network.weights;
  const before = states.at(-1), token = said.length ? said.at(-1) : w.first;
  let h = apply(w.W_h, before);
  if (w.W_x) h = h.map((value, i) => value + w.W_x[i][token]);
  if (w.activation === "tanh") h = h.map(Math.tanh);
  const size = Number($("noise").value) * (typeof network.margin === "number" ? network.margin : 0) / Math.sqrt(h.length);
  if (size > 0) h = h.map((value) => value + size * gauss());
  states.push(h);
  said.push(argmax(apply(w.W_y, h).map((value, i) => value + w.b_y[i])));
}

function restart() {
  states = [network.weights.h_0]; said = [];
  advance(); render();
}

function regions(svg, radius) {
  const { W_y, b_y } = network.weights, cells = 240, flat = network.directions.length === 1;
  const colours = Array.from({ length: 8 }, (_, n) => getComputedStyle(document.documentElement).getPropertyValue(`--c${n}`));
  const canvas = document.createElement("canvas"); canvas.width = canvas.height = cells;
  const pen = canvas.getContext("2d");
  for (let i = 0; i < cells; i++) for (let j = 0; j < cells; j++) {
    const a = ((i + 0.5) / cells) * 2 - 1, b = flat ? 0 : 1 - ((j + 0.5) / cells) * 2;
    const h = network.centre.map((c, n) => c + radius * (a * network.directions[0][n] + (flat ? 0 : b * network.directions[1][n])));
    pen.fillStyle = colours[argmax(apply(W_y, h).map((value, n) => value + b_y[n])) % 8];
    pen.fillRect(i, j, 1, 1);
  }
  svg.append(element("image", { href: canvas.toDataURL(), x: -1.2, y: -1.2, width: 2.4, height: 2.4, opacity: 0.28, preserveAspectRatio: "none" }));
}

function scene() {
  const svg = $("orbit"), w = network.weights;
  let h = w.h_0, token = w.first, far = 1e-9;
  const stops = [];
  for (let n = 0; n < network.period; n++) {
    h = apply(w.W_h, h); if (w.W_x) h = h.map((v, i) => v + w.W_x[i][token]); if (w.activation === "tanh") h = h.map(Math.tanh);
    token = argmax(apply(w.W_y, h).map((v, i) => v + w.b_y[i]));
    const p = project(h); stops.push([p, token]); far = Math.max(far, ...p.map(Math.abs));
  }
  const radius = far * 1.35;
  svg.replaceChildren();
  regions(svg, radius);
  const at = (p) => [(p[0] / radius) * 1.2, -((p[1] ?? 0) / radius) * 1.2];
  svg.append(element("path", { d: stops.map(([p], n) => `${n ? "L" : "M"}${at(p).join(" ")}`).join("") + "Z", fill: "none", stroke: "var(--soft)", "stroke-width": 0.008 }));
  for (const [p, symbol] of stops) {
    const [x, y] = at(p);
    svg.append(element("circle", { cx: x, cy: y, r: 0.035, fill: `var(--c${symbol % 8})` }));
    svg.append(element("text", { x: x * 1.13, y: y * 1.13 + 0.03, "text-anchor": "middle", style: "font-size:.1px;font-weight:600" }, visible(network.alphabet[symbol])));
  }
  const dot = element("circle", { r: 0.06, fill: "none", stroke: "var(--ink)", "stroke-width": 0.022 });
  svg.append(dot);
  drawn = { dot, at };
  $("orbit-note").textContent = network.directions.length === 1 ? "One dimension: the coloured bands are what is read at each state."
    : network.dimension === 2 ? "The coloured regions are what the network says at each state."
    : "The two directions in which the state moves most; the regions are a slice through the orbit’s centre.";
}

function render() {
  const [x, y] = drawn.at(project(states.at(-1)));
  drawn.dot.setAttribute("cx", Math.max(-1.2, Math.min(1.2, x))); drawn.dot.setAttribute("cy", Math.max(-1.2, Math.min(1.2, y)));
  const first = Math.max(0, said.length - 120);
  $("said").replaceChildren(...said.slice(first).map((symbol, n) => {
    const wrong = symbol !== wanted(first + n), last = first + n === said.length - 1;
    return node("span", { class: `${wrong ? "wrong" : ""} ${last ? "now" : ""}` }, network.alphabet[symbol]);
  }));
  const wrong = said.findIndex((symbol, n) => symbol !== wanted(n));
  $("score").textContent = wrong < 0 ? `${said.length} ${said.length === 1 ? "symbol" : "symbols"}, all right` : `forgot at symbol ${wrong + 1} of ${said.length}`;
  $("back").disabled = said.length < 2;
}

const pause = () => { clearInterval(timer); timer = undefined; $("play").textContent = "Play"; };

function choose(row, text) {
  pause(); network = row;
  $("player").hidden = false;
  $("player-title").textContent = `${row.method}, ${row.dimension} ${row.dimension === 1 ? "unit" : "units"}`;
  $("weights").href = `/api/memorize/weights?${new URLSearchParams({ text, method: row.method })}`;
  scene(); restart();
}

function list(answer) {
  $("frontier").tBodies[0].replaceChildren(...answer.networks.map((row) => {
    if (row.refused) return node("tr", {}, node("th", { scope: "row" }, row.method), node("td", { colspan: "5", class: "soft" }, row.refused));
    const button = node("button", { type: "button" }, "Watch");
    button.setAttribute("aria-label", `Watch ${row.method}`);
    button.disabled = !row.weights;
    button.addEventListener("click", () => { choose(row, answer.text); $("player").scrollIntoView({ block: "nearest" }); });
    return node("tr", {}, node("th", { scope: "row" }, row.method), node("td", {}, button), node("td", { class: "number" }, row.dimension),
      node("td", { class: "number" }, number(row.exponent)), node("td", { class: "number" }, number(row.margin)),
      node("td", { class: "small" }, readable(row.proof)));
  }));
  const best = answer.networks.filter((row) => row.weights).sort((a, b) => a.dimension - b.dimension).find((row) => row.exponent === "-inf" || row.exponent <= 0);
  if (best) choose(best, answer.text); else $("player").hidden = true;
}

// The newest string wins, however long the one before it takes.
async function write() {
  const text = $("text").value;
  asked?.abort(); asked = new AbortController();
  tell($("memorize-status"), "writing …");
  try { list(await ask("/api/memorize", { method: "POST", body: { text }, signal: asked.signal })); tell($("memorize-status"), `networks that repeat “${text}”`); }
  catch (error) { complain($("memorize-status"), error); }
}

export function start() {
  $("memorize-form").addEventListener("submit", (event) => { event.preventDefault(); write(); });
  $("step").addEventListener("click", () => { pause(); advance(); render(); });
  $("back").addEventListener("click", () => { pause(); if (said.length > 1) { said.pop(); states.pop(); } render(); });
  $("restart").addEventListener("click", () => { pause(); restart(); });
  $("play").addEventListener("click", () => {
    if (timer) return pause();
    $("play").textContent = "Pause";
    timer = setInterval(() => { advance(); render(); if (said.length > 5000) pause(); }, 180);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (network) { scene(); render(); } });
  write();
}
