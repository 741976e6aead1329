// Interactive twins of the figures, where plotly stands beside the page.
// Without it, or without scripts, the still pictures remain.
(() => {
  const night = matchMedia("(prefers-color-scheme: dark)");
  const draw = (figure) => {
    const twin = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const chosen = night.matches ? twin.dark : twin.light;
    const live = figure.querySelector(".live");
    Plotly.react(live, chosen.data, { ...chosen.layout, width: undefined, autosize: true },
      { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] });
  };
  const show = (figure, alive) => {
    figure.querySelector(".live").hidden = !alive;
    figure.querySelector(".still").hidden = alive;
    const button = figure.querySelector("button.swap");
    button.setAttribute("aria-pressed", String(alive));
    button.textContent = alive ? "Show the still picture" : "Make it interactive";
    if (alive) draw(figure);
  };
  addEventListener("DOMContentLoaded", () => {
    if (typeof Plotly === "undefined") return;
    const figures = [...document.querySelectorAll("figure[data-twin]")];
    for (const figure of figures) {
      const button = figure.querySelector("button.swap");
      button.hidden = false;
      button.addEventListener("click", () => show(figure, button.getAttribute("aria-pressed") !== "true"));
    }
    night.addEventListener("change", () => {
      for (const figure of figures) if (!figure.querySelector(".live").hidden) draw(figure);
    });
  });
})();
