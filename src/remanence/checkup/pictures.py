"""The pictures of a checkup: exponents, gradients, windows, eigenvalues, weights, fixed points."""

import numpy as np
import xarray as xr

from ..report import Figure
from .record import Checkup


def pictures(found: Checkup) -> tuple[Figure, ...]:
    """Every picture that the checkup has something for."""
    makers = (
        _spectrum,
        _gradients,
        _windows,
        _eigenvalues,
        _singular,
        _fourier,
        _fixed,
    )
    return tuple(figure for make in makers if (figure := make(found)) is not None)


def _axes(**options):
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, 3.8), **options)


def _spectrum(found: Checkup) -> Figure | None:
    spectrum = found.spectrum
    finite = np.isfinite(spectrum.exponents)
    if not finite.any():
        return None
    index = np.arange(1, len(spectrum.exponents) + 1)
    low, high = spectrum.confidence()

    def draw():
        figure, (left, right) = _axes(ncols=2, width_ratios=(3, 2))
        left.axhline(0, color="C7", lw=1)
        left.errorbar(
            index[finite],
            spectrum.exponents[finite],
            yerr=(spectrum.exponents - low)[finite],
            fmt="o" if len(index) < 60 else ".",
            ms=3,
            capsize=2 if len(index) < 60 else 0,
        )
        left.set(xlabel="index", ylabel="exponent (nats per step)")
        for j in range(min(4, int(finite.sum()))):
            right.plot(spectrum.times, spectrum.running[:, j], color=f"C{j}")
        right.axhline(0, color="C7", lw=1)
        right.set(
            xlabel="steps measured", ylabel="running estimate", title="the first few"
        )
        return figure

    dead = int((~finite).sum())
    note = f" {dead} exponents are -inf and not drawn." if dead else ""
    return Figure(
        "spectrum",
        "Lyapunov exponents",
        f"With 95 % intervals that account for autocorrelation: {spectrum.verdict}.{note} "
        "Below zero: differences of state fade at this rate.",
        draw,
        xr.Dataset(
            {
                "exponent": ("index", spectrum.exponents),
                "low": ("index", low),
                "high": ("index", high),
            },
            coords={"index": index},
        ),
    )


def _gradients(found: Checkup) -> Figure | None:
    decay = found.horizon.gradients
    lines = {
        q: np.maximum(decay.quantile(q / 100), 1e-16) for q in (10, 25, 50, 75, 90)
    }
    if not lines[90].max() > 1e-16:
        return None
    # Beyond a millionth there is nothing to see.
    last = min(int(decay.lags[-1]), 5 + int(np.flatnonzero(lines[90] > 1e-6)[-1]))

    def draw():
        figure, axes = _axes()
        axes.fill_between(
            decay.lags, lines[10], lines[90], alpha=0.15, color="C0", lw=0
        )
        axes.fill_between(
            decay.lags, lines[25], lines[75], alpha=0.25, color="C0", lw=0
        )
        axes.plot(decay.lags, lines[50], label="median over positions")
        axes.axhline(np.exp(-1), color="C7", lw=1, ls="--", label="1/e")
        if np.isfinite(decay.remembers):
            axes.axvline(decay.remembers, color="C1", lw=1.2, label="remembers")
        axes.set(
            yscale="log",
            xlabel="lag (steps)",
            ylabel="gradient relative to lag 0",
            ylim=(1e-6, 2 * max(1.0, lines[90].max())),
            xlim=(0, last),
        )
        axes.legend()
        return figure

    how = "" if decay.exact else " Norms from random input directions."
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


def _windows(found: Checkup) -> Figure | None:
    gaps = found.horizon.forgetting
    worst, middle = gaps.outputs.max(axis=0), np.median(gaps.outputs, axis=0)
    if not worst.max() > 0:
        return None
    floor = 1e-9 * worst.max()
    last = min(int(gaps.windows[-1]), 5 + int(np.flatnonzero(worst > floor)[-1]))

    def draw():
        figure, axes = _axes()
        axes.plot(gaps.windows, np.maximum(worst, 1e-17), label="largest")
        axes.plot(gaps.windows, np.maximum(middle, 1e-17), label="median", color="C5")
        axes.axhline(
            found.horizon.error,
            color="C7",
            ls="--",
            lw=1,
            label=f"{found.horizon.error:g}",
        )
        proved = found.horizon["certified window"]
        if proved is not None and proved <= 1.5 * gaps.windows[-1]:
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
        f"Error of the output when only the last inputs are heard, at {len(gaps.starts)} "
        f"places. The outputs have a root mean square of {gaps.scale:.3g}.",
        draw,
        xr.Dataset(
            {"largest": ("window", worst), "median": ("window", middle)},
            coords={"window": gaps.windows},
        ),
    )


def _eigenvalues(found: Checkup) -> Figure:
    real, imaginary = np.real(found.eigenvalues), np.imag(found.eigenvalues)

    def draw():
        figure, axes = _axes()
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
        xr.Dataset({"real": ("index", real), "imaginary": ("index", imaginary)}),
    )


def _singular(found: Checkup) -> Figure | None:
    if not found.singular:
        return None

    def draw():
        figure, axes = _axes()
        for j, (name, values) in enumerate(found.singular.items()):
            share = np.arange(1, len(values) + 1) / len(values)
            kept = np.maximum(values, 1e-12)
            axes.plot(
                share, kept, color=f"C{j % 8}", ls="-" if j < 8 else "--", label=name
            )
        axes.axhline(1, color="C7", lw=1)
        axes.set(
            yscale="log", xlabel="rank (share of the whole)", ylabel="singular value"
        )
        if len(found.singular) <= 16:
            axes.legend(ncols=2 if len(found.singular) > 4 else 1)
        return figure

    width = max(len(v) for v in found.singular.values())
    pad = lambda v: np.pad(v, (0, width - len(v)), constant_values=np.nan)
    return Figure(
        "singular-values",
        "Singular values of the weights",
        "Every weight matrix, gate by gate. A quick fall is low rank.",
        draw,
        xr.Dataset({_safe(n): ("rank", pad(v)) for n, v in found.singular.items()}),
    )


def _fourier(found: Checkup) -> Figure | None:
    if not found.fourier:
        return None

    def draw():
        figure, axes = _axes()
        for j, (name, share) in enumerate(found.fourier.items()):
            frequency = np.arange(len(share)) / max(2 * (len(share) - 1), 1)
            axes.plot(frequency, share, color=f"C{j % 7}", label=name)
            axes.axhline(1 / max(len(share) - 1, 1), color="C7", lw=0.8, ls=":")
        axes.set(
            xlabel="frequency (cycles per row)",
            ylabel="share of energy",
            ylim=(0, None),
        )
        axes.legend()
        return figure

    width = max(len(v) for v in found.fourier.values())
    pad = lambda v: np.pad(v, (0, width - len(v)), constant_values=np.nan)
    return Figure(
        "fourier",
        "Fourier structure of the weights",
        "Energy along tokens, inputs and outputs in their given order; dotted: what "
        "weights without order would show.",
        draw,
        xr.Dataset({_safe(n): ("frequency", pad(v)) for n, v in found.fourier.items()}),
    )


def _fixed(found: Checkup) -> Figure | None:
    orbit = found.orbit[len(found.orbit) // 5 :]
    if not np.isfinite(orbit).all() or orbit.shape[1] < 2:
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
        figure, axes = _axes()
        axes.plot(*flat.T, ".", ms=2, color="C7", alpha=0.5, label="states visited")
        marks = {
            "stable": "o",
            "saddle": "X",
            "repeller": "^",
            "marginal": "D",
            "slow": "s",
        }
        for j, (word, mark) in enumerate(marks.items()):
            at = [i for i, w in enumerate(words) if w == word]
            if at:
                axes.plot(*points[at].T, mark, ms=8, color=f"C{j}", label=word)
        axes.set(
            xlabel=f"first component ({share[0]:.0%})",
            ylabel=f"second component ({share[1]:.0%})",
        )
        axes.legend()
        return figure

    return Figure(
        "fixed-points",
        "States visited and fixed points",
        f"In the plane of the two largest principal components. Fixed points: {found.fixed_sentence}.",
        draw,
        xr.Dataset({"first": ("step", flat[:, 0]), "second": ("step", flat[:, 1])}),
    )


def _safe(name: str) -> str:
    return name.replace("/", "_")
