"""The pictures of the study; each is drawn from its dataset alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...report import Figure
from .comparison import better_rate
from .sweep_figures import band, radius_figure
from .weak_coupling import LEAVES


def figures(
    data: Mapping[str, xr.Dataset], informed: Any, over_angles: Figure
) -> tuple[Figure, ...]:
    """All pictures, in the order of the experiments."""
    return (
        _coupling(data),
        _gradients(data["gradients"]),
        radius_figure(data["table"]),
        over_angles,
        _informed(informed),
        _kinds(data["kinds"]),
        _adding(data["adding"]),
    )


def _coupling(data: Mapping[str, xr.Dataset]) -> Figure:
    spectra, blocks = data["spectra"], data["defective"]

    def draw() -> Any:
        import matplotlib.pyplot as plt

        radii = spectra.radius.values
        figure, axes = plt.subplots(
            1, len(radii) + 1, figsize=(3 * len(radii) + 3.4, 3.4), layout="constrained"
        )
        gamma = spectra.coupling.values
        for ax, r in zip(axes, radii, strict=False):
            ax.sharey(axes[0])
            here = spectra.sel(radius=r)
            for i, units in enumerate(spectra.units.values):
                gap = here.gap.sel(units=units).transpose("seed", "coupling").values
                ax.loglog(gamma, gap.mean(0), f"C{i}o-", ms=3.5, label=f"N = {units}")
                ax.fill_between(gamma, gap.min(0), gap.max(0), color=f"C{i}", alpha=0.2, lw=0)
            least = here.bound.min(["seed", "units"])
            ax.loglog(gamma, least, color="C7", lw=1, label="least proved bound")
            ax.axhline(LEAVES, color="C7", lw=0.6, ls=":")
            ax.set(xlabel="coupling γ", title=f"r = {r:g}")
        axes[0].set_ylabel("largest |λ − log r| (nats per step)")
        axes[0].legend(frameon=False, fontsize="small", loc="lower right")
        right = axes[-1]
        for i, units in enumerate(blocks.units.values):
            moved, gamma = blocks.moved.values[i], blocks.coupling.values
            right.loglog(gamma, moved, f"C{i}o", ms=3.5, label=f"block of size {units}")
            root = moved[0] * (gamma / gamma[0]) ** (1 / units)
            right.loglog(gamma, root, f"C{i}--", lw=1)
        right.set(xlabel="coupling γ", title="Jordan blocks")
        right.set_ylabel("movement of λ₁ (nats per step)")
        right.legend(frameon=False, fontsize="small")
        return figure

    return Figure(
        "weak-coupling",
        "Exponents leave log r in proportion to the coupling, unless R is defective",
        "R = rI: the largest distance of an exponent from log r, mean and range over seeds, "
        "below the least of the bounds proved for these networks; the dotted line is where "
        "weak coupling is said to end. Last: one Jordan block; dashed, the N-th root of γ.",
        draw,
        spectra,
    )


def _gradients(gradients: xr.Dataset) -> Figure:
    def draw() -> Any:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
        T, r = gradients.attrs["length"], gradients.radius.values
        for i, gamma in enumerate(gradients.coupling.values):
            left = gradients.left.sel(coupling=gamma).transpose("radius", "seed")
            band(ax, r, left.values, color=f"C{i}", label=f"γ = {gamma:g}")
        ax.plot(r, T * np.log(r), "--", color="C7", label="T log r")
        ax.axhline(0, color="C7", lw=0.6)
        ax.set(xlabel="radius r", ylabel=f"log gradient left after T = {T} steps")
        ax.legend(frameon=False)
        return figure

    return Figure(
        "gradients",
        "Gradients go as r^T, and a finite coupling moves the edge",
        "Norm of the gradient at the first state over that at the last, at initialisation.",
        draw,
        gradients,
    )


def _informed(informed: Any) -> Figure:
    spectrum = informed.spectrum
    return Figure(
        "informed",
        "Why the informed residual is what it is",
        "Left: the mean power spectrum of the training data and the peaks used. Right: the "
        "eigenvalues made of them; their radii give the timescales.",
        informed.draw,
        xr.Dataset({"power": ("angle", spectrum.power)}, {"angle": spectrum.angles}),
    )


def _kinds(kinds: xr.Dataset) -> Figure:
    def draw() -> Any:
        import matplotlib.pyplot as plt

        order = np.argsort(kinds.accuracy.mean("seed").values)
        values = kinds.accuracy.values[order]
        figure, ax = plt.subplots(figsize=(6.5, 0.6 + 0.27 * len(order)), layout="constrained")
        for i, row in enumerate(values):
            ax.plot(row, np.full(len(row), i), "o", ms=3.5, color="C0", alpha=0.6)
            ax.plot(row.mean(), i, "|", ms=12, color="C1")
        ax.set_yticks(range(len(order)), kinds.kind.values[order])
        ax.set(xlabel="held-out accuracy")
        ax.grid(axis="x", alpha=0.3)
        return figure

    return Figure(
        "kinds",
        "Residuals and their rivals on the same budget",
        "One dot a seed, a bar at the mean; each kind at the learning rate that the tuning "
        "half prefers.",
        draw,
        kinds,
    )


def _adding(sums: xr.Dataset) -> Figure:
    errors = better_rate(sums).transpose("length", "kind", "seed")

    def draw() -> Any:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
        lengths = errors.length.values.astype(float)
        for i, kind in enumerate(errors.kind.values):
            ours = errors.sel(kind=kind).transpose("length", "seed").values
            x = lengths * 1.06 ** (i - (errors.sizes["kind"] - 1) / 2)
            ax.plot(x, ours.mean(1), f"C{i}-", label=str(kind))
            for runs in ours.T:
                ax.plot(x, runs, f"C{i}o", ms=3.5, alpha=0.6)
        ax.axhline(1 / 6, color="C7", lw=0.8, ls="--", label="remembering nothing")
        ax.axhline(0.1 / 6, color="C7", lw=0.8, ls=":", label="solved below")
        ax.set(xlabel="length T (steps)", ylabel="mean square error")
        ax.set(xscale="log", yscale="log")
        ax.set_xticks(lengths, [f"{length:g}" for length in lengths])
        ax.minorticks_off()
        ax.legend(frameon=False, fontsize="small")
        return figure

    return Figure(
        "adding",
        "The adding problem over lengths",
        "Error after the same number of steps, at the better learning rate: a dot a seed "
        "(set a little aside), lines through the means.",
        draw,
        errors.to_dataset(name="error"),
    )
