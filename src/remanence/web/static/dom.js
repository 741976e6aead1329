// Elements of the page, and the sentences that stand in them.
import { about } from "./words.js";

export const $ = (id) => document.getElementById(id);
const filled = (made, attributes, children) => {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
export const node = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
export const element = (name, attributes = {}, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
export const on = (id, kind, act) => $(id).addEventListener(kind, act);
export const tell = (place, words) => { place.classList.remove("error"); place.textContent = words; };
export const complain = (place, error) => {
  if (error.name === "AbortError") return;
  place.classList.add("error"); place.textContent = error.message;
};
export const number = (value, digits = 3) => {
  if (value === null || value === undefined) return "–";
  if (value === "inf") return "∞"; if (value === "-inf") return "−∞"; if (typeof value === "string") return value;
  if (Math.abs(value) >= 1e5) return about(value);
  return String(+value.toPrecision(digits)).replace("-", "−");
};
// A sentence of a claim with its indices and powers, as nodes: what it says stays text.
export const printed = (text) => text.replaceAll("$", "").split(/([_^](?:\{[^}]*\}|[A-Za-z0-9*+]+))/).map((piece) => {
  const [mark, rest] = [piece[0], piece.slice(1).replace(/^\{(.*)\}$/, "$1")];
  return rest && (mark === "_" || mark === "^") ? node(mark === "_" ? "sub" : "sup", {}, rest) : piece.replace(/(^|[\s(])-(?=\d)/g, "$1−");
});
// A table that scrolls by itself where the page is narrow.
export const table = (label, head, rows) => node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, node("table", {},
  ...(head ? [node("thead", {}, node("tr", {}, ...head.map((words) => node("th", { scope: "col" }, words))))] : []), node("tbody", {}, ...rows)));
