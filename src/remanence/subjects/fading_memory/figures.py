"""The pictures of the study; each is drawn from its dataset alone."""

import math
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...report import Figure, figure
from .claims.accuracy import learning_speed, NEAR
from .claims.kinds import accuracy_by_kind, rows_of
from .informed_residual import PowerSpectrum
from .weak_coupling import LEAVES


def _last(table: xr.Dataset, experiment: str, name: str) -> xr.Dataset:
    """What a sweep over one number came to: accuracies at the end, exponents before it."""
    rows = rows_of(table, experiment)[["accuracy", "tuning", "before"]].isel(mark=-1)
    rows = rows.swap_dims(case="value").reset_coords(drop=True)
    return rows.rename(before="exponent", value=name)


def _angles(table: xr.Dataset) -> xr.Dataset:
    orders = ["sequential", "permuted"]
    parts = [_last(table, f"angle, {order}", "angle") for order in orders]
    rows = xr.concat(parts, "pixels", join="outer").assign_coords(pixels=orders)
    return rows.transpose("pixels", "angle", "seed")


def _band(ax, x: np.ndarray, values: np.ndarray, **style) -> None:
    """The mean over seeds (last axis), with one standard deviation either side."""
    mean, spread = values.mean(-1), values.std(-1, ddof=1)
    (line,) = ax.plot(x, mean, "o-", ms=3.5, **style)
    ax.fill_between(x, mean - spread, mean + spread, alpha=0.2, color=line.get_color())


@figure(
    "weak-coupling",
    "Exponents leave log r in proportion to the coupling, unless R is defective",
    "R = rI: the largest distance of an exponent from log r, mean and range over seeds, below "
    "the least of the bounds proved for these networks; the dotted line is where weak coupling "
    "is said to end. Last: one Jordan block; dashed, the N-th root of γ.",
)
def _draw_coupling(spectra: xr.Dataset, blocks: xr.Dataset):
    radii, gamma = spectra.radius.values, spectra.coupling.values
    drawing, axes = plt.subplots(1, len(radii) + 1, figsize=(3 * len(radii) + 3.4, 3.4))
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
    axes[0].legend(loc="lower right")
    right, gamma = axes[-1], blocks.coupling.values
    for i, (units, moved) in enumerate(zip(blocks.units.values, blocks.moved.values, strict=True)):
        right.loglog(gamma, moved, f"C{i}o", ms=3.5, label=f"block of size {units}")
        right.loglog(gamma, moved[0] * (gamma / gamma[0]) ** (1 / units), f"C{i}--", lw=1)
    right.set(xlabel="coupling γ", ylabel="movement of λ₁ (nats per step)", title="Jordan blocks")
    right.legend()
    return drawing


@figure(
    "gradients",
    "Gradients go as r^T, and a finite coupling moves the edge",
    "Norm of the gradient at the first state over that at the last, at initialisation.",
)
def _draw_gradients(gradients: xr.Dataset):
    drawing, ax = plt.subplots(figsize=(5, 3.6))
    T, r = gradients.attrs["length"], gradients.radius.values
    for i, gamma in enumerate(gradients.coupling.values):
        left = gradients.left.sel(coupling=gamma).transpose("radius", "seed")
        _band(ax, r, left.values, color=f"C{i}", label=f"γ = {gamma:g}")
    ax.plot(r, T * np.log(r), "--", color="C7", label="T log r")
    ax.axhline(0, color="C7", lw=0.6)
    ax.set(xlabel="radius r", ylabel=f"log gradient left after T = {T} steps")
    ax.legend()
    return drawing


@figure(
    "radius",
    "Accuracy over the radius, and over the exponent that was measured",
    "Homogeneous residuals rI, mean and standard deviation over seeds. The edge of chaos "
    "(dashed; shaded, what counts as near it) is where the measured exponent is 0; at this "
    "coupling that is not at r = 1.",
)
def _draw_radius(rows: xr.Dataset):
    drawing, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    _band(left, rows.radius.values, rows.accuracy.values)
    chosen = rows.isel(radius=int(rows.tuning.mean("seed").argmax("radius")))
    at = float(chosen.radius), float(chosen.accuracy.mean())
    left.plot(*at, "D", color="C1", label="best on validation images")
    left.set(xlabel="radius r", ylabel="test accuracy")
    left.legend()
    _band(right, rows.exponent.values.mean(1), rows.accuracy.values)
    _exponent_axis(right, float(rows.exponent.min()))
    return drawing


def _exponent_axis(ax, least: float) -> None:
    """Linear within the edge, logarithmic beyond: all that is decided lies near 0."""
    ax.axvline(0, color="C7", lw=0.8, ls="--")
    ax.set_xscale("symlog", linthresh=NEAR, linscale=1)
    ax.axvspan(-NEAR, NEAR, color="C7", alpha=0.1, lw=0)
    ticks = [t for t in (-1, -0.3, -NEAR, 0, NEAR) if t >= 1.4 * least]
    ax.set_xticks(ticks, [f"{t:g}".replace("-", "−") for t in ticks])
    ax.minorticks_off()
    ax.set(xlabel="largest exponent before training (nats per step)")


@figure(
    "speed",
    "How fast networks near the edge of chaos learn",
    "Training steps to the accuracy on test images: one dot per seed, a bar at the mean; open dots did "
    "not get there and count as one mark beyond their budget. Orange: the radius that validation "
    "images choose near the edge (shaded) and far from it.",
)
def _draw_speed(speed: xr.Dataset):
    drawing, ax = plt.subplots(figsize=(5, 3.6))
    for i in range(speed.sizes["radius"]):
        here = speed.isel(radius=i)
        at, never = float(here.exponent), here.steps.isnull().values
        steps = here.steps.fillna(here.late).values
        ax.plot(np.full((~never).sum(), at), steps[~never], "C0o", ms=3.5, alpha=0.6)
        ax.plot(np.full(never.sum(), at), steps[never], "C0o", ms=3.5, mfc="none")
        ax.plot(at, steps.mean(), "C1_" if here.fastest else "C0_", ms=14, mew=2)
    _exponent_axis(ax, float(speed.exponent.min()))
    ax.set(ylabel=f"steps to {float(speed.target):.0%}", ylim=(0, None))
    return drawing


@figure(
    "angle",
    "Accuracy over the angle of a rotational residual",
    "Shaded: mean power spectrum of the pixels in order. Bands: one standard deviation over seeds.",
)
def _draw_angle(rows: xr.Dataset, spectrum: PowerSpectrum, side: int):
    drawing, ax = plt.subplots(figsize=(6, 3.8))
    for i, order in enumerate(rows.pixels.values):
        final = rows.sel(pixels=order).dropna("angle")
        style = {"color": f"C{i}", "label": f"{order} pixels"}
        _band(ax, final.angle.values, final.accuracy.values, **style)
    ax.axvline(math.tau / side, color="C7", lw=0.8, ls="--", label=f"2π/{side}")
    behind = ax.twinx()
    behind.fill_between(spectrum.angles, spectrum.power, color="C7", alpha=0.15, lw=0)
    behind.set(yticks=[], ylim=(0, 1.1 * spectrum.power.max()))
    widest = float(rows.angle.max())  # the spectrum goes on to π
    limits = (-0.03 * widest, 1.03 * widest)
    ax.set(xlabel="angle φ (radians per step)", ylabel="test accuracy", xlim=limits)
    ax.legend(loc="upper right")
    return drawing


@figure(
    "kinds",
    "Residuals and their rivals on the same budget",
    "One dot per seed, a bar at the mean; each kind at the learning rate that a short training with "
    "validation images chose.",
)
def _draw_kinds(kinds: xr.Dataset):
    ordered = kinds.accuracy.isel(kind=np.argsort(kinds.accuracy.mean("seed").values))
    count = ordered.sizes["kind"]
    drawing, ax = plt.subplots(figsize=(6.5, 0.6 + 0.27 * count))
    ax.plot(ordered.values, range(count), "o", ms=3.5, color="C0", alpha=0.6)
    ax.plot(ordered.mean("seed"), range(count), "|", ms=12, color="C1")
    ax.set_yticks(range(count), ordered.kind.values)
    ax.set(xlabel="test accuracy")
    ax.grid(axis="x", alpha=0.3)
    return drawing


@figure(
    "adding",
    "The adding problem over lengths",
    "Error after the same number of steps: one dot per seed (set a little aside), lines through the "
    "means.",
)
def _draw_adding(data: xr.Dataset):
    drawing, ax = plt.subplots(figsize=(6.5, 3.6))
    errors = data.error
    lengths = errors.length.values.astype(float)
    for i, kind in enumerate(errors.kind.values):
        ours = errors.sel(kind=kind).values
        x = lengths * 1.06 ** (i - (errors.sizes["kind"] - 1) / 2)
        ax.plot(x, ours.mean(1), f"C{i}-", label=str(kind))
        ax.plot(x, ours, f"C{i}o", ms=3.5, alpha=0.6)
    ax.axhline(1 / 6, color="C7", lw=0.8, ls="--", label="remembering nothing")
    ax.axhline(0.1 / 6, color="C7", lw=0.8, ls=":", label="solved below")
    ax.set(xlabel="length T (steps)", ylabel="mean square error", xscale="log", yscale="log")
    ax.set_xticks(lengths, [f"{length:g}" for length in lengths])
    ax.minorticks_off()
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawing


def figures(results: Mapping[str, Any]) -> tuple[Figure, ...]:
    """All pictures, in the order of the experiments."""
    table, errors = results["table"], results["adding"].error.isel(mark=-1)
    errors = errors.transpose("length", "kind", "seed").reset_coords(drop=True)
    return (
        _draw_coupling(results["spectra"], results["defective"]),
        _draw_gradients(results["gradients"]),
        _draw_radius(_last(table, "radius", "radius")),
        _draw_speed(learning_speed(table, results["config"].targets)),
        _draw_angle(_angles(table), results["spectrum"], results["side"]),
        _draw_kinds(accuracy_by_kind(table).to_dataset(name="accuracy")),
        _draw_adding(errors.to_dataset(name="error")),
    )
