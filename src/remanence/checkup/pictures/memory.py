"""How memory fades: exponents, gradients and what a window leaves out."""

import numpy as np
import xarray as xr

from ...report import Figure
from ..record import Checkup
from .canvas import blank


def spectrum(found: Checkup) -> Figure | None:
    """Exponents with their intervals, and the running estimate of the first few."""
    measured = found.spectrum
    finite = np.isfinite(measured.exponents)
    if not finite.any():
        return None
    index = np.arange(1, len(measured.exponents) + 1)
    low, high = measured.confidence()

    def draw():
        figure, (left, right) = blank(ncols=2, width_ratios=(3, 2))
        left.axhline(0, color="C7", lw=1)
        left.errorbar(
            index[finite],
            measured.exponents[finite],
            yerr=(measured.exponents - low)[finite],
            fmt="o" if len(index) < 60 else ".",
            ms=3,
            capsize=2 if len(index) < 60 else 0,
        )
        left.set(xlabel="index", ylabel="exponent (nats per step)")
        for j in range(min(4, int(finite.sum()))):
            right.plot(measured.times, measured.running[:, j], color=f"C{j}")
        right.axhline(0, color="C7", lw=1)
        right.set(
            xlabel="steps measured", ylabel="running estimate", title="the first few"
        )
        return figure

    dead = int((~finite).sum())
    note = f" {dead} exponents are −∞ and not drawn." if dead else ""
    return Figure(
        "spectrum",
        "Lyapunov exponents",
        f"With 95 % intervals that account for autocorrelation: {measured.verdict}.{note} "
        "Below zero: differences of state fade at this rate.",
        draw,
        xr.Dataset(
            {
                "exponent": ("index", measured.exponents),
                "low": ("index", low),
                "high": ("index", high),
            },
            coords={"index": index},
        ),
    )


def gradients(found: Checkup) -> Figure | None:
    """The whole distribution of the gradient's decay over positions."""
    decay = found.horizon.gradients
    lines = {
        q: np.maximum(decay.quantile(q / 100), 1e-16) for q in (10, 25, 50, 75, 90)
    }
    if not lines[90].max() > 1e-16:
        return None
    # Beyond a millionth there is nothing to see.
    last = min(int(decay.lags[-1]), 5 + int(np.flatnonzero(lines[90] > 1e-6)[-1]))

    def draw():
        figure, axes = blank()
        axes.fill_between(
            decay.lags, lines[10], lines[90], alpha=0.15, color="C0", lw=0
        )
        axes.fill_between(
            decay.lags, lines[25], lines[75], alpha=0.25, color="C0", lw=0
        )
        axes.plot(decay.lags, lines[50], label="median over positions")
        axes.axhline(np.exp(-1), color="C7", lw=1, ls="--", label="1/e")
        if np.isfinite(decay.remembers):
            axes.axvline(decay.remembers, color="C1", lw=1.2, label="below 1/e")
        if decay.plateau is not None:
            axes.axhline(decay.plateau.level, color="C2", lw=1, ls=":", label="level")
        axes.set(
            yscale="log",
            xlabel="lag (steps)",
            ylabel="gradient relative to lag 0",
            ylim=(1e-6, 2 * max(1.0, lines[90].max())),
            xlim=(0, last),
        )
        axes.legend()
        return figure

    how = (
        ""
        if decay.exact
        else f" Norms from {decay.directions} random input directions each."
    )
    return Figure(
        "gradients",
        "How the gradient fades",
        "Norm of the derivative of a state by an input i steps before, over "
        f"{len(decay.positions)} positions: median, middle half, 10 to 90 %.{how}",
        draw,
        xr.Dataset(
            {f"q{q}": ("lag", line) for q, line in lines.items()},
            coords={"lag": decay.lags},
        ),
    )


def windows(found: Checkup) -> Figure | None:
    """The error of the output against the length of the window."""
    replay = found.horizon.replay
    worst, typical = replay.largest, replay.typical
    tried = np.arange(1, replay.longest + 1)
    if not worst.max() > 0:
        return None
    floor = 1e-9 * worst.max()
    last = min(replay.longest, 5 + int(np.flatnonzero(worst > floor)[-1]))

    def draw():
        figure, axes = blank()
        axes.plot(tried, np.maximum(worst, 1e-17), label="largest")
        axes.plot(
            tried, np.maximum(typical, 1e-17), label="root mean square", color="C1"
        )
        axes.axhline(
            found.horizon.error,
            color="C7",
            ls="--",
            lw=1,
            label=f"allowed: {found.horizon.error:g}",
        )
        proved = found.horizon["certified window"]
        if proved is not None and proved <= 1.5 * replay.longest:
            axes.axvline(proved, color="C2", lw=1.2, label="proved window")
        axes.set(
            yscale="log",
            xlabel="window (steps)",
            ylabel="output error",
            xlim=(0, last),
            ylim=(floor, 2 * worst.max()),
        )
        axes.legend()
        return figure

    return Figure(
        "windows",
        "What a window leaves out",
        "Error (Euclidean norm) of the output when only the last inputs are replayed, "
        f"{replay.evidence}. The outputs have a norm of {replay.scale:.3g}, root mean square.",
        draw,
        xr.Dataset(
            {"largest": ("window", worst), "typical": ("window", typical)},
            coords={"window": tried},
        ),
    )
