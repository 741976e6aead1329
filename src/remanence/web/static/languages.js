import { $, ask, complain, live, node, tell } from "./ask.js";
import { about, plot } from "./plot.js";

let T = [];
const names = "ABCDEFGH";
const again = live(question, 120);

async function question(signal) {
  try {
    tell($("connected"), "learning …");
    const found = await ask("/api/languages", { method: "POST", body: { T, scale: +$("scale").value, seed: 0 }, signal });
    const untaught = found.untaught.at(-1);
    tell($("connected"), found.connected
      ? `one piece: every pair can be reached, and the untaught ones are known with error ${untaught === null ? "–" : about(untaught)}`
      : `${found.components} pieces: nothing passes between them, and the untaught pairs keep error ${untaught.toPrecision(2)}`);
    for (const button of $("pairs").querySelectorAll("button")) {
      const [k, l] = [+button.dataset.k, +button.dataset.l], known = found.errors[k][l] < 0.01;
      button.className = known ? "known" : "unknown";
      button.textContent = T[k][l] ? "●" : known ? "✓" : "·";
      button.setAttribute("aria-label", `from ${names[l]} into ${names[k]}: ${T[k][l] ? "taught" : "not taught"}, ${known ? "known" : "not known"}`);
    }
    plot($("learning-plot"), { title: "Error while learning", x: "log₁₀ of the step", y: "squared error", logy: true, series: [
      { points: found.steps.map((s, n) => [Math.log10(s), Math.max(found.taught[n], 1e-12)]), name: "taught pairs", colour: 0 },
      { points: found.steps.map((s, n) => [Math.log10(s), found.untaught[n] === null ? null : Math.max(found.untaught[n], 1e-12)]), name: "untaught pairs", colour: 1, dash: true } ] });
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
