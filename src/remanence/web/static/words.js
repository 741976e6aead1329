// Numbers as they are printed.
const raised = (value) => String(value).replace(/./g, (c) => ({ "-": "⁻" })[c] ?? "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]);
// A power of ten, and a number too long to be read as it is.
export const ten = (power) => `10${raised(Math.round(power))}`;
export const about = (value) => {
  const [front, power] = value.toExponential(1).split("e");
  return value === 0 ? "0" : `${front.replace("-", "−")} × ${ten(Number(power))}`;
};
// A number at an axis or in a table.
export const shown = (value) => (Math.abs(value) >= 1e5 ? about(value) : String(+value.toPrecision(3)).replace("-", "−"));
