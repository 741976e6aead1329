import { $, ask, complain, live, tell } from "./ask.js";
import { plot } from "./plot.js";

const finite = (value) => (typeof value === "number" ? value : null);

// No more digits of the exponent than its error lets one believe; without an error, three.
const largest = (value, error) => {
  if (value === null) return "no exponent";
  const digits = error > 0 ? Math.min(8, Math.max(0, -Math.floor(Math.log10(error)))) : 3;
  const [size, spread] = [Math.abs(value).toFixed(digits), error > 0 ? ` ± ${error.toFixed(digits)}` : ""];
  return `largest exponent ${+size === 0 ? "" : value < 0 ? "−" : "+"}${size}${spread} nats a step`;
};

async function question(signal) {
  const body = { radius: +$("radius").value, angle: +$("angle").value, coupling: +$("coupling").value, units: +$("units").value, seed: 0 };
  try {
    const found = await ask("/api/dynamics", { method: "POST", body, signal });
    tell($("verdict"), `${largest(finite(found.exponents[0]), finite(found.errors[0]))}${found.converged ? "" : ", not settled yet"}; ${found.regime}`);
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
  $("dynamics-form").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["radius", "angle", "coupling", "units"]) $(id).addEventListener("input", again);
  again();
}
