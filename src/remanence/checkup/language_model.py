"""The checkup of a recurrent language model: what to replay, and which layers keep the memory."""

import dataclasses
import math
import pathlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._escape import printable
from ..cells import dimension
from ..measure import (
    contraction,
    lyapunov_spectrum,
    replay_window,
    Spectrum,
    StackProof,
    TokenReplay,
)
from ..nets import Recurrent
from .inputs import Inputs
from .record import pick


LEAST = 32  # tokens below which nothing can be said
ROWS = (
    *("layer", "kind", "timescale: median", "95 %", "unforgotten"),
    *("own window", "window of the state"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LanguageCheckup:
    """The replay window of a language model on a text, and the timescales of its channels."""

    name: str
    network: str
    inputs: str
    unit: str
    spectrum: Spectrum
    replay: TokenReplay
    proof: StackProof
    proved_window: float
    """What the weights prove for every text, for the same error; inf if nothing."""
    weights: str = ""

    @property
    def unforgotten(self) -> str:
        """How many channels and heads do not forget within the text, of how many."""
        layers = self.spectrum.layers
        slow = sum(int(layer.unforgotten.sum()) for layer in layers)
        return f"{slow:,} of {sum(layer.exponents.size for layer in layers):,}"

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        kept = f"{self.unforgotten} channels and heads do not forget"
        kept = "every channel or head forgets" if kept.startswith("0 of") else kept
        return (
            f"{self.replay.decision}; {kept} within {self.spectrum.layers[0].steps:,} {self.unit}"
        )

    @property
    def proved(self) -> str:
        """What the weights alone prove, beside what was measured."""
        if math.isinf(self.proved_window):
            return f"from the weights alone: {self.proof}"
        times = self.proved_window / min(self.replay.worst, self.replay.longest)
        return (
            f"from the weights alone: {self.proof}, and {self.proved_window:.4g} tokens give the "
            f"distribution back, {times:.2g} times what this text needs at worst"
        )

    @property
    def figures(self) -> dict[str, float]:
        """What can be required."""
        return {"window": self.replay.q95, "largest_exponent": float(self.spectrum.exponents[0])}

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A line a layer: its timescales on this text, and the windows of its state."""
        found: list[tuple[str, ...]] = [ROWS]
        replay = self.replay
        for i, layer in enumerate(self.spectrum.layers):
            times = np.quantile(layer.timescales, [0.5, 0.95], method="higher")
            windows = [
                replay.quantile(0.5, w[i]) for w in (replay.own_windows, replay.state_windows)
            ]
            share = f"{int(layer.unforgotten.sum()):,} of {layer.exponents.size:,}"
            shown = [_steps(value, layer.steps) for value in times]
            shown += [share, *(_steps(value, replay.longest) for value in windows)]
            found.append((str(layer.layer), layer.kind, *shown))
        return found

    @property
    def costs(self) -> list[tuple[str, ...]]:
        """What windows cost: the divergence at half and 95 % of positions, and nats a token."""
        replay = self.replay
        found = [("tokens replayed", "KL, median", "KL, 95 %", "nats a token more")]
        for window in 2 ** np.arange(int(math.log2(replay.longest)) + 1):
            median, high = np.nanquantile(replay.divergence[:, window - 1], [0.5, 0.95])
            cost = replay.cost(int(window))
            found.append((f"{window:,}", f"{median:.2g}", f"{high:.2g}", f"{cost:+.2g}"))
        return found

    @property
    def summary(self) -> str:
        """Ten lines for a terminal."""
        spectrum, replay = self.spectrum, self.replay
        holds, can = replay.stack_law
        law = (
            f"holds at {holds} of {can} positions" if can else "cannot be judged on so short a text"
        )
        return "\n".join(
            [
                f"{self.name}: {self.verdict}",
                f"on {self.inputs}; {self.network}",
                str(replay).partition("\n")[2],
                f"cost with the whole history {replay.loss:.4g} nats a token; the stack law {law}",
                f"{len(spectrum.exponents):,} exponents by {spectrum.method}; {spectrum.verdict}",
                f"{spectrum.lost:,} states of convolutions, shifts and attention keep the last "
                f"{replay.memory.max():,} tokens at most, exactly",
                self.proved,
            ]
        )

    @property
    def document(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        windows = "error median q95 worst longest positions bottleneck first_token stack_law loss"
        layer = "layer kind multiplicity exponents stderr"
        return {
            **pick(self, "name network weights inputs verdict figures"),
            "replay": pick(self.replay, windows),
            "proof": {
                "window": self.proved_window,
                "why": self.proof.why,
                "rates": {str(each.layer): each.rate for each in self.proof.layers},
            },
            "layers": [pick(each, layer) for each in self.spectrum.layers],
        }

    def page(self, _: Sequence[Any]) -> str:
        """The page of this model."""
        from .page import language_page  # and with it matplotlib

        return language_page(self)

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write the page (.html) or the document (.json)."""
        from .outputs import write_page

        return write_page((self,), path)

    def __str__(self) -> str:
        return self.summary


def is_language_model(net: Recurrent) -> bool:
    """Whether a network is a stack of layers that reads tokens."""
    return hasattr(net.cell, "layers") and net.embedding is not None


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
        raise ValueError(
            "a language model takes one text of tokens (whole numbers), got "
            f"{tokens.dtype} of shape {tokens.shape}"
        )
    if len(tokens) < LEAST:
        raise ValueError(f"a checkup needs at least {LEAST} tokens, got {len(tokens)}")
    tell("decays of every layer")
    spectrum = lyapunov_spectrum(net, tokens, progress=progress)
    tell("replay from the empty state")
    replay = replay_window(net, tokens, error=error)
    tell("what the weights prove")
    proof = contraction(net.cell)
    window = math.inf if proof.vacuous else float(proof.window(error, net))
    kinds = Counter(layer.kind for layer in spectrum.layers)
    count = len(net.cell.layers)
    kinds += {"local attention": count - kinds.total()}
    each = ", ".join(f"{n} of {kind}" for kind, n in kinds.items())
    layers = (
        f"{count} layers of {next(iter(kinds))}" if len(kinds) == 1 else f"{count} layers, {each}"
    )
    return LanguageCheckup(
        name=printable(name),
        network=f"{layers}, a state of {dimension(net.cell):,} numbers",
        inputs=printable(given.words),
        unit=given.unit,
        spectrum=spectrum,
        replay=replay,
        proof=proof,
        proved_window=window,
        weights=printable(weights),
    )
