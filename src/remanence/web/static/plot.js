// A small plot in SVG: lines, points, axes with labels, and a table for those who cannot see it.
import { numbers } from "./numbers.js";
import { shown, ten } from "./words.js";

const NS = "http://www.w3.org/2000/svg";
export const element = (name, attributes = {}, text = "") => {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== "") made.textContent = text;
  return made;
};
const nice = (low, high) => {
  const rough = (high - low) / 4 || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const ticks = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) ticks.push(Math.abs(t) < step * 1e-9 ? 0 : t);
  return ticks;
};

// series: [{points: [[x, y], …], name, colour, dots, dash}]
// On a logarithmic axis what lies below `floor` is drawn on it, and the axis says so.
export function plot(place, { title, x, y, series, logx = false, logy = false, floor = 0, square = false }) {
  // As wide as its place, so that a phone shows letters as large as a desk does.
  const width = Math.max(330, Math.min(520, place.clientWidth || 520)), left = 62, right = 14, bottom = 46;
  const named = series.filter((s) => s.name), taken = (text) => 7 * text.length + 34;
  const below = named.length > 0 && 12 + 8 * title.length + named.reduce((sum, s) => sum + taken(s.name), 0) > width - right;
  const top = below ? 54 : 34, height = square ? Math.min(420, width - left - right + top + bottom) : below ? 340 : 320;
  const across = (v) => (logx ? Math.log10(v) : v);
  const value = (v) => (logy ? Math.log10(Math.max(v, floor)) : v);
  const good = (p) => p[0] !== null && p[1] !== null && Number.isFinite(across(p[0])) && Number.isFinite(value(p[1]));
  const points = series.flatMap((s) => s.points.filter(good));
  const least = logy && points.some((p) => p[1] < floor) ? Math.log10(floor) : NaN;
  let [x0, x1] = [Math.min(...points.map((p) => across(p[0]))), Math.max(...points.map((p) => across(p[0])))];
  let [y0, y1] = [Math.min(...points.map((p) => value(p[1]))), Math.max(...points.map((p) => value(p[1])))];
  if (!points.length) [x0, x1, y0, y1] = [0, 1, 0, 1];
  if (square) { const r = Math.max(Math.abs(x0), Math.abs(x1), Math.abs(y0), Math.abs(y1)) * 1.1 || 1; const wide = r * (width - left - right) / (height - top - bottom); [x0, x1, y0, y1] = [-wide, wide, -r, r]; }
  // Values that are one number up to rounding need an axis around it, not through its last bits.
  if (y1 - y0 < 1e-6 * Math.max(1, Math.abs(y0), Math.abs(y1))) [y0, y1] = [y0 - 0.1, y1 + 0.1];
  const pad = (y1 - y0) * 0.07;
  if (!square) { y0 -= pad; y1 += pad; if (x1 === x0) { x0 -= 1; x1 += 1; } }
  if (series.some((s) => s.dots)) { const room = (x1 - x0) * 0.04; x0 -= room; x1 += room; }
  const px = (v) => left + ((v - x0) / (x1 - x0)) * (width - left - right);
  const py = (v) => height - bottom - ((v - y0) / (y1 - y0)) * (height - top - bottom);
  const svg = element("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${y} over ${x}` });
  svg.append(element("text", { x: 12, y: 21, style: "font-weight:600" }, title));
  for (const t of nice(x0, x1)) {
    if (logx && Math.abs(t - Math.round(t)) > 1e-9) continue;
    svg.append(element("line", { x1: px(t), x2: px(t), y1: top, y2: height - bottom, stroke: "var(--line)" }));
    svg.append(element("text", { x: px(t), y: height - bottom + 16, "text-anchor": "middle", class: "soft" }, logx ? ten(t) : shown(t)));
  }
  const marked = nice(y0, y1).filter((t) => !(Math.abs(t - least) < 1));
  for (const t of Number.isNaN(least) ? marked : [least, ...marked]) {
    if (logy && Math.abs(t - Math.round(t)) > 1e-9) continue;
    svg.append(element("line", { x1: left, x2: width - right, y1: py(t), y2: py(t), stroke: "var(--line)" }));
    svg.append(element("text", { x: left - 6, y: py(t) + 4, "text-anchor": "end", class: "soft" }, logy ? `${t === least ? "≤ " : ""}${ten(t)}` : shown(t)));
  }
  svg.append(element("text", { x: (left + width - right) / 2, y: height - 10, "text-anchor": "middle" }, x));
  const side = element("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(14 ${(top + height - bottom) / 2}) rotate(-90)` }, y);
  svg.append(side);
  series.forEach((s, n) => {
    const colour = `var(--c${s.colour ?? n})`;
    let path = "", pen = "M";
    for (const p of s.points) {
      if (!good(p)) { pen = "M"; continue; }
      path += `${pen}${px(across(p[0])).toFixed(1)} ${py(value(p[1])).toFixed(1)}`; pen = "L";
    }
    if (!s.dots && path) svg.append(element("path", { d: path, fill: "none", stroke: colour, "stroke-width": 2, ...(s.dash ? { "stroke-dasharray": "6 4" } : {}) }));
    if (s.dots) for (const p of s.points.filter(good)) svg.append(element(s.dash ? "rect" : "circle", s.dash ? { x: px(across(p[0])) - 7, y: py(value(p[1])) - 1.2, width: 14, height: 2.4, fill: colour } : { cx: px(across(p[0])), cy: py(value(p[1])), r: 3.6, fill: colour }));
  });
  // The legend stands in the title's line or the one below, where nothing is drawn.
  let at = width - right;
  const line = below ? 41 : 21;
  for (const s of [...named].reverse()) {
    const colour = `var(--c${s.colour ?? series.indexOf(s)})`;
    at -= taken(s.name);
    svg.append(s.dots && !s.dash ? element("circle", { cx: at + 14, cy: line - 4, r: 3.6, fill: colour })
      : element("line", { x1: s.dots ? at + 6 : at, x2: at + 20, y1: line - 4, y2: line - 4, stroke: colour, "stroke-width": 3, ...(s.dash && !s.dots ? { "stroke-dasharray": "6 4" } : {}) }));
    svg.append(element("text", { x: at + 25, y: line }, s.name));
  }
  place.replaceChildren(svg, numbers({ title, x, y, series }));
}
