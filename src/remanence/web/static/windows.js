// How much a window leaves out: the error that is proved and the one that is measured, for every length.
import { ask, newest } from "./ask.js";
import { $, complain, number, on, tell } from "./dom.js";
import { dropping, size } from "./files.js";
import { plot } from "./plot.js";
import { set } from "./state.js";

let uploaded;
const error = () => 10 ** +$("allowed").value;

function draw(found) {
  const lines = [
    { points: found.windows.map((k, n) => [k, found.proved[n]]), name: "proved", colour: 1, dash: true },
    { points: found.windows.map((k, n) => [k, found.measured[n]]), name: "measured", colour: 0 },
    { points: [[found.windows[0], error()], [found.windows.at(-1), error()]], name: "allowed", colour: 7, dash: true } ];
  plot($("windows-plot"), { title: "What a window leaves out", x: "window k (steps)", y: `error of the ${found.of}`, logy: true, floor: 1e-12, height: 380, series: lines.filter((s) => s.points.some(([, v]) => v !== null)) });
  $("proved-window").textContent = found.proved_window?.toLocaleString("en") ?? "none";
  $("measured-window").textContent = found.measured_window?.toLocaleString("en") ?? "none";
  $("rate").textContent = number(found.rate);
  tell($("windows-status"), `${found.network}: ${found.sentence}`);
}
const question = newest(async (signal) => {
  const drawn = { kind: $("kind").value, units: +$("window-units").value, gain: +$("gain").value, seed: +$("window-seed").value, error: error() };
  tell($("windows-status"), uploaded ? `reading ${size(uploaded)} …` : "measuring …");
  try {
    draw(await (uploaded ? ask(`/api/windows/file?${new URLSearchParams({ name: uploaded.name, error: error() })}`, { method: "POST", body: uploaded, signal })
      : ask("/api/windows", { method: "POST", body: drawn, signal })));
  } catch (problem) { complain($("windows-status"), problem); }
}, 120);

export function update(changed) {
  // A file cannot stand in an address: who changes the drawn network, or reloads, sees that one.
  if (!changed || changed !== "error") { uploaded = undefined; $("window-file").value = ""; }
  $("allowed").parentElement.querySelector("output").textContent = `10${$("allowed").value === "0" ? "⁰" : `⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[-$("allowed").value]}`}`;
  question();
}
export function start() {
  dropping("window-drop", "window-file", (file) => { uploaded = file; question(); });
  on("drawn-again", "click", () => { set("windows", "window-seed", +$("window-seed").value + 1); update("seed"); });
}
