// The state of a tab is what its named fields hold. It stands in the address, where a
// reload, a bookmark and a shared link find it again.
import { $ } from "./dom.js";

const fields = (tab) => [...$(tab).querySelectorAll("[name]")];
const first = new Map([...document.querySelectorAll("[role=tabpanel] [name]")].map((field) => [field, field.value]));
let timer;

export function link(tab) {
  const changed = fields(tab).filter((field) => field.value !== first.get(field)).map((field) => [field.name, field.value]);
  return `#${tab}${changed.length ? `?${new URLSearchParams(changed)}` : ""}`;
}
export function restore(tab, words) {
  const given = new URLSearchParams(words);
  for (const field of fields(tab)) {
    field.value = (given.get(field.name) ?? first.get(field)).slice(0, field.maxLength > 0 ? field.maxLength : undefined);
    if (field.value === "" && field.tagName === "SELECT") field.value = first.get(field); // what it does not offer
    show(field);
  }
}
// Browsers refuse an address that changes with every move of a slider.
export function remember(tab) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    $(`tab-${tab}`).href = link(tab);
    if (!$(tab).hidden) history.replaceState(null, "", link(tab));
  }, 150);
}
// A field that a script fills in, not a hand.
export function set(tab, id, value) { $(id).value = value; show($(id)); remember(tab); }
export const show = (field) => { const said = document.querySelector(`output[for="${field.id}"]`); if (said) said.textContent = field.value; };
