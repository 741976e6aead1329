// A network's file is sent, examined by the command in stages, and told in three numbers and two pictures.
import { ask, listen, silence } from "./ask.js";
import { $, complain, node, number, on, table, tell } from "./dom.js";
import { dropping, size } from "./files.js";
import { plot } from "./plot.js";
import { sample } from "./samples.js";
import { set } from "./state.js";

let chosen, given, config, shown, source;
const CHIEF = ["window", "remembers", "largest_exponent"];

function say() {
  const words = [chosen, config, $("source").value === "noise" ? undefined : given].filter(Boolean).map(size);
  if (words.length) tell($("checkup-status"), words.join("; "));
}
function choose(file, beside) { [chosen, config] = [file, beside]; $("examine").disabled = !file; say(); }
function takeInputs(kind, file) {
  $("source").value = kind; given = file;
  $("inputs-label").hidden = kind === "noise"; $("typed-label").hidden = kind !== "text";
  $("inputs").accept = kind === "npy" ? ".npy" : ".txt,text/plain";
  say();
}
// What was dropped may be the weights, the configuration of a Hugging Face folder, or the inputs.
function take(file, all) {
  const end = file.name.split(".").at(-1).toLowerCase();
  if (end === "json") { config = file; say(); } else if (end === "npy") takeInputs("npy", file); else if (end === "txt") takeInputs("text", file); else { set("checkup", "sample", ""); choose(file, [...all].find((other) => other.name.endsWith(".json"))); }
}

const large = (row) => node("div", {}, node("dt", {}, row.title), node("dd", {}, row.text.replace(/^-/, "−")), node("dd", { class: "small soft" }, row.meaning));
const finite = (values) => values.map((v) => (typeof v === "number" ? v : null));

// Of a language model there is no table: the window that half, most and all positions need.
const windows = ({ median, q95, worst }) => [["replay window, at half of positions", median], ["at 95 %", q95], ["at every position", worst]].map(([title, value]) => ({ title, text: `${number(value)} tokens`, meaning: "" }));

function fading(place, decay) {
  const [middle, low, high] = [50, 10, 90].map((q) => finite(decay[`quantile_${q}`])), last = Math.max(5, middle.findLastIndex((v) => v > 1e-6) + 2);
  plot(place, { title: "How the gradient fades", x: "lag (steps)", y: "relative to lag 0", logy: true, floor: 1e-6, series: [
    { points: middle.slice(0, last).map((v, n) => [n, v, low[n], high[n]]), name: "median, 10 to 90 %", colour: 0, band: true },
    { points: [[0, Math.exp(-1)], [last - 1, Math.exp(-1)]], name: "1/e", colour: 7, dash: true } ] });
}
const exponents = (place, x, name, points) => plot(place, { title: "Lyapunov exponents", x, y: "exponent (nats/step)", series: [{ points, name, colour: 0, dots: true }] });

// One network of the file: the sentence, the three numbers, the two pictures, the table folded.
function report(found) {
  const [left, right] = [node("div"), node("div")], { spectrum, gradient_decay: decay, layers } = found;
  const chief = found.table ? CHIEF.map((name) => found.table.find((row) => row.name === name)).filter(Boolean) : windows(found.replay);
  const rows = (found.table ?? []).map(({ title, text, meaning }) => node("tr", {}, node("th", { scope: "row" }, title), node("td", { class: "number" }, text), node("td", { class: "small" }, meaning)));
  $("checkup-result").append(node("section", {}, node("h3", {}, found.name), node("p", { class: "sentence" }, `${found.verdict[0].toUpperCase()}${found.verdict.slice(1)}.`), node("dl", { class: "large" }, ...chief.map(large)),
    node("div", { class: "two" }, left, right), ...(rows.length ? [node("details", {}, node("summary", {}, "Every figure"), table(`Figures of ${found.name}`, ["figure", "value", "what it means"], rows))] : [])));
  if (decay) fading(left, decay);
  if (spectrum) exponents(right, "index", "with 95 % interval", finite(spectrum.exponents).map((e, n) => [n + 1, e, finite(spectrum.low_95)[n], finite(spectrum.high_95)[n]]));
  if (layers) exponents(left, "layer", "one a channel", layers.flatMap((layer) => finite([layer.exponents].flat()).map((e) => [layer.layer, e])));
}
function finish(id, answer) {
  $("checkup-result").replaceChildren(node("p", {}, node("a", { href: `/checkups/${id}.html`, target: "_blank", rel: "noopener" }, "Open the whole page"), " · ",
    node("a", { href: `/checkups/${id}.html`, download: "checkup.html" }, "Keep it")));
  for (const found of answer.checkups ?? [answer]) report(found);
}

function follow(id) {
  const begun = performance.now(), stages = $("stages");
  let last = "starting";
  shown = id; source?.close();
  stages.replaceChildren(); $("checkup-result").replaceChildren();
  $("examine").disabled = true; $("cancel-checkup").hidden = false;
  const clock = setInterval(() => { if (source.readyState === EventSource.OPEN) tell($("checkup-status"), `${stages.lastChild ? "examining" : "starting"} (${((performance.now() - begun) / 1000).toFixed(0)} s)`); }, 300);
  const over = () => { clearInterval(clock); $("examine").disabled = !chosen; $("cancel-checkup").hidden = true; };
  source = listen(id, {
    line: (words) => {
      if (!words.trim()) return;
      for (const stage of stages.children) stage.className = "done";
      stages.append(node("li", { class: "now" }, last = words.trim()));
    },
    end: (state, answer) => {
      over();
      if (state === "done" && (answer?.verdict || answer?.checkups)) { tell($("checkup-status"), `done in ${((performance.now() - begun) / 1000).toFixed(0)} s`); stages.replaceChildren(); finish(id, answer); }
      else if (state === "cancelled") tell($("checkup-status"), "cancelled");
      else { stages.lastChild?.remove(); complain($("checkup-status"), new Error(last)); }
    },
    quiet: (lost) => { if (lost) over(); complain($("checkup-status"), silence(lost)); },
  });
}

async function examine() {
  const kind = $("source").value, inputs = kind === "noise" ? undefined : given ?? (kind === "text" && $("typed").value ? new Blob([$("typed").value]) : undefined);
  if (kind !== "noise" && !inputs) return complain($("checkup-status"), new Error(kind === "text" ? "type a text or choose a file" : "choose a .npy file"));
  const asked = { name: config ? chosen.name.replace(/\.\w+$/, "") : chosen.name, steps: $("steps").value, source: kind, weights: chosen.size, config: config?.size ?? 0 };
  $("checkup-result").replaceChildren(); $("stages").replaceChildren(); $("examine").disabled = true;
  try {
    for (;;) {
      try { const job = await ask(`/api/checkup?${new URLSearchParams(asked)}`, { method: "POST", body: new Blob([chosen, config, inputs].filter(Boolean)) }); set("checkup", "job", job.id); return follow(job.id); }
      // Somebody else's work comes first; it takes seconds, or can be seen among the studies.
      catch (problem) { if (problem.status !== 409) throw problem; tell($("checkup-status"), `waiting: ${problem.message}`); await new Promise((go) => setTimeout(go, 1000)); }
    }
  } catch (problem) { $("examine").disabled = false; complain($("checkup-status"), problem); }
}

export function update(changed) {
  if (changed === "sample" || !changed) {
    const made = sample($("sample").value);
    if (made) choose(made); else if (changed) choose(undefined);
    if (changed) set("checkup", "job", "");
  }
  if (changed === "source" || !changed) { $("inputs").value = ""; takeInputs($("source").value, undefined); }
  // A reload or a shared link finds the checkup again; an example is examined at once.
  const job = $("job").value;
  if (job && job !== String(shown)) follow(job);
  else if (!job && $("sample").value && !changed) examine();
}
export function start() {
  dropping("drop", "file", take);
  on("inputs", "change", () => takeInputs($("source").value, $("inputs").files[0]));
  on("checkup-form", "submit", examine);
  on("cancel-checkup", "click", () => ask(`/api/jobs/${shown}`, { method: "DELETE" }).catch((problem) => complain($("checkup-status"), problem)));
}
