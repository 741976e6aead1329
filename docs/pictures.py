"""The pictures of the README and of the guide, drawn from what the package measures.

    python docs/pictures.py [NAME ...]     writes docs/images/NAME.svg and NAME-dark.svg

Every number in them is measured here; nothing is drawn by hand.
"""

import functools
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

import remanence as rm
from remanence import cells, measure, nets, sweeps, train
from remanence.report.style import PALETTES, style, Theme
from remanence.subjects.fading_memory.residual_spectrum import spectral
from remanence.subjects.memorization.figures import polygon


IMAGES = pathlib.Path(__file__).parent / "images"


@functools.cache
def chaos() -> Any:
    """Largest exponents of one driven network over its gain and the strength of the drive."""
    units = 32
    rng = np.random.default_rng(0)
    W, W_x = (rng.normal(size=(units, units)) / np.sqrt(units), rng.normal(size=(units, 1)))
    xs = rng.normal(size=(400, 1))

    def lane(point, key, data):
        W, W_x, xs = data
        cell = cells.Elman(point["gain"] * W, point["drive"] * W_x, jnp.zeros(units))
        start = jnp.zeros(units)
        found = measure.exponents_along(cell, start, xs, k=1, interval=1, warmup=100)
        return {"exponent": found[0]}

    axes = {"gain": np.linspace(0.5, 3.5, 64), "drive": np.linspace(0.1, 1.5, 64)}
    return sweeps.sweep(lane, axes, chunk=512, data=(W, W_x, xs), x64=True)


@functools.cache
def fading() -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Windows, with the gap that is proved and the gap that is measured at each."""
    cell = cells.Elman.init(3, 24, key=jax.random.key(0), gain=0.35)
    xs = jax.random.uniform(jax.random.key(1), (1000, 3), minval=-1, maxval=1)
    proof = rm.contraction(cell, input_bound=1.0)
    windows = np.arange(1, 17)
    proved = np.asarray([measure.truncation_bound(proof, int(k)) for k in windows])
    gaps = measure.truncation_error(cell, xs, windows.tolist(), gradients=False)
    return windows, proved, gaps.states, rm.truncation_window(proof, error=1e-3)


def wheel(ax: Any, text: str) -> None:
    """A string in two units, without the numbers of its axes."""
    polygon(ax, rm.memorize(text, method="rotation"))
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    ax.spines[:].set_visible(False)
    for letter in ax.texts:
        letter.set_fontsize(11)


def edge(fig: Any, ax: Any, found: Any, theme: Theme) -> None:
    """The map of the largest exponent; the line is the edge of chaos."""
    palette = PALETTES[theme]
    middle = palette.raised
    shades = LinearSegmentedColormap.from_list("fade", [palette.cycle[0], middle, palette.cycle[1]])
    x, y = found.gain.values, found.drive.values
    values = found.exponent.values.T
    reach = TwoSlopeNorm(0.0, vmin=-1.0, vmax=0.5)
    drawn = ax.pcolormesh(x, y, values, cmap=shades, norm=reach, rasterized=True)
    ax.contour(x, y, values, levels=[0.0], colors=[palette.ink], linewidths=1.2)
    ax.set(xlabel="gain of the weights", ylabel="strength of the input")
    bar = fig.colorbar(drawn, ax=ax, ticks=[-1.0, -0.5, 0.0, 0.5])
    bar.set_label("largest exponent (nats/step)")
    bar.outline.set_visible(False)


def window(ax: Any) -> None:
    """What truncation costs: proved above measured, and the window that follows."""
    k, proved, measured, chosen = fading()
    ax.semilogy(k, proved, "C1o-", ms=4, label="proved, for all inputs")
    ax.semilogy(k, measured, "C0o-", ms=4, label="measured, on 1000")
    ax.axhline(1e-3, color="C7", lw=0.8, ls=":")
    ax.axvline(chosen, color="C7", lw=0.8, ls=":")
    ax.annotate(
        f"window {chosen}", (chosen, proved[0]), (-4, 0), textcoords="offset points",
        ha="right", va="top", color="C7",
    )  # fmt: skip
    ax.set(xlabel="last inputs that are read", ylabel="largest error of the state")
    ax.set_xticks(range(1, 17, 3))
    ax.legend(loc="lower left")


def hero(theme: Theme) -> Any:
    """The README's: a memory written, memories measured, a memory proved."""
    fig, axes = plt.subplots(
        1, 3, figsize=(12.5, 3.9), width_ratios=[1, 1.35, 1.15], layout="constrained"
    )
    wheel(axes[0], "abracadabra")
    axes[0].set_title("Written: “abracadabra” in two units")
    edge(fig, axes[1], chaos(), theme)
    axes[1].set_title("Measured: the edge of chaos")
    window(axes[2])
    axes[2].set_title("Proved: how much past is enough")
    return fig


def orbits(theme: Theme) -> Any:
    """Three cells from the same state: a turn that fades, one that stays, one driven out."""
    fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
    for ax, (radius, gamma) in zip(axes, ((0.95, 0.0), (1.0, 0.0), (0.98, 0.3)), strict=True):
        R = jnp.asarray(spectral([radius], [0.3]), jnp.float32)
        W = jnp.asarray([[1.5, -0.5], [0.5, 1.5]])
        cell = cells.Residual(R, W, jnp.zeros((2, 1)), coupling=gamma)
        hs = nets.unroll(cell, jnp.asarray([1.0, 0.0]), jnp.zeros((60, 1)))
        h = np.asarray(hs)
        ax.plot(*h.T, ".-", lw=0.8, ms=4)
        ax.set_aspect("equal")
        ax.set_title(f"|R| = {radius}, γ = {gamma}")
        ax.set(xlabel="$h[0]$", ylabel="$h[1]$")
    return fig


def spectrum(theme: Theme) -> Any:
    """Exponents of a driven GRU with their error bars."""
    gru = cells.GRU.init(3, 16, key=jax.random.key(0))
    xs = jax.random.uniform(jax.random.key(1), (600, 3), minval=-1, maxval=1)
    found = rm.lyapunov_spectrum(gru, xs)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    place = 1 + np.arange(len(found.exponents))
    left.errorbar(place, found.exponents, found.stderr, fmt="o", ms=4, capsize=2)
    left.axhline(0, color="C7", lw=0.8)
    left.set(xlabel="index", ylabel="exponent (nats/step)", title="A driven GRU")
    window(right)
    right.set_title("A certificate beside what is measured")
    return fig


def wheels(theme: Theme) -> Any:
    """Four strings, each in two units."""
    fig, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
    for ax, text in zip(axes, ("0001", "00000111", "abracadabra", "hello world"), strict=True):
        wheel(ax, text)
        ax.set_title(text)
    return fig


def memory(theme: Theme) -> Any:
    """The tutorial's first memory."""
    fig, ax = plt.subplots(figsize=(4.4, 4.4), layout="constrained")
    wheel(ax, "abracadabra")
    return fig


def replay(theme: Theme) -> Any:
    """The how-to's network: the largest error of every window, and the window of every position."""
    key_cell, key_net, key_x = jax.random.split(jax.random.key(0), 3)
    cell = cells.Elman.init(2, 16, key=key_cell, gain=0.4)
    net = nets.Recurrent.init(cell, outputs=1, key=key_net)
    xs = jax.random.uniform(key_x, (300, 2), minval=-1, maxval=1)
    found = rm.replay_window(net, xs, error=1e-3)
    proof = rm.contraction(cell, input_bound=1.0, time_limit=20)
    windows = np.arange(1, 17)
    proved = [measure.truncation_bound(proof, int(k), net=net) for k in windows]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    left.semilogy(windows, proved, "C1o-", ms=4, label="proved, for all inputs")
    left.semilogy(windows, found.largest[:16], "C0o-", ms=4, label="measured, at all 300 positions")
    left.axhline(found.error, color="C7", lw=0.8, ls=":")
    left.axvline(found.window, color="C7", lw=0.8, ls=":")
    left.set(xlabel="window (steps)", ylabel="largest error of the output")
    left.legend(loc="lower left")
    values, counts = np.unique(np.asarray(found.at), return_counts=True)
    right.bar(values, counts)
    right.set(xlabel="window that a position needs (steps)", ylabel="positions")
    return fig


def informed(theme: Theme) -> Any:
    """The residual that sunspots ask for."""
    return rm.informed_residual(rm.tasks.sunspots(), units=16, timescales=[11, 44]).draw()


def training(theme: Theme) -> Any:
    """The loss of the guide's example: to recall the input of one step ago."""
    key_cell, key_net, key_fit, key_x = jax.random.split(jax.random.key(0), 4)
    cell = cells.Elman.init(1, 8, key=key_cell)
    net = nets.Recurrent.init(cell, outputs=1, key=key_net)
    xs = jax.random.normal(key_x, (16, 20, 1))

    def loss(net, batch, key):
        return jnp.mean((jax.vmap(net)(batch)[:, 1:] - batch[:, :-1]) ** 2)

    run = train.fit(net, loss, optax.adam(1e-2), steps=200, key=key_fit, data=xs, every=10)
    fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
    ax.semilogy(run.history.step, run.history.loss, "o-", ms=4)
    ax.set(xlabel="step", ylabel="mean squared error")
    return fig


def chaos_map(theme: Theme) -> Any:
    """4,096 lanes of one sweep."""
    fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    edge(fig, ax, chaos(), theme)
    return fig


PICTURES: dict[str, Callable[[Theme], Any]] = {
    "hero": hero,
    "cells": orbits,
    "measure": spectrum,
    "construct": wheels,
    "memory": memory,
    "replay": replay,
    "informed": informed,
    "train": training,
    "sweeps": chaos_map,
}


def main(names: list[str]) -> None:
    """Draw the named pictures, or all, by day and by night."""
    for name in names or PICTURES:
        for theme in PALETTES:
            with style(theme):
                fig = PICTURES[name](theme)
                stem = name if theme == "light" else f"{name}-{theme}"
                fig.savefig(
                    IMAGES / f"{stem}.svg",
                    transparent=True,
                    metadata={"Date": None, "Creator": None},
                )
                plt.close(fig)


if __name__ == "__main__":
    main(sys.argv[1:])
