"""What one network looks like: its units, states and fixed points."""

import numpy as np

from ...report import Figure
from ..figures import Found
from .canvas import blank


def units(found: Found) -> Figure | None:
    """The timescales of all units, layer by layer, the longest first."""
    if not found.units:
        return None

    def draw():
        figure, axes = blank()
        for j, layer in enumerate(found.units):
            order = layer.longest
            at = np.arange(1, len(order) + 1)
            axes.errorbar(
                at,
                layer.timescales[order],
                yerr=layer.stderr[order],
                fmt=".",
                color=f"C{j % 7}",
                label=f"layer {layer.layer}",
            )
        if np.isfinite(found.horizon.remembers):
            axes.axhline(
                found.horizon.remembers, color="C7", ls="--", lw=1, label="gradient horizon"
            )
        axes.set(yscale="log", xlabel="unit, the longest first", ylabel="timescale (steps)")
        axes.legend()
        return figure

    return Figure(
        "units",
        "Which units hold the long memory",
        "In this many steps a unit by itself fades by a factor e, with its standard error: "
        "−1 over the mean of log |∂h′/∂h| of the unit, at states visited. Of an LSTM, its cell state.",
        draw,
    )


def eigenvalues(found: Found) -> Figure:
    """The eigenvalues of the Jacobian beside the unit circle."""
    real, imaginary = np.real(found.eigenvalues), np.imag(found.eigenvalues)

    def draw():
        figure, axes = blank()
        angle = np.linspace(0, 2 * np.pi, 200)
        axes.plot(np.cos(angle), np.sin(angle), color="C7", lw=1)
        axes.plot(real, imaginary, "o", ms=3, alpha=0.7)
        axes.set(xlabel="real part", ylabel="imaginary part", aspect="equal")
        return figure

    return Figure(
        "eigenvalues",
        "Eigenvalues of the Jacobian",
        "At the mean state and the mean input; inside the circle a direction fades there.",
        draw,
    )


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

    def draw():
        figure, axes = blank()
        axes.plot(*flat.T, ".", ms=3, color="C7", alpha=0.6, label="states visited")
        marks = {"stable": "o", "saddle": "X", "repeller": "^", "marginal": "D", "slow": "s"}
        for j, (word, mark) in enumerate(marks.items()):
            at = [i for i, w in enumerate(words) if w == word]
            if at:
                axes.plot(*points[at].T, mark, ms=8, color=f"C{j}", label=word)
        axes.set(
            xlabel=f"first component ({100 * share[0]:.0f} %)",
            ylabel=f"second component ({100 * share[1]:.0f} %)",
        )
        axes.legend()
        return figure

    return Figure(
        "fixed-points",
        "States visited and fixed points",
        f"In the plane of the two largest principal components. Fixed points: {found.fixed_sentence}.",
        draw,
    )
