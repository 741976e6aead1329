// The edge of chaos by hand: everything is computed here, within the frame that draws it.
import { $, on, tell } from "./dom.js";
import { plot } from "./plot.js";
import { spectrum } from "./spectrum.js";
import { set } from "./state.js";

const QUICK = 300, LONG = 1500, COLUMNS = 32, ROWS = 24;
const RANGE = [0, 4, 0.1, 1.2]; // coupling and radius on the map, as the sliders have them
let frame, later, map, where;

const asked = () => Object.fromEntries(["radius", "angle", "coupling", "units", "seed"].map((id) => [id, +$(id).value]));

// No more digits of the exponent than its error lets one believe; without an error, three.
const largest = (value, error) => {
  const digits = error > 1e-9 ? Math.min(8, Math.max(0, -Math.floor(Math.log10(error)))) : 3;
  const [size, spread] = [Math.abs(value).toFixed(digits), error > 1e-9 ? ` ± ${error.toFixed(digits)}` : ""];
  return `largest exponent ${+size === 0 ? "" : value < 0 ? "−" : "+"}${size}${spread} nats a step`;
};

function draw(steps) {
  const q = asked(), found = spectrum(q, steps), alone = Math.log(q.radius);
  tell($("verdict"), `${largest(found.exponents[0], found.errors[0])}${found.settled ? "" : ", not settled yet"}; ${found.regime}`);
  plot($("spectrum-plot"), { title: "Lyapunov spectrum", x: "index", y: "exponent (nats/step)", series: [
    { points: found.exponents.map((_, n) => [n + 1, alone]), name: "residual alone", colour: 7, dots: true, dash: true },
    { points: found.exponents.map((e, n) => [n + 1, e, e - found.errors[n], e + found.errors[n]]), name: "measured", colour: 0, dots: true } ] });
  plot($("orbit-plot"), { title: "Orbit", x: "first unit", y: "second unit", square: true, series: [{ points: found.orbit.slice(0, QUICK + 1), colour: 0 }] });
  plot($("growth-plot"), { title: "A small difference", x: "steps", y: "log₁₀ of its length", series: [
    { points: found.growth.slice(0, QUICK + 1).map((g, n) => [n, g]), colour: 1, name: "measured" },
    { points: [[0, 0], [QUICK, (QUICK * alone) / Math.LN10]], colour: 7, dash: true, name: "radius alone" } ] });
  drawMap(q);
}

// The largest exponent over coupling and radius, row by row while nothing else happens.
function drawMap(q) {
  const key = `${q.angle} ${q.units} ${q.seed} ${matchMedia("(prefers-color-scheme: dark)").matches}`;
  if (map?.key !== key) {
    clearTimeout(map?.timer);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [COLUMNS, ROWS];
    map = { key, canvas, row: 0, href: map?.href, timer: setTimeout(fillRow, 60, q) };
  }
  where = plot($("map-plot"), { title: "The map", x: "coupling", y: "radius", range: RANGE, image: map.href, series: [{ points: [[q.coupling, q.radius]], dots: true, here: true, name: "you are here" }] });
}
function fillRow(q) {
  const pen = map.canvas.getContext("2d"), radius = RANGE[3] - ((map.row + 0.5) / ROWS) * (RANGE[3] - RANGE[2]);
  const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(`--${name}`);
  for (let n = 0; n < COLUMNS; n++) {
    const coupling = ((n + 0.5) / COLUMNS) * RANGE[1], { exponents: [top], escaped } = spectrum({ ...q, radius, coupling }, 160, 1);
    pen.globalAlpha = escaped ? 0.55 : Math.min(0.85, Math.abs(top) < 0.01 ? 0 : 0.12 + Math.abs(top) * (top > 0 ? 2 : 0.9));
    pen.fillStyle = colour(escaped ? "c7" : top > 0 ? "c1" : "c0");
    pen.fillRect(n, map.row, 1, 1);
  }
  if (++map.row < ROWS) map.timer = setTimeout(fillRow, 0, q);
  else { map.href = map.canvas.toDataURL(); drawMap(asked()); }
}

export function update() {
  clearTimeout(later); cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => draw(QUICK));
  later = setTimeout(draw, 350, LONG); // when the hand rests, measured for longer
}
export function start() {
  on("map-plot", "click", (event) => {
    const [coupling, radius] = where(event);
    for (const [id, value] of [["coupling", coupling], ["radius", radius]]) set("dynamics", id, value);
    update();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
}
