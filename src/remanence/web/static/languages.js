// Pairs of languages that are taught, and what a small network learns from them: computed here.
import { $, complain, node, on, tell } from "./dom.js";
import { learn, pieces } from "./learning.js";
import { plot } from "./plot.js";
import { set } from "./state.js";
import { about } from "./words.js";

const names = "ABCDEFGH";
let T = [], frame;

// The field holds the rows of T as digits, one group a language.
const read = (text) => {
  const rows = text.split("-").slice(0, 8).map((row) => [...row].map((digit) => (digit === "1" ? 1 : 0)));
  return rows.length > 1 && rows.every((row) => row.length === rows.length) ? rows : null;
};
const write = (rows) => { set("languages", "taught", rows.map((row) => row.join("")).join("-")); update(); };
const filled = (rule) => { const n = +$("count").value; write(Array.from({ length: n }, (_, k) => Array.from({ length: n }, (_, l) => (rule(k, l) ? 1 : 0)))); };

// A language that is nowhere taught into, or from, has nothing to learn by.
const idle = () => names.split("").slice(0, T.length).flatMap((name, n) => [
  ...(T[n].some(Boolean) ? [] : [`into ${name}`]), ...(T.some((row) => row[n]) ? [] : [`from ${name}`]) ]);

function study() {
  try {
    if (idle().length) throw new Error(`nothing is taught ${idle().join(" and nothing ")}: click a pair for it`);
    const found = learn(T, +$("scale").value, +$("start").value), untaught = found.untaught.at(-1), count = pieces(T);
    tell($("connected"), untaught === null ? "every pair is taught: nothing is left to be known without it" : count === 1
      ? `one piece: every pair can be reached, and the untaught ones are known with error ${about(untaught)}`
      : `${count} pieces: nothing passes between them, and the untaught pairs keep error ${untaught.toPrecision(2)}`);
    for (const button of $("pairs").querySelectorAll("button")) mark(button, found.errors[button.dataset.k][button.dataset.l] < 0.01);
    plot($("learning-plot"), { title: "Error while learning", x: "step", y: "squared error", logx: true, logy: true, floor: 1e-12, height: 320, series: [
      { points: found.steps.map((s, n) => [s, found.taught[n]]), name: "taught pairs", colour: 0 },
      { points: found.steps.map((s, n) => [s, found.untaught[n]]), name: "untaught pairs", colour: 1, dash: true } ].filter((s) => s.points.some(([, y]) => y !== null)) });
  } catch (error) { complain($("connected"), error); }
}

function mark(button, known) {
  const { k, l } = button.dataset, taught = T[k][l];
  button.className = known === undefined ? "" : known ? "known" : "unknown";
  button.textContent = taught ? "●" : known ? "✓" : "·";
  button.setAttribute("aria-pressed", String(Boolean(taught)));
  button.setAttribute("aria-label", `from ${names[l]} into ${names[k]}: ${taught ? "taught" : "not taught"}${known === undefined ? "" : known ? ", known" : ", not known"}`);
}

function grid() {
  const head = node("tr", {}, node("td", {}), ...T.map((_, l) => node("th", { scope: "col" }, names[l])));
  const rows = T.map((row, k) => node("tr", {}, node("th", { scope: "row" }, names[k]), ...row.map((_, l) => {
    const button = node("button", { type: "button", "data-k": k, "data-l": l });
    mark(button);
    button.addEventListener("click", () => { const rows = T.map((r) => [...r]); rows[k][l] = 1 - rows[k][l]; write(rows); });
    return node("td", {}, button);
  })));
  $("pairs").replaceChildren(node("thead", {}, head), node("tbody", {}, ...rows));
}

export function update() {
  const size = T.length;
  T = read($("taught").value) ?? read($("taught").defaultValue);
  $("count").value = T.length;
  if (T.length !== size) grid();
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(study);
}
export function start() {
  on("count", "change", () => filled((k, l) => k === l));
  on("only", "click", () => filled((k, l) => k === l));
  on("chain", "click", () => filled((k, l) => k === l || l === k + 1));
  on("star", "click", () => filled((k, l) => k === l || k === 0));
}
