import { about } from "./words.js";

// One way to ask the server: JSON in, JSON out, refusals as sentences.
export async function ask(path, { method = "GET", body, signal, raw = false } = {}) {
  const headers = body !== undefined && !raw ? { "content-type": "application/json" } : {};
  const answer = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : raw ? body : JSON.stringify(body) });
  const text = await answer.text();
  let content = text;
  try { content = JSON.parse(text); } catch { /* a page, not a document */ }
  if (answer.ok) return content;
  const detail = content?.detail;
  throw new Error(typeof detail === "string" ? detail : Array.isArray(detail) ? detail.map((d) => `${(d.loc ?? []).at(-1)}: ${d.msg}`).join("; ") : `the server answered ${answer.status}`);
}
export const $ = (id) => document.getElementById(id);
export const node = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value; else if (key in made && typeof value !== "string") made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children.map((c) => (c instanceof Node ? c : document.createTextNode(String(c)))));
  return made;
};
export const complain = (place, error) => {
  if (error.name === "AbortError") return;
  place.className = "error"; place.textContent = error.message;
};
// What a job says, line by line, until it has ended; a server that is gone is told too.
export function listen(id, { line, end, quiet }) {
  const source = new EventSource(`/api/jobs/${id}/events`);
  source.onmessage = (event) => {
    const said = JSON.parse(event.data);
    if (said.line !== undefined) line(said.line);
    if (said.state !== undefined) { source.close(); end(said.state, said.answer); }
  };
  // It asks again by itself, unless the server that came back does not know the job.
  source.onerror = () => quiet(source.readyState === EventSource.CLOSED);
  return source;
}
export const silence = (lost) => new Error(lost ? "the lab does not know this any more: start it again" : "the lab does not answer: is remanence serve still running?");
export const tell = (place, words) => { place.className = "soft"; place.textContent = words; };
// The newest question wins; a short pause gathers quick slider moves.
export function live(question, pause = 70) {
  let timer, running;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => { running?.abort(); running = new AbortController(); question(running.signal); }, pause);
  };
}
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
