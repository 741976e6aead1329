import { $, ask, complain, live, tell } from "./ask.js";
import { plot } from "./plot.js";

const finite = (value) => (typeof value === "number" ? value : null);

const regime = (e) => (e === null ? "nothing is remembered" : Math.abs(e) < 0.01 ? "the edge: gradients neither fade nor explode" : e > 0 ? "chaos: gradients explode" : `gradients fade, by a factor e in ${(-1 / e).toFixed(0)} steps`);

// No more digits of the exponent than its error lets one believe.
const believed = (words) => words.replace(/([+-]?[\d.]+(?:e[+-]?\d+)?) ± ([\d.]+(?:e[+-]?\d+)?)/, (whole, value, error) => {
  const digits = Math.min(8, Math.max(0, -Math.floor(Math.log10(+error))));
  return +error > 0 ? `${+value < 0 ? "−" : "+"}${Math.abs(+value).toFixed(digits)} ± ${(+error).toFixed(digits)}` : whole;
});

async function question(signal) {
  const body = { radius: +$("radius").value, angle: +$("angle").value, coupling: +$("coupling").value, units: +$("units").value, seed: 0 };
  try {
    const found = await ask("/api/dynamics", { method: "POST", body, signal });
    tell($("verdict"), `${believed(found.verdict)}; ${regime(finite(found.exponents[0]))}`);
    plot($("spectrum-plot"), { title: "Lyapunov spectrum", x: "index", y: "exponent (nats/step)", series: [
      { points: found.residual.map((e, n) => [n + 1, finite(e)]), name: "residual alone", colour: 7, dots: true, dash: true },
      { points: found.exponents.map((e, n) => [n + 1, finite(e)]), name: "measured", colour: 0, dots: true } ] });
    plot($("orbit-plot"), { title: "Orbit", x: "first unit", y: "second unit", square: true, series: [{ points: found.orbit, colour: 0 }] });
    plot($("growth-plot"), { title: "Gradient", x: "steps", y: "log₁₀ of the gradient’s norm", series: [
      { points: found.growth.map((g, n) => [n, g]), colour: 1, name: "measured" },
      { points: found.growth.map((_, n) => [n, n * Math.log10(Math.max(body.radius, 1e-9))]), colour: 7, dash: true, name: "radius alone" } ] });
  } catch (error) { complain($("verdict"), error); }
}

export function start() {
  const again = live(question);
  for (const id of ["radius", "angle", "coupling", "units"]) $(id).addEventListener("input", again);
  again();
}
