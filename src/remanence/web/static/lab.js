// The tabs follow the address, so that back, forward, bookmarks and shared links work.
import { $, on } from "./dom.js";
import { link, remember, restore, show } from "./state.js";

const tabs = [...document.querySelectorAll("[role=tab]")].map((tab) => tab.id.slice(4));
const begun = new Map();

async function follow() {
  const [given, words] = location.hash.slice(1).split(/\?(.*)/);
  const wanted = tabs.includes(given) ? given : tabs[0];
  for (const name of tabs) {
    const chosen = name === wanted;
    $(name).hidden = !chosen;
    $(`tab-${name}`).setAttribute("aria-selected", String(chosen));
    $(`tab-${name}`).tabIndex = chosen ? 0 : -1;
  }
  document.title = `remanence: ${wanted}`;
  const fresh = !begun.has(wanted), asked = `#${wanted}${words ? `?${words}` : ""}`;
  if (fresh) begun.set(wanted, import(`./${wanted}.js`).then((bench) => { bench.start(); return bench; }));
  if (!fresh && asked === link(wanted)) return;
  restore(wanted, words);
  $(`tab-${wanted}`).href = link(wanted);
  (await begun.get(wanted)).update();
}

for (const [n, name] of tabs.entries()) {
  on(`tab-${name}`, "keydown", (event) => {
    const next = { ArrowRight: tabs[(n + 1) % tabs.length], ArrowLeft: tabs.at(n - 1), Home: tabs[0], End: tabs.at(-1), " ": name }[event.key];
    if (!next) return;
    event.preventDefault();
    // Going to a fragment would take the focus away from the tabs.
    history.pushState(null, "", $(`tab-${next}`).href); follow(); $(`tab-${next}`).focus();
  });
  on(name, "input", async (event) => {
    if (!event.target.name) return;
    show(event.target); remember(name);
    (await begun.get(name)).update(event.target.name);
  });
  on(name, "submit", (event) => event.preventDefault());
}
on("copy", "click", async () => {
  const tab = tabs.find((name) => !$(name).hidden), address = new URL(link(tab), location.href).href;
  history.replaceState(null, "", address);
  try { await navigator.clipboard.writeText(address); $("copied").textContent = "copied"; } catch { $("copied").textContent = "it is in the address bar"; }
  setTimeout(() => { $("copied").textContent = ""; }, 3000);
});
addEventListener("hashchange", follow);
addEventListener("popstate", follow);
follow();
