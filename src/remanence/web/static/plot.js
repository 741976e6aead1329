// A small plot in SVG: lines, points with error bars, bands, axes that stay where they are
// while they can, and a table for those who cannot see it.
import { element } from "./dom.js";
import { numbers } from "./numbers.js";
import { shown, ten } from "./words.js";

const LEFT = 64, RIGHT = 12, BOTTOM = 42;
const nice = (low, high) => {
  const rough = (high - low) / 4 || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const ticks = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) ticks.push(Math.abs(t) < step * 1e-9 ? 0 : t);
  return ticks;
};
// An axis stays while the data fits it and fills a good part of it: then it is the data that moves.
function axis(held, values, pad) {
  let [low, high] = values.length ? values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]) : [0, 1];
  if (high - low < 0.1) [low, high] = [(low + high) / 2 - 0.05, (low + high) / 2 + 0.05];
  if (held && low >= held[0] && high <= held[1] && high - low > 0.35 * (held[1] - held[0])) return held;
  return [low - pad * (high - low), high + pad * (high - low)];
}

// series: [{points: [[x, y, low, high], …], name, colour, dots, dash, band}]; low and high are error bars, or a band.
// On a logarithmic axis what lies below `floor` is drawn on it, and the axis says so.
// `range` fixes the axes; `image` lies behind them. Returns what turns a place on the plot into numbers.
export function plot(place, { title, x, y, series, logx = false, logy = false, floor = 0, square = false, range, image, height = 262 }) {
  // As wide as its place, so that a phone shows letters as large as a desk does.
  const width = Math.max(300, Math.min(780, place.clientWidth || 520));
  const named = series.filter((s) => s.name), taken = (text) => 6.8 * text.length + 40;
  const below = named.length > 0 && 12 + 7 * title.length + named.reduce((sum, s) => sum + taken(s.name), 0) > width - RIGHT;
  const top = below ? 52 : 32, tall = height + (below ? 18 : 0);
  const across = (v) => (logx ? Math.log10(v) : v), up = (v) => (logy ? Math.log10(Math.max(v, floor)) : v);
  const good = (p) => p[0] !== null && p[1] !== null && Number.isFinite(across(p[0])) && Number.isFinite(up(p[1]));
  const points = series.flatMap((s) => s.points.filter(good));
  const ends = points.flatMap((p) => p.slice(1).filter(Number.isFinite).map(up));
  const held = place.axes?.title === title ? place.axes : {};
  let [x0, x1, y0, y1] = range ?? [...axis(held.x, points.map((p) => across(p[0])), series.some((s) => s.dots) ? 0.05 : 0), ...axis(held.y, ends, 0.08)];
  if (square) {
    const [, far] = axis(held.far, [0, ...points.flatMap((p) => [Math.abs(p[0]), Math.abs(p[1])])], 0.15);
    const wide = far * ((width - LEFT - RIGHT) / (tall - top - BOTTOM));
    [x0, x1, y0, y1, held.far] = [-wide, wide, -far, far, [-0.2 * far, far]];
  }
  place.axes = { title, x: [x0, x1], y: [y0, y1], far: held.far };
  const least = logy && points.some((p) => p[1] < floor) ? Math.log10(floor) : NaN;
  const px = (v) => LEFT + ((v - x0) / (x1 - x0)) * (width - LEFT - RIGHT), py = (v) => tall - BOTTOM - ((v - y0) / (y1 - y0)) * (tall - top - BOTTOM);
  const [X, Y] = [(p) => px(across(p[0])).toFixed(1), (v) => py(up(v)).toFixed(1)];
  const svg = element("svg", { class: "plot", viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": `${title}: ${y} over ${x}` });
  svg.append(element("text", { x: 12, y: 20, class: "title" }, title));
  if (image) svg.append(element("image", { href: image, x: LEFT, y: top, width: width - LEFT - RIGHT, height: tall - top - BOTTOM, preserveAspectRatio: "none" }));
  const whole = (t) => Math.abs(t - Math.round(t)) < 1e-9;
  for (const t of nice(x0, x1).filter((t) => !logx || whole(t))) svg.append(
    element("line", { x1: px(t), x2: px(t), y1: top, y2: tall - BOTTOM, class: "grid" }),
    element("text", { x: px(t), y: tall - BOTTOM + 15, "text-anchor": "middle", class: "soft" }, logx ? ten(t) : shown(t)));
  const marked = nice(y0, y1).filter((t) => !(Math.abs(t - least) < 1) && (!logy || whole(t)));
  for (const t of Number.isNaN(least) ? marked : [least, ...marked]) svg.append(
    element("line", { x1: LEFT, x2: width - RIGHT, y1: py(t), y2: py(t), class: "grid" }),
    element("text", { x: LEFT - 6, y: py(t) + 4, "text-anchor": "end", class: "soft" }, logy ? `${t === least ? "≤ " : ""}${ten(t)}` : shown(t)));
  svg.append(element("text", { x: (LEFT + width - RIGHT) / 2, y: tall - 8, "text-anchor": "middle" }, x),
    element("text", { "text-anchor": "middle", transform: `translate(14 ${(top + tall - BOTTOM) / 2}) rotate(-90)` }, y));
  for (const [n, s] of series.entries()) {
    const colour = `var(--c${s.colour ?? n})`, seen = s.points.filter(good);
    let path = "", pen = "M";
    for (const p of s.points) if (good(p)) { path += `${pen}${X(p)} ${Y(p[1])}`; pen = "L"; } else pen = "M";
    if (s.band && seen.length) svg.append(element("path", { d: `M${[...seen.map((p) => `${X(p)} ${Y(p[3])}`), ...seen.toReversed().map((p) => `${X(p)} ${Y(p[2])}`)].join("L")}Z`, fill: colour, opacity: 0.18 }));
    if (!s.dots && path) svg.append(element("path", { d: path, fill: "none", stroke: colour, "stroke-width": 2, ...(s.dash ? { "stroke-dasharray": "6 4" } : {}) }));
    if (s.dots) for (const p of seen) {
      if (Number.isFinite(p[2]) && Number.isFinite(p[3])) svg.append(element("path", { class: "error-bar", d: `M${X(p)} ${Y(p[2])}V${Y(p[3])}`, stroke: colour, "stroke-width": 1.6 }));
      svg.append(s.here ? element("circle", { class: "here", cx: X(p), cy: Y(p[1]), r: 7 })
        : s.dash ? element("rect", { x: X(p) - 6, y: Y(p[1]) - 1.2, width: 12, height: 2.4, fill: colour }) : element("circle", { cx: X(p), cy: Y(p[1]), r: 3.2, fill: colour }));
    }
  }
  // The legend stands in the title's line or the one below, where nothing is drawn.
  let at = width - RIGHT;
  const line = below ? 40 : 20;
  for (const s of named.toReversed()) {
    const colour = `var(--c${s.colour ?? series.indexOf(s)})`;
    at -= taken(s.name);
    svg.append(s.here ? element("circle", { class: "here", cx: at + 12, cy: line - 4, r: 6 }) : s.dots && !s.dash ? element("circle", { cx: at + 14, cy: line - 4, r: 3.6, fill: colour })
      : element("line", { x1: s.dots ? at + 6 : at, x2: at + 20, y1: line - 4, y2: line - 4, stroke: colour, "stroke-width": 3, ...(s.dash && !s.dots ? { "stroke-dasharray": "6 4" } : {}) }),
    element("text", { x: at + 25, y: line }, s.name));
  }
  // The table waits until nothing moves: nobody hears fifty of them a second.
  const old = place.querySelector(".unseen");
  place.replaceChildren(svg, ...(old ? [old] : []));
  clearTimeout(place.timer);
  place.timer = setTimeout(() => { place.querySelector(".unseen")?.remove(); place.append(numbers({ title, x, y, series })); }, old ? 200 : 0);
  return (event) => {
    const box = svg.getBoundingClientRect(), scale = width / box.width;
    const [a, b] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    return [x0 + ((a - LEFT) / (width - LEFT - RIGHT)) * (x1 - x0), y0 + ((tall - BOTTOM - b) / (tall - top - BOTTOM)) * (y1 - y0)];
  };
}
