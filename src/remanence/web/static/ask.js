// One way to ask the server: JSON in, JSON out, refusals and silence as sentences.
const GONE = "the lab does not answer: is remanence serve still running?";

// A page without a server brings the answers for some strings with it.
const kept = JSON.parse(document.getElementById("answers")?.textContent ?? "null");
const KEPT = "this page knows the strings of its examples; remanence serve takes any";

export async function ask(path, { method = "GET", body, signal } = {}) {
  if (kept) { if (kept[body.text]) return kept[body.text]; throw new Error(KEPT); }
  const raw = body === undefined || body instanceof Blob;
  const headers = raw ? {} : { "content-type": "application/json" };
  let answer, text;
  try {
    answer = await fetch(path, { method, headers, signal, body: raw ? body : JSON.stringify(body) });
    text = await answer.text();
  } catch (error) { throw error.name === "AbortError" ? error : new Error(GONE); }
  let content = text;
  try { content = JSON.parse(text); } catch { /* a page, not a document */ }
  if (answer.ok) return content;
  const detail = content?.detail;
  const words = typeof detail === "string" ? detail : Array.isArray(detail) ? detail.map((d) => `${(d.loc ?? []).at(-1)}: ${d.msg}`).join("; ") : `the server answered ${answer.status}`;
  throw Object.assign(new Error(words), { status: answer.status });
}
// The newest question wins: the one before it is let go, and a pause gathers quick moves.
export function newest(question, pause = 0) {
  let timer, running;
  return () => {
    clearTimeout(timer); running?.abort();
    timer = setTimeout(() => { running = new AbortController(); question(running.signal); }, pause);
  };
}
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
export const silence = (lost) => new Error(lost ? "the lab does not know this any more: start it again" : GONE);
