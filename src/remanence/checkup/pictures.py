"""The pictures of a checkup: how memory fades in one network or several, and what one looks like."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._escape import printable
from ..report import Figure
from .figures import Found


SIZE = (6.4, 3.8)  # inches


def picture(name: str, title: str, caption: str, draw: Callable, **options: Any) -> Figure:
    """A figure in the size of the page; `draw` gets the axes of `plt.subplots(**options)`."""

    def canvas() -> Any:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=SIZE, **options)
        draw(axes)
        return figure

    return Figure(name, title, caption, canvas)


def drawn(name: str, title: str, caption: str) -> Callable[[Callable], Callable[..., Figure]]:
    """Turns a function that draws a checkup on axes into one that makes the figure of it."""
    return lambda draw: lambda found: picture(name, title, caption, lambda axes: draw(axes, found))


def short(name: str) -> str:
    """The end of a long name, where checkpoints differ; no formula of matplotlib's."""
    name = printable(name)
    return (name if len(name) <= 16 else f"…{name[-15:]}").replace("$", r"\$")


def _shown_until(lines: Sequence[np.ndarray], floor: float) -> int:
    """A little more than the last place where one of the lines is above `floor`."""
    return 5 + max(int(np.flatnonzero(line > floor)[-1]) for line in lines if (line > floor).any())


def spectrum(found: Sequence[Found]) -> Figure | None:
    """Exponents with their intervals, and the running estimate of the first few."""
    drawn = [each for each in found if np.isfinite(each.spectrum.exponents).any()]
    if not drawn:
        return None
    alone = len(found) == 1

    def draw(axes):
        left, right = axes
        for j, each in enumerate(drawn):
            measured = each.spectrum
            index = np.flatnonzero(np.isfinite(measured.exponents))
            values, (low, _) = measured.exponents, measured.confidence()
            marks = {"fmt": "o", "capsize": 2} if len(values) < 60 else {"fmt": "."}
            shown = {"color": f"C{j % 7}", "ms": 3, "label": short(each.name), **marks}
            left.errorbar(index + 1, values[index], yerr=(values - low)[index], **shown)
            for i in range(min(4 if alone else 1, len(index))):
                colour = f"C{i if alone else j % 7}"
                right.plot(measured.times, measured.running[:, i], color=colour)
        for side in axes:
            side.axhline(0, color="C7", lw=1)
        left.set(xlabel="index", ylabel="exponent (nats per step)")
        which = "the first few" if alone else "the largest"
        right.set(xlabel="steps measured", ylabel="running estimate", title=which)
        if not alone:
            left.legend()

    dead = sum(int((~np.isfinite(c.spectrum.exponents)).sum()) for c in found)
    note = f" {dead} exponents are −∞ and not drawn." if dead else ""
    said = "; ".join(f"{'' if alone else f'{c.name}: '}{c.spectrum.verdict}" for c in found)
    return picture(
        "spectrum",
        "Lyapunov exponents",
        f"With 95 % intervals that account for autocorrelation: {said}.{note} "
        "Below zero: differences of state fade at this rate.",
        draw,
        ncols=2,
        width_ratios=(3, 2),
    )


def gradients(found: Sequence[Found]) -> Figure | None:
    """The whole distribution of the gradient's decay over positions, or several medians."""
    lines = [
        {q: np.maximum(c.horizon.gradients.quantile(q / 100), 1e-16) for q in (10, 25, 50, 75, 90)}
        for c in found
    ]
    if not max(line[90].max() for line in lines) > 1e-16:
        return None
    # Beyond a millionth there is nothing to see.
    last = _shown_until([line[90] for line in lines], 1e-6)
    most = max(int(c.horizon.gradients.lags[-1]) for c in found)
    alone = len(found) == 1

    def draw(axes):
        for j, (each, line) in enumerate(zip(found, lines, strict=True)):
            decay, colour = each.horizon.gradients, f"C{j % 7}"
            for low, high, alpha in ((10, 90, 0.15), (25, 75, 0.25)) if alone else ():
                filled = {"alpha": alpha, "color": colour, "lw": 0}
                axes.fill_between(decay.lags, line[low], line[high], **filled)
            label = "median over positions" if alone else short(each.name)
            axes.plot(decay.lags, line[50], color=colour, label=label)
            if np.isfinite(decay.remembers):
                axes.plot(decay.remembers, np.exp(-1), "o", color=colour, ms=5)
            if decay.plateau is not None:
                axes.axhline(decay.plateau.level, color=colour, lw=1, ls=":")
        axes.axhline(np.exp(-1), color="C7", lw=1, ls="--", label="1/e")
        axes.set(
            yscale="log",
            xlabel=f"lag ({found[-1].unit})",
            ylabel="gradient relative to lag 0",
            ylim=(1e-6, 2 * max(1.0, *(line[90].max() for line in lines))),
            xlim=(0, min(last, most)),
        )
        axes.legend()

    decay = found[-1].horizon.gradients
    how = "" if decay.exact else f" Norms from {decay.directions} random input directions each."
    what = "median, middle half, 10 to 90 %" if alone else "the median of each"
    return picture(
        "gradients",
        "How the gradient fades",
        "Norm of the derivative of a state by an input i steps before, over "
        f"{len(decay.positions)} positions: {what}. Dots: horizons; dotted: a level that stays.{how}",
        draw,
    )


def windows(found: Sequence[Found]) -> Figure | None:
    """The error of the output against the length of the window."""
    worst = [np.maximum.accumulate(c.horizon.replay.largest[::-1])[::-1] for c in found]
    top = max(line.max(initial=0.0) for line in worst)
    if not top > 0:
        return None
    replay, floor = found[-1].horizon.replay, 1e-9 * top
    limits = {"xlim": (0, _shown_until(worst, floor)), "ylim": (floor, 2 * top)}
    alone, proved = len(found) == 1, found[0].horizon["certified window"]

    def draw(axes):
        for j, (each, line) in enumerate(zip(found, worst, strict=True)):
            k, needed = np.arange(1, len(line) + 1), each.horizon.replay.worst
            label = "largest" if alone else short(each.name)
            axes.plot(k, np.maximum(line, 1e-17), color=f"C{j % 7}", label=label)
            if alone:
                typical = np.maximum(replay.typical, 1e-17)
                axes.plot(k, typical, color="C1", label="root mean square")
            if np.isfinite(needed):
                axes.plot(needed, replay.error, "o", color=f"C{j % 7}", ms=5)
        axes.axhline(replay.error, color="C7", ls="--", lw=1, label=f"allowed: {replay.error:g}")
        if alone and proved is not None and proved <= 1.5 * len(worst[0]):
            axes.axvline(proved, color="C2", lw=1.2, label="proved window")
        label = f"window ({found[-1].unit})"
        axes.set(yscale="log", xlabel=label, ylabel="output error", **limits)
        axes.legend()

    return picture(
        "windows",
        "What a window leaves out",
        "Error of the output when only the last inputs are replayed from an empty state, "
        f"{replay.evidence}; the dots are the replay windows. The outputs have a root "
        f"mean square of {replay.scale:.3g}.",
        draw,
    )


@drawn(
    "units",
    "Which units hold the long memory",
    "In this many steps a unit by itself fades by a factor e, with its standard error: "
    "−1 over the mean of log |∂h′/∂h| of the unit, at states visited. Of an LSTM, its cell state.",
)
def units(axes: Any, found: Found) -> None:
    """The timescales of all units, layer by layer, the longest first."""
    from matplotlib.ticker import LogFormatter

    for j, layer in enumerate(found.units):
        order = layer.longest
        at, times = np.arange(1, len(order) + 1), layer.timescales[order]
        shown = {"fmt": ".", "color": f"C{j % 7}", "label": f"layer {layer.layer}"}
        axes.errorbar(at, times, yerr=layer.stderr[order], **shown)
    if np.isfinite(horizon := found.horizon.remembers):
        axes.axhline(horizon, color="C7", ls="--", lw=1, label="gradient horizon")
    axes.set(yscale="log", xlabel="unit, the longest first", ylabel="timescale (steps)")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(LogFormatter())  # 1.2, not 1.2 × 10⁰
    axes.legend()


@drawn(
    "eigenvalues",
    "Eigenvalues of the Jacobian",
    "At the mean state and the mean input; inside the circle a direction fades there.",
)
def eigenvalues(axes: Any, found: Found) -> None:
    """The eigenvalues of the Jacobian beside the unit circle."""
    angle = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(angle), np.sin(angle), color="C7", lw=1)
    axes.plot(found.eigenvalues.real, found.eigenvalues.imag, "o", ms=3, alpha=0.7)
    axes.set(xlabel="real part", ylabel="imaginary part", aspect="equal")


def fixed_points(found: Found) -> Figure | None:
    """The orbit in the plane of its first two components, with the points where it rests."""
    orbit = found.orbit
    if orbit.shape[1] < 2:
        return None
    middle = orbit.mean(axis=0)
    _, s, axes_of = np.linalg.svd(orbit - middle, full_matrices=False)
    if len(s) < 2 or not s[0] > 0:
        return None
    flat = (orbit - middle) @ axes_of[:2].T
    share = s[:2] ** 2 / (s**2).sum()
    points = np.array([(p.state - middle) @ axes_of[:2].T for p in found.fixed])
    words = [p.stability if p.kind == "fixed" else "slow" for p in found.fixed]

    def draw(axes):
        axes.plot(*flat.T, ".", ms=3, color="C7", alpha=0.6, label="states visited")
        marks = {"stable": "o", "saddle": "X", "repeller": "^", "marginal": "D", "slow": "s"}
        for j, (word, mark) in enumerate(marks.items()):
            if at := [i for i, w in enumerate(words) if w == word]:
                axes.plot(*points[at].T, mark, ms=8, color=f"C{j}", label=word)
        first, second = (f"component ({100 * part:.0f} %)" for part in share)
        axes.set(xlabel=f"first {first}", ylabel=f"second {second}")
        axes.legend()

    return picture(
        "fixed-points",
        "States visited and fixed points",
        f"In the plane of the two largest principal components. Fixed points: {found.fixed_sentence}.",
        draw,
    )
