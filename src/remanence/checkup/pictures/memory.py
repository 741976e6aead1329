"""How memory fades: exponents, gradients and what a window leaves out, of one network or several."""

from collections.abc import Sequence

import numpy as np

from ...report import Figure
from ..figures import Found
from .canvas import blank, short


def spectrum(found: Sequence[Found]) -> Figure | None:
    """Exponents with their intervals, and the running estimate of the first few."""
    drawn = [each for each in found if np.isfinite(each.spectrum.exponents).any()]
    if not drawn:
        return None
    alone = len(found) == 1

    def draw():
        figure, (left, right) = blank(ncols=2, width_ratios=(3, 2))
        for j, each in enumerate(drawn):
            measured = each.spectrum
            finite = np.isfinite(measured.exponents)
            index = np.arange(1, len(finite) + 1)
            low, _ = measured.confidence()
            left.errorbar(
                index[finite],
                measured.exponents[finite],
                yerr=measured.exponents[finite] - low[finite],
                fmt="o" if len(index) < 60 else ".",
                color=f"C{j % 7}",
                ms=3,
                capsize=2 if len(index) < 60 else 0,
                label=short(each.name),
            )
            for i in range(min(4 if alone else 1, int(finite.sum()))):
                colour = f"C{i}" if alone else f"C{j % 7}"
                right.plot(measured.times, measured.running[:, i], color=colour)
        for axes in (left, right):
            axes.axhline(0, color="C7", lw=1)
        left.set(xlabel="index", ylabel="exponent (nats per step)")
        which = "the first few" if alone else "the largest"
        right.set(xlabel="steps measured", ylabel="running estimate", title=which)
        if not alone:
            left.legend()
        return figure

    dead = sum(int((~np.isfinite(c.spectrum.exponents)).sum()) for c in found)
    note = f" {dead} exponents are −∞ and not drawn." if dead else ""
    said = "; ".join(
        c.spectrum.verdict if alone else f"{c.name}: {c.spectrum.verdict}" for c in found
    )
    return Figure(
        "spectrum",
        "Lyapunov exponents",
        f"With 95 % intervals that account for autocorrelation: {said}.{note} "
        "Below zero: differences of state fade at this rate.",
        draw,
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
    last = max(
        5 + int(np.flatnonzero(line[90] > 1e-6)[-1]) for line in lines if line[90].max() > 1e-6
    )
    most = max(int(c.horizon.gradients.lags[-1]) for c in found)

    def draw():
        figure, axes = blank()
        for j, (each, line) in enumerate(zip(found, lines, strict=True)):
            decay, colour = each.horizon.gradients, f"C{j % 7}"
            if len(found) == 1:
                for inner, outer, alpha in ((10, 90, 0.15), (25, 75, 0.25)):
                    axes.fill_between(
                        decay.lags, line[inner], line[outer], alpha=alpha, color=colour, lw=0
                    )
            label = "median over positions" if len(found) == 1 else short(each.name)
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
        return figure

    decay = found[-1].horizon.gradients
    how = "" if decay.exact else f" Norms from {decay.directions} random input directions each."
    what = "median, middle half, 10 to 90 %" if len(found) == 1 else "the median of each"
    return Figure(
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
    error, floor = found[-1].horizon.error, 1e-9 * top
    last = max(
        5 + int(np.flatnonzero(line > floor)[-1]) for line in worst if line.max(initial=0.0) > floor
    )

    def draw():
        figure, axes = blank()
        for j, (each, line) in enumerate(zip(found, worst, strict=True)):
            replay, k = each.horizon.replay, np.arange(1, len(line) + 1)
            label = "largest" if len(found) == 1 else short(each.name)
            axes.plot(k, np.maximum(line, 1e-17), color=f"C{j % 7}", label=label)
            if len(found) == 1:
                axes.plot(
                    k, np.maximum(replay.typical, 1e-17), color="C1", label="root mean square"
                )
            if np.isfinite(replay.worst):
                axes.plot(replay.worst, error, "o", color=f"C{j % 7}", ms=5)
        axes.axhline(error, color="C7", ls="--", lw=1, label=f"allowed: {error:g}")
        proved = found[0].horizon["certified window"]
        if len(found) == 1 and proved is not None and proved <= 1.5 * len(worst[0]):
            axes.axvline(proved, color="C2", lw=1.2, label="proved window")
        axes.set(
            yscale="log",
            xlabel=f"window ({found[-1].unit})",
            ylabel="output error",
            xlim=(0, last),
            ylim=(floor, 2 * top),
        )
        axes.legend()
        return figure

    replay = found[-1].horizon.replay
    return Figure(
        "windows",
        "What a window leaves out",
        "Error of the output when only the last inputs are replayed from an empty state, "
        f"{replay.evidence}; the dots are the replay windows. The outputs have a root "
        f"mean square of {replay.scale:.3g}.",
        draw,
    )
