// What a plot shows as a table, for screen readers.
import { node } from "./dom.js";
import { about, shown } from "./words.js";

const said = (value) => (value === null || !Number.isFinite(value) ? "–" : value !== 0 && Math.abs(value) < 1e-3 ? about(value) : shown(value));
const between = (low, high) => (Number.isFinite(low) && high > low ? ` (${said(low)} to ${said(high)})` : "");

// At most twelve points a line: what it does, not every step of it.
export function numbers({ title, x, y, series }) {
  const parts = series.map(({ name, points }) => {
    const every = Math.max(1, Math.ceil((points.length - 1) / 10));
    const some = points.filter((_, n) => n % every === 0 || n === points.length - 1);
    return node("tbody", {}, node("tr", {}, node("th", { scope: "rowgroup", colspan: "2" }, name ?? title)),
      ...some.map(([a, b, low, high]) => node("tr", {}, node("th", { scope: "row" }, said(a)), node("td", {}, said(b) + between(low, high)))));
  });
  const head = node("thead", {}, node("tr", {}, node("th", { scope: "col" }, x), node("th", { scope: "col" }, y)));
  return node("div", { class: "unseen" }, node("table", {}, node("caption", {}, `${title}: ${y} over ${x}`), head, ...parts));
}
