import { $, ask, complain, live, node, tell } from "./ask.js";
import { plot } from "./plot.js";
import { about } from "./words.js";

let T = [];
const names = "ABCDEFGH";
const again = live(question, 120);

// A language that is nowhere taught into, or from, has nothing to learn by.
const idle = () => names.split("").slice(0, T.length).flatMap((name, n) => [
  ...(T[n].some(Boolean) ? [] : [`into ${name}`]), ...(T.some((row) => row[n]) ? [] : [`from ${name}`]) ]);

async function question(signal) {
  try {
    if (idle().length) throw new Error(`nothing is taught ${idle().join(" and nothing ")}: click a pair for it`);
    tell($("connected"), "learning …");
    const found = await ask("/api/languages", { method: "POST", body: { T, scale: +$("scale").value, seed: 0 }, signal });
    const untaught = found.untaught.at(-1);
    tell($("connected"), untaught === null ? "every pair is taught: nothing is left to be known without it" : found.connected
      ? `one piece: every pair can be reached, and the untaught ones are known with error ${about(untaught)}`
      : `${found.components} pieces: nothing passes between them, and the untaught pairs keep error ${untaught.toPrecision(2)}`);
    for (const button of $("pairs").querySelectorAll("button")) {
      const [k, l] = [+button.dataset.k, +button.dataset.l], known = found.errors[k][l] < 0.01;
      button.className = known ? "known" : "unknown";
      button.textContent = T[k][l] ? "●" : known ? "✓" : "·";
      button.setAttribute("aria-label", `from ${names[l]} into ${names[k]}: ${T[k][l] ? "taught" : "not taught"}, ${known ? "known" : "not known"}`);
    }
    plot($("learning-plot"), { title: "Error while learning", x: "step", y: "squared error", logx: true, logy: true, floor: 1e-12, series: [
      { points: found.steps.map((s, n) => [s, found.taught[n]]), name: "taught pairs", colour: 0 },
      { points: found.steps.map((s, n) => [s, found.untaught[n]]), name: "untaught pairs", colour: 1, dash: true } ].filter((s) => s.points.some(([, y]) => y !== null)) });
  } catch (error) { complain($("connected"), error); }
}

function draw() {
  const head = node("tr", {}, node("th", {}, ""), ...T.map((_, l) => node("th", { scope: "col" }, names[l])));
  const rows = T.map((row, k) => node("tr", {}, node("th", { scope: "row" }, names[k]), ...row.map((taught, l) => {
    const button = node("button", { type: "button", "aria-pressed": String(Boolean(taught)) }, taught ? "●" : "·");
    button.dataset.k = k; button.dataset.l = l;
    button.setAttribute("aria-label", `from ${names[l]} into ${names[k]}: ${taught ? "taught" : "not taught"}`);
    button.addEventListener("click", () => { T[k][l] = 1 - T[k][l]; button.setAttribute("aria-pressed", String(Boolean(T[k][l]))); button.textContent = T[k][l] ? "●" : "·"; again(); });
    return node("td", {}, button);
  })));
  $("pairs").replaceChildren(node("thead", {}, head), node("tbody", {}, ...rows));
  again();
}

const fill = (rule) => { const n = +$("count").value; T = Array.from({ length: n }, (_, k) => Array.from({ length: n }, (_, l) => (rule(k, l) ? 1 : 0))); draw(); };

export function start() {
  $("count").addEventListener("change", () => fill((k, l) => k === l));
  $("only").addEventListener("click", () => fill((k, l) => k === l));
  $("chain").addEventListener("click", () => fill((k, l) => k === l || l === k + 1));
  $("scale").addEventListener("input", again);
  fill((k, l) => k === l);
}
