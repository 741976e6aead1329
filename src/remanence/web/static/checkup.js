import { $, ask, complain, listen, node, silence, tell } from "./ask.js";

let chosen, heard, running;

const size = (file) => `${file.name}, ${(file.size / 1024).toFixed(0)} kB`;

function said() {
  const words = [chosen, $("hear").value === "noise" ? undefined : heard].filter(Boolean).map(size);
  tell($("checkup-status"), words.join("; hears "));
}

function choose(file) {
  chosen = file; $("examine").disabled = !file; said();
}

function hear(kind, file) {
  $("hear").value = kind; heard = file;
  $("inputs-label").hidden = kind === "noise";
  $("typed-label").hidden = kind !== "text";
  $("inputs").accept = kind === "npy" ? ".npy" : ".txt,text/plain";
  said();
}

// What was dropped may be the weights, the inputs, or both.
function dropped(files) {
  for (const file of files) {
    const end = file.name.split(".").at(-1).toLowerCase();
    if (end === "npy") hear("npy", file);
    else if (end === "txt") hear("text", file);
    else choose(file);
  }
}

function report(id, name, answer) {
  const rows = (answer.table ?? []).map(({ title, text, meaning }) => node("tr", { title: meaning }, node("th", { scope: "row" }, title), node("td", { class: "number" }, text)));
  $("checkup-result").replaceChildren(node("h3", {}, `${name}: ${answer.verdict ?? "done"}`),
    node("p", {}, node("a", { href: `/checkups/${id}.html`, target: "_blank", rel: "noopener" }, "Open the whole page"), " · ",
      node("a", { href: `/checkups/${id}.html`, download: "checkup.html" }, "Keep it")),
    node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures of the checkup" }, node("table", {}, node("tbody", {}, ...rows))));
}

function follow(id, name) {
  const begun = performance.now();
  let last = "starting";
  running = id;
  $("examine").disabled = true; $("cancel-checkup").hidden = false;
  const clock = setInterval(() => tell($("checkup-status"), `examining ${name}: ${last} (${((performance.now() - begun) / 1000).toFixed(0)} s)`), 300);
  const over = () => { clearInterval(clock); $("examine").disabled = !chosen; $("cancel-checkup").hidden = true; };
  listen(id, {
    line: (words) => { if (words.trim()) last = words.trim(); },
    end: (state, answer) => {
      over();
      if (state === "done" && answer) { tell($("checkup-status"), "done"); report(id, name, answer); }
      else if (state === "cancelled") tell($("checkup-status"), "cancelled");
      else complain($("checkup-status"), new Error(last));
    },
    quiet: (lost) => { if (lost) { over(); complain($("checkup-status"), silence(lost)); } else last = silence(lost).message; },
  });
}

async function examine(event) {
  event.preventDefault();
  const kind = $("hear").value;
  const inputs = kind === "noise" ? undefined : heard ?? (kind === "text" && $("typed").value ? new Blob([$("typed").value]) : undefined);
  if (kind !== "noise" && !inputs) return complain($("checkup-status"), new Error(kind === "text" ? "type a text or choose a file" : "choose a .npy file"));
  $("checkup-result").replaceChildren();
  const asked = { steps: $("steps").value, hear: kind, weights: chosen.size };
  try {
    const body = new Blob(inputs ? [chosen, inputs] : [chosen]);
    const job = await ask(`/api/checkup?${new URLSearchParams(asked)}`, { method: "POST", body, raw: true });
    follow(job.id, chosen.name);
  } catch (error) { complain($("checkup-status"), error); }
}

export async function start() {
  const drop = $("drop");
  $("file").addEventListener("change", () => choose($("file").files[0]));
  $("inputs").addEventListener("change", () => hear($("hear").value, $("inputs").files[0]));
  $("hear").addEventListener("change", () => { $("inputs").value = ""; hear($("hear").value, undefined); });
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); dropped(event.dataTransfer.files); });
  $("checkup-form").addEventListener("submit", examine);
  $("cancel-checkup").addEventListener("click", () => ask(`/api/jobs/${running}`, { method: "DELETE" }).catch((error) => complain($("checkup-status"), error)));
  // A refresh finds the last checkup again, at work or done.
  const last = (await ask("/api/jobs")).filter((job) => job.study === "checkup").at(-1);
  if (last && ["running", "done"].includes(last.state)) follow(last.id, "the last file");
}
