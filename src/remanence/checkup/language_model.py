"""The checkup of a recurrent language model: what to replay, and which layers keep the memory."""

import dataclasses
import math
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .._escape import printable
from ..cells import dimension
from ..measure import lyapunov_spectrum, replay_window, Spectrum, TokenReplay
from ..nets import Recurrent
from ..report import json_bytes, write_atomically
from .inputs import Inputs


LEAST = 32  # tokens below which nothing can be said


@dataclasses.dataclass(frozen=True, kw_only=True)
class LanguageCheckup:
    """The replay window of a language model on a text, and the timescales of its channels."""

    name: str
    network: str
    inputs: str
    unit: str
    spectrum: Spectrum
    replay: TokenReplay
    weights: str = ""

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        slow, every = self._unforgotten
        steps = self.spectrum.layers[0].steps
        kept = (
            "every channel or head forgets"
            if not slow
            else f"{slow:,} of {every:,} channels and heads do not forget"
        )
        return f"{self.replay.decision}; {kept} within {steps:,} {self.unit}"

    @property
    def _unforgotten(self) -> tuple[int, int]:
        layers = self.spectrum.layers
        slow = sum(int(layer.unforgotten.sum()) for layer in layers)
        return slow, sum(layer.exponents.size for layer in layers)

    @property
    def figures(self) -> dict[str, float]:
        """What can be required."""
        return {"window": self.replay.q95, "largest_exponent": float(self.spectrum.exponents[0])}

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A line a layer: its timescales on this text, and the windows of its state."""
        head = (
            "layer",
            "kind",
            "timescale: median",
            "95 %",
            "unforgotten",
            "own window",
            "window of the state",
        )
        found: list[tuple[str, ...]] = [head]
        for i, layer in enumerate(self.spectrum.layers):
            times = np.minimum(layer.timescales, np.inf)
            own, measured = self.replay.own_windows[i], self.replay.state_windows[i]
            median, high = np.quantile(times, [0.5, 0.95], method="higher")
            found.append(
                (
                    str(layer.layer),
                    layer.kind,
                    _steps(median, layer.steps),
                    _steps(high, layer.steps),
                    f"{int(layer.unforgotten.sum()):,} of {times.size:,}",
                    _steps(self.replay.quantile(0.5, own), self.replay.longest),
                    _steps(self.replay.quantile(0.5, measured), self.replay.longest),
                )
            )
        return found

    @property
    def costs(self) -> list[tuple[str, ...]]:
        """What windows cost: the divergence at half and 95 % of positions, and nats a token."""
        replay = self.replay
        grid = [2**i for i in range(int(math.log2(replay.longest)) + 1)]
        found = [("tokens replayed", "KL, median", "KL, 95 %", "nats a token more")]
        for window in grid:
            column = replay.divergence[:, window - 1]
            median, high = np.nanquantile(column, [0.5, 0.95])
            cost = replay.cost(window)
            found.append((f"{window:,}", f"{median:.2g}", f"{high:.2g}", f"{cost:+.2g}"))
        return found

    @property
    def summary(self) -> str:
        """Ten lines for a terminal."""
        spectrum, replay = self.spectrum, self.replay
        holds, can = replay.stack_law
        law = (
            f"stack law holds at {holds} of {can} positions" if can else "stack law: text too short"
        )
        counted = f"{len(spectrum.exponents):,} exponents by {spectrum.method}"
        lost = (
            f"{spectrum.lost:,} states of convolutions, shifts and attention are exact and finite"
        )
        return "\n".join(
            [
                f"{self.name}: {self.verdict}",
                f"on {self.inputs}; {self.network}",
                str(replay).partition("\n")[2],
                f"cost with the whole history {replay.loss:.4g} nats a token; {law}",
                f"{counted}; {spectrum.verdict}",
                lost,
            ]
        )

    @property
    def document(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        replay = self.replay
        return {
            "name": self.name,
            "network": self.network,
            "weights": self.weights,
            "inputs": self.inputs,
            "verdict": self.verdict,
            "figures": self.figures,
            "replay": {
                "error": replay.error,
                "median": replay.median,
                "q95": replay.q95,
                "worst": replay.worst,
                "longest": replay.longest,
                "positions": replay.positions,
                "bottleneck": replay.bottleneck,
                "first_token": replay.first_token,
                "stack_law": list(replay.stack_law),
                "loss": replay.loss,
            },
            "layers": [
                {
                    "layer": layer.layer,
                    "kind": layer.kind,
                    "multiplicity": layer.multiplicity,
                    "exponents": layer.exponents,
                    "stderr": layer.stderr,
                }
                for layer in self.spectrum.layers
            ],
        }

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write the page (.html) or the document (.json)."""
        from .language_page import language_page

        path = pathlib.Path(path)
        if path.suffix not in (".html", ".htm", ".json"):
            raise ValueError(f"a checkup is saved as .html or .json, got {path.name!r}")
        content = (
            json_bytes(self.document) if path.suffix == ".json" else language_page(self).encode()
        )
        write_atomically(path, content)
        return path

    def __str__(self) -> str:
        return self.summary


def _steps(value: float, longest: int) -> str:
    return f"{value:,.0f}" if value <= longest else f"≥ {longest:,}"


def language_checkup(
    net: Recurrent,
    given: Inputs,
    *,
    name: str,
    weights: str,
    error: float,
    tell: Callable[[str], None],
    progress: Callable[[int, int], None] | None,
) -> LanguageCheckup:
    """One pass for the decays, and restarts from the empty state for the window."""
    tokens = np.asarray(given.values)
    if tokens.ndim != 1 or not np.issubdtype(tokens.dtype, np.integer):
        raise ValueError(f"a language model takes one text of tokens, got shape {tokens.shape}")
    if len(tokens) < LEAST:
        raise ValueError(f"a checkup needs at least {LEAST} tokens, got {len(tokens)}")
    tell("decays of every layer")
    spectrum = lyapunov_spectrum(net, tokens, progress=progress)
    tell("replay from the empty state")
    replay = replay_window(net, tokens, error=error)
    kinds = sorted({layer.kind for layer in spectrum.layers})
    layers, size = len(net.cell.layers), dimension(net.cell)
    return LanguageCheckup(
        name=printable(name),
        network=f"{layers} layers of {', '.join(kinds)}, a state of {size:,} numbers",
        inputs=printable(given.words),
        unit=given.unit,
        spectrum=spectrum,
        replay=replay,
        weights=printable(weights),
    )
