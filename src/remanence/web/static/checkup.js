import { $, ask, complain, node, tell } from "./ask.js";

let chosen, running;

function choose(file) {
  chosen = file; $("examine").disabled = !file;
  tell($("checkup-status"), file ? `${file.name}, ${(file.size / 1024).toFixed(0)} kB` : "");
}

async function examine() {
  $("checkup-result").replaceChildren();
  const begun = performance.now();
  const clock = setInterval(() => tell($("checkup-status"), `examining ${chosen.name}: ${((performance.now() - begun) / 1000).toFixed(0)} s`), 500);
  running = new AbortController(); $("examine").disabled = true; $("cancel-checkup").hidden = false;
  try {
    const page = await ask(`/api/checkup?${new URLSearchParams({ steps: $("steps").value })}`, { method: "POST", body: chosen, raw: true, signal: running.signal });
    const rows = page.findings.map(([what, value]) => node("tr", {}, node("th", { scope: "row" }, what), node("td", {}, value)));
    const keep = node("a", { download: "checkup.html", href: URL.createObjectURL(new Blob([page.page], { type: "text/html" })) }, "Keep the page");
    $("checkup-result").replaceChildren(node("div", { class: "scroll" }, node("table", {}, node("tbody", {}, ...rows))), node("p", {}, keep));
    tell($("checkup-status"), `${chosen.name}: done`);
  } catch (error) { if (error.name === "AbortError") tell($("checkup-status"), "cancelled"); else complain($("checkup-status"), error); }
  finally { clearInterval(clock); $("examine").disabled = false; $("cancel-checkup").hidden = true; }
}

export function start() {
  const drop = $("drop");
  $("file").addEventListener("change", () => choose($("file").files[0]));
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); choose(event.dataTransfer.files[0]); });
  $("examine").addEventListener("click", examine);
  $("cancel-checkup").addEventListener("click", () => running?.abort());
}
