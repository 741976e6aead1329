// One place to choose files or to drop some: `take` is given each, and all that came with it.
import { $, on } from "./dom.js";

export const size = (file) => `${file.name}, ${(file.size / 1024).toFixed(0)} kB`;
export function dropping(place, input, take) {
  const choose = () => { for (const file of $(input).files) take(file, $(input).files); };
  on(input, "change", choose);
  choose(); // a quick hand has chosen before this was read
  for (const kind of ["dragenter", "dragover"]) on(place, kind, (event) => { event.preventDefault(); $(place).classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) on(place, kind, () => $(place).classList.remove("over"));
  on(place, "drop", (event) => { event.preventDefault(); for (const file of event.dataTransfer.files) take(file, event.dataTransfer.files); });
}
