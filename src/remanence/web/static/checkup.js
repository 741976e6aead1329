import { $, ask, complain, node, number, tell } from "./ask.js";

let chosen, running;

function choose(file) {
  chosen = file; $("examine").disabled = !file;
  tell($("checkup-status"), file ? `${file.name}, ${(file.size / 1024).toFixed(0)} kB` : "");
}

const words = (name) => name.replaceAll("_", " ");

function report(id, name, answer) {
  const rows = Object.entries(answer.figures ?? {}).map(([what, value]) => node("tr", {}, node("th", { scope: "row" }, words(what)), node("td", { class: "number" }, number(value))));
  $("checkup-result").replaceChildren(node("h3", {}, `${name}: ${answer.verdict ?? "done"}`),
    node("p", {}, node("a", { href: `/checkups/${id}.html`, target: "_blank", rel: "noopener" }, "Open the whole page"), " · ",
      node("a", { href: `/checkups/${id}.html`, download: "checkup.html" }, "Keep it")),
    node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures of the checkup" }, node("table", {}, node("tbody", {}, ...rows))));
}

async function examine() {
  const name = chosen.name, begun = performance.now();
  $("checkup-result").replaceChildren();
  $("examine").disabled = true; $("cancel-checkup").hidden = false;
  let said = "starting";
  const clock = setInterval(() => tell($("checkup-status"), `examining ${name}: ${said} (${((performance.now() - begun) / 1000).toFixed(0)} s)`), 300);
  const end = () => { clearInterval(clock); $("examine").disabled = false; $("cancel-checkup").hidden = true; };
  try {
    const job = await ask(`/api/checkup?${new URLSearchParams({ steps: $("steps").value })}`, { method: "POST", body: chosen, raw: true });
    running = job.id;
    const source = new EventSource(`/api/jobs/${job.id}/events`);
    source.onmessage = (event) => {
      const { line, state, answer } = JSON.parse(event.data);
      if (line?.trim()) said = line.trim();
      if (state === undefined) return;
      source.close(); end();
      if (state === "done" && answer) { tell($("checkup-status"), "done"); report(job.id, name, answer); }
      else if (state === "cancelled") tell($("checkup-status"), "cancelled");
      else complain($("checkup-status"), new Error(said));
    };
  } catch (error) { end(); complain($("checkup-status"), error); }
}

export function start() {
  const drop = $("drop");
  $("file").addEventListener("change", () => choose($("file").files[0]));
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); choose(event.dataTransfer.files[0]); });
  $("examine").addEventListener("click", examine);
  $("cancel-checkup").addEventListener("click", () => ask(`/api/jobs/${running}`, { method: "DELETE" }).catch((error) => complain($("checkup-status"), error)));
}
