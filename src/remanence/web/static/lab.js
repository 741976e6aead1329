// The tabs follow the address, so that back, forward and bookmarks work.
import { $ } from "./ask.js";

const benches = ["memorize", "dynamics", "languages", "checkup", "studies"];
const begun = new Set();

async function show() {
  const wanted = benches.includes(location.hash.slice(1)) ? location.hash.slice(1) : benches[0];
  for (const name of benches) {
    const chosen = name === wanted;
    $(name).hidden = !chosen;
    $(`tab-${name}`).setAttribute("aria-selected", String(chosen));
    $(`tab-${name}`).tabIndex = chosen ? 0 : -1;
  }
  document.title = `remanence: ${wanted}`;
  if (!begun.has(wanted)) { begun.add(wanted); (await import(`./${wanted}.js`)).start(); }
}

for (const [n, name] of benches.entries()) {
  $(`tab-${name}`).addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = move ? benches[(n + move + benches.length) % benches.length] : event.key === " " ? name : undefined;
    if (!next) return;
    event.preventDefault();
    // Going to a fragment would take the focus away from the tabs.
    history.pushState(null, "", `#${next}`); show(); $(`tab-${next}`).focus();
  });
}
for (const slider of document.querySelectorAll("input[type=range]")) {
  const say = () => { slider.parentElement.querySelector("output").textContent = slider.value; };
  slider.addEventListener("input", say); say();
}
addEventListener("hashchange", show);
addEventListener("popstate", show);
show();
