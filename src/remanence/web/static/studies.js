import { ask, listen, silence } from "./ask.js";
import { $, complain, node, on, printed, table, tell } from "./dom.js";
import { set } from "./state.js";

const marks = { holds: "✓", differs: "≠", refuted: "✗", open: "?" };
let current, source;

const verdictOf = (kind, more, verdict, count) => node(kind, { class: `verdict ${verdict}${more}` }, [marks[verdict], count, verdict].filter((part) => part !== undefined).join(" "));
const badge = (verdict) => verdictOf("span", "", verdict);
const counted = (verdict, count) => verdictOf("li", count ? "" : " none", verdict, count);

async function stored() {
  try {
    const studies = await ask("/api/studies");
    const rows = studies.map((s) => node("tr", {}, node("th", { scope: "row" }, s.stored ? node("a", { href: `/results/${s.study}/index.html` }, s.study) : s.study),
      node("td", {}, s.stored ? `${s.profile}, seed ${s.seed}` : s.note),
      node("td", {}, s.stored ? node("ul", { class: "tally" }, ...Object.keys(marks).map((v) => counted(v, s.tally[v]))) : "–")));
    $("stored").replaceChildren(node("h3", {}, "What is stored"), table("What is stored", ["study", "run", "claims"], rows));
  } catch (error) { complain($("job-state"), error); }
}

async function compare() {
  const runs = await ask(`/api/studies/${$("study").value}/runs`);
  if (!runs.length) return $("compare").replaceChildren();
  const ids = [...new Set(runs.flatMap((r) => r.claims.map((c) => c.id)))];
  const rows = ids.map((id) => {
    const of = runs.map((r) => r.claims.find((c) => c.id === id));
    return node("tr", {}, node("th", { scope: "row" }, id), node("td", {}, ...printed(of.find(Boolean)?.statement ?? "")),
      ...of.map((c) => node("td", {}, ...(c ? [badge(c.verdict), node("div", { class: "small" }, ...printed(c.measured))] : ["–"]))));
  });
  $("compare").replaceChildren(node("h3", {}, `Runs of ${$("study").value}, side by side`),
    table("Comparison of runs", ["claim", "statement", ...runs.map((r) => `${r.profile}, seed ${r.seed}`)], rows));
}

function follow(job) {
  current = job.id;
  $("cancel").disabled = job.state !== "running"; $("progress").hidden = false; $("progress").textContent = "";
  const running = () => tell($("job-state"), `${job.study} (${job.profile}, seed ${job.seed}) is running`);
  if (job.state === "running") running();
  source?.close();
  source = listen(job.id, {
    line: (words) => { if ($("job-state").classList.contains("error")) running(); $("progress").textContent += `${words}\n`; $("progress").scrollTop = 1e9; },
    end: (state) => {
      $("cancel").disabled = true;
      tell($("job-state"), `${job.study} (${job.profile}, seed ${job.seed}): ${state}`);
      stored(); compare().catch(() => {});
    },
    quiet: (lost) => { if (lost) $("cancel").disabled = true; complain($("job-state"), silence(lost)); },
  });
}

export async function update() {
  compare().catch(() => {});
}
export async function start() {
  on("study-form", "submit", async () => {
    try { follow(await ask("/api/reproduce", { method: "POST", body: { study: $("study").value, profile: $("profile").value, seed: +$("run-seed").value } })); }
    catch (error) { complain($("job-state"), error); }
  });
  on("cancel", "click", async () => {
    tell($("job-state"), "cancelling …");
    try { await ask(`/api/jobs/${current}`, { method: "DELETE" }); } catch (error) { complain($("job-state"), error); }
  });
  await stored();
  // A reload finds the last study of this server again.
  try {
    const last = (await ask("/api/jobs")).filter((job) => job.study !== "checkup").at(-1);
    if (last) { if (last.state === "running") set("studies", "study", last.study); follow(last); update(); }
  } catch (error) { complain($("job-state"), error); }
}
