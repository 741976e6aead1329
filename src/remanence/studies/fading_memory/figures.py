"""The pictures of the study; each is drawn from its dataset alone."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...report import Figure
from .config import Config
from .weak_coupling import LEAVES


def figures(
    config: Config, data: Mapping[str, xr.Dataset], informed: Any, side: int
) -> tuple[Figure, ...]:
    """All pictures, in the order of the experiments."""
    return (
        _coupling(data),
        _gradients(data["gradients"]),
        _radius(data["table"]),
        _angle(data["table"], informed, side),
        _informed(informed),
        _kinds(data["kinds"]),
        _adding(data["adding"]),
    )


def _band(ax: Any, x: np.ndarray, values: np.ndarray, **style: Any) -> None:
    """The mean over seeds (last axis), with one standard deviation either side."""
    mean, spread = values.mean(-1), values.std(-1, ddof=1)
    (line,) = ax.plot(x, mean, "o-", ms=3.5, **style)
    ax.fill_between(x, mean - spread, mean + spread, alpha=0.2, color=line.get_color())


def _coupling(data: Mapping[str, xr.Dataset]) -> Figure:
    spectra, blocks = data["spectra"], data["defective"]

    def draw() -> Any:
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(
            1, 2, figsize=(9, 3.6), layout="constrained"
        )
        gamma = spectra.coupling.values
        for i, units in enumerate(spectra.units.values):
            for j, r in enumerate(spectra.radius.values):
                gap = spectra.gap.sel(units=units, radius=r).mean("seed")
                style = ("-", "--", ":", "-.")[j % 4]
                left.loglog(
                    gamma,
                    gap,
                    f"C{i}{style}",
                    marker=".",
                    label=f"N = {units}, r = {r:g}",
                )
        bound = spectra.bound.mean(["seed", "units"]).min("radius")
        left.loglog(gamma, bound, color="C7", lw=1, label="proved bound")
        left.axhline(LEAVES, color="C7", lw=0.6, ls=":")
        left.set(xlabel="coupling γ", ylabel="largest |λ − log r| (nats per step)")
        left.legend(frameon=False, fontsize="x-small", ncols=2)
        for i, units in enumerate(blocks.units.values):
            moved, gamma = blocks.moved.values[i], blocks.coupling.values
            right.loglog(
                gamma, moved, f"C{i}o-", ms=3.5, label=f"block of size {units}"
            )
            root = moved[0] * (gamma / gamma[0]) ** (1 / units)
            right.loglog(gamma, root, color="C7", lw=0.8, ls="--")
        right.set(xlabel="coupling γ", ylabel="movement of λ₁ (nats per step)")
        right.legend(frameon=False, fontsize="small")
        return figure

    return Figure(
        "weak-coupling",
        "Exponents leave log r in proportion to the coupling, unless R is defective",
        "Left: the largest distance of an exponent from log r, mean over seeds; the dotted "
        "line is where weak coupling is said to end. Right: one Jordan block; dashed, the "
        "N-th root of γ.",
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
            _band(ax, r, left.values, color=f"C{i}", label=f"γ = {gamma:g}")
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


def _radius(table: xr.Dataset) -> Figure:
    rows = table.isel(case=np.flatnonzero(table.experiment.values == "radius"))

    def draw() -> Any:
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(
            1, 2, figsize=(9, 3.4), sharey=True, layout="constrained"
        )
        final = rows.accuracy.isel(mark=-1).values
        _band(left, rows.value.values, final)
        left.set(xlabel="radius r", ylabel="held-out accuracy")
        exponent = rows.before.values.mean(1)
        _band(right, exponent, final)
        right.axvline(0, color="C7", lw=0.8, ls="--")
        right.set(xlabel="largest exponent before training (nats per step)")
        return figure

    return Figure(
        "radius",
        "Accuracy over the radius, and over the exponent that was measured",
        "Homogeneous residuals rI. The edge of chaos (dashed) is where the measured exponent "
        "is 0; at this coupling that is not at r = 1.",
        draw,
        rows,
    )


def _angle(table: xr.Dataset, informed: Any, side: int) -> Figure:
    def draw() -> Any:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
        for i, where in enumerate(("sequential", "permuted")):
            name = f"angle, {where}"
            rows = table.isel(case=np.flatnonzero(table.experiment.values == name))
            final = rows.accuracy.isel(mark=-1).values
            _band(ax, rows.value.values, final, color=f"C{i}", label=f"{where} pixels")
        row = 2 * math.pi / side
        ax.axvline(row, color="C7", lw=0.8, ls="--", label=f"2π/{side}")
        twin = ax.twinx()
        S = informed.spectrum
        twin.fill_between(S.angles, S.power, color="C7", alpha=0.15, lw=0)
        twin.set_yticks([])
        twin.set_ylim(0, 1.1 * S.power.max())
        ax.set(xlabel="angle φ (radians per step)", ylabel="held-out accuracy")
        ax.legend(frameon=False, loc="lower right")
        return figure

    return Figure(
        "angle",
        "Accuracy over the angle of a rotational residual",
        "Shaded: mean power spectrum of the pixels in order. Bands: one standard deviation "
        "over seeds.",
        draw,
        table.isel(
            case=np.char.startswith(table.experiment.values.astype(str), "angle")
        ),
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
        figure, ax = plt.subplots(
            figsize=(6.5, 0.6 + 0.27 * len(order)), layout="constrained"
        )
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
    def draw() -> Any:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
        final = sums.error.isel(mark=-1).transpose("length", "kind", "rate", "seed")
        for i, kind in enumerate(sums.kind.values):
            ours = final.sel(kind=kind)
            rate = ours.mean("seed").argmin("rate")
            values = ours.isel(rate=rate).transpose("length", "seed").values
            _band(ax, sums.length.values, values, color=f"C{i}", label=str(kind))
        ax.axhline(1 / 6, color="C7", lw=0.8, ls="--", label="remembering nothing")
        ax.set(xlabel="length T (steps)", ylabel="mean square error", yscale="log")
        ax.legend(frameon=False, fontsize="small")
        return figure

    return Figure(
        "adding",
        "The adding problem over lengths",
        "Error after the same number of steps, at the better learning rate.",
        draw,
        sums,
    )
