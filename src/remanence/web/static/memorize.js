// A string, the networks that repeat it, and one or two of them on their way under the same noise.
import { ask, newest } from "./ask.js";
import { $, complain, node, number, on, tell } from "./dom.js";
import { Runner } from "./memory.js";
import { legend, picture } from "./picture.js";
import { set } from "./state.js";
import { about } from "./words.js";

let answer, lanes = [], timer;
const readable = (proof) => proof.replace(/\d{1,3}(,\d{3}){3,}/g, (n) => about(Number(n.replaceAll(",", ""))));
const units = (row) => `${row.dimension} ${row.dimension === 1 ? "unit" : "units"}`;
const played = () => answer.networks.filter((row) => row.weights);

// A kick is as long for everyone: noise times the margin of the network that was chosen first.
const kick = () => { const margin = lanes[0].runner.network.margin; return +$("noise").value * (typeof margin === "number" ? margin : 0); };
const advance = () => { const length = kick(); for (const { runner } of lanes) runner.advance(length, +$("kicks").value); };

function show() {
  for (const { runner, drawn, score, said } of lanes) {
    const { network, states, forgot } = runner, count = runner.said.length, first = Math.max(0, count - 120);
    drawn.move(states.at(-1));
    said.replaceChildren(...runner.said.slice(first).map((symbol, n) => node("span", { class: `${runner.wrong(first + n) ? "wrong" : ""} ${first + n === count - 1 ? "now" : ""}` }, network.alphabet[symbol])));
    score.textContent = `${network.method}, ${units(network)}: ${forgot < 0 ? `${count} ${count === 1 ? "symbol" : "symbols"}, all right` : `forgot at symbol ${forgot + 1} of ${count}`}`;
  }
  $("back").disabled = lanes[0].runner.said.length < 2;
}

const pause = () => { clearInterval(timer); timer = undefined; $("play").textContent = "Play"; };
function restart() { pause(); for (const { runner } of lanes) runner.restart(); advance(); show(); }

// The chosen network, and the one that it races.
function choose() {
  pause();
  const offered = played(), row = offered.find((r) => r.method === $("method").value) ?? best(offered);
  const rival = offered.find((r) => r.method === $("rival").value && r !== row);
  $("player").hidden = !row;
  if (!row) return;
  $("lanes").replaceChildren(); $("spoken").replaceChildren();
  lanes = [row, ...(rival ? [rival] : [])].map((network, n) => {
    const id = n ? `-${n + 1}` : "", svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [key, value] of Object.entries({ id: `orbit${id}`, class: "plot", viewBox: "-1.2 -1.2 2.4 2.4", role: "img", "aria-label": `The state of ${network.method} on its orbit` })) svg.setAttribute(key, value);
    const drawn = picture(svg, network), score = node("p", { id: `score${id}`, role: "status" });
    const said = node("p", { id: `said${id}`, class: "said", tabindex: "0", role: "group", "aria-label": `Symbols that ${network.method} said so far` });
    $("lanes").append(node("figure", {}, svg, node("figcaption", { class: "small soft" }, rival ? `${network.method}: ${drawn.note}` : drawn.note)));
    $("spoken").append(score, said);
    return { runner: new Runner(network), drawn, score, said };
  });
  $("weights").href = `/api/memorize/weights?${new URLSearchParams({ text: answer.text, method: row.method })}`;
  restart();
}
const best = (offered) => offered.toSorted((a, b) => a.dimension - b.dimension).find((row) => row.exponent === "-inf" || row.exponent <= 0);

function list() {
  $("frontier").tBodies[0].replaceChildren(...answer.networks.map((row) => {
    if (row.refused) return node("tr", {}, node("th", { scope: "row" }, row.method), node("td", { colspan: "5", class: "soft" }, row.refused));
    const button = node("button", { type: "button", "aria-label": `Watch ${row.method}` }, "Watch");
    button.disabled = !row.weights;
    button.addEventListener("click", () => { set("memorize", "method", row.method); choose(); });
    return node("tr", {}, node("th", { scope: "row" }, row.method), node("td", {}, button), node("td", { class: "number" }, row.dimension),
      node("td", { class: "number" }, number(row.exponent)), node("td", { class: "number" }, number(row.margin)), node("td", { class: "small" }, readable(row.proof)));
  }));
  for (const option of [...$("method").options, ...$("rival").options]) option.disabled = Boolean(option.value) && !played().some((row) => row.method === option.value);
  $("letters").replaceChildren(...legend(answer.networks.find((row) => row.alphabet)?.alphabet ?? []));
}

const write = newest(async (signal) => {
  const text = $("text").value;
  if (!text) return complain($("memorize-status"), new Error("type at least one symbol"));
  tell($("memorize-status"), "writing it into weights …");
  try {
    answer = await ask("/api/memorize", { method: "POST", body: { text }, signal });
    list(); choose(); tell($("memorize-status"), `networks that repeat “${text}”`);
  } catch (error) { complain($("memorize-status"), error); }
}, 350);

export function update(changed) {
  if (changed === "text" || !answer || $("text").value !== answer.text) write();
  else if (changed !== "noise") choose();
}
export function start() {
  on("step", "click", () => { pause(); advance(); show(); });
  on("back", "click", () => { pause(); for (const { runner } of lanes) runner.back(); show(); });
  on("restart", "click", restart);
  on("play", "click", () => {
    if (timer) return pause();
    $("play").textContent = "Pause";
    timer = setInterval(() => { advance(); show(); if (lanes[0].runner.said.length > 5000) pause(); }, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (answer) choose(); });
}
