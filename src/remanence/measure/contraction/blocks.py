r"""What the weights of a recurrent language model prove: a rate a layer, and a replay window.

A norm bounds what a layer reads, whatever the text: $\|\hat x\| \le \sqrt d$ before its weights. So
the gates of the layer stay in intervals, and its decays below some $\lambda_l$. Of two runs on the
same tokens, one begun empty, let $\gamma_l$ be the gap of a layer's state in units of its bound and
$d_l$ the gap of the stream before it, $d_1 = 0$. With $m_l$ tokens in the convolution

$$\gamma_l(k) \le \lambda_l \gamma_l(k-1) + \beta_l d_l(k - m_l),\qquad
  d_{l+1}(k) \le (1 + r_l)\,(d_l(k) + p_l d_l(k - m_l) + q_l \gamma_l(k))$$

where gains through a norm are those at zero, $1/\sqrt\epsilon$. Both stay below $c\,\mu^k$ for any $\mu$
above all $\lambda_l$, with constants by substitution from the first layer.
"""

import dataclasses
import math
from typing import Any

import flint
import numpy as np

from ...cells import Blocks
from ...cells.layers import GatedLayer
from .gate_ranges import GATES
from .layer_gains import gate_inputs, layer_gains, NoGain, normed_gain
from .ranged import exactly
from .rounding import above, norm_above, Values


PARTS = (0.01, 0.03, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8)
"""The rates tried lie so far on the way from the slowest layer's to 1."""
NEVER = 1e-100
"""Nats a token that ball arithmetic of 512 bits still tells from none."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayerProof:
    """What is proved of one layer, for every text."""

    layer: int
    kind: str
    log_decay: Values = dataclasses.field(repr=False)
    """An upper end of the logarithm of every decay: no step keeps more."""
    memory: int = 0
    inflow: float = math.inf
    """beta; below, p, q and r of the comparison, and the most that the layer adds."""
    through: float = math.inf
    readout: float = math.inf
    perceptron: float = 0.0
    height: float = math.inf

    @property
    def rate(self) -> float:
        """The slowest decay of a token; it may round to 1."""
        return min(1.0, above(math.exp(float(self.log_decay.max())), 4))

    @property
    def timescale(self) -> float:
        """Tokens in which the slowest channel forgets by a factor e, at the least."""
        slowest = -float(self.log_decay.max())
        return 1 / slowest if slowest > 1e-300 else math.inf


@dataclasses.dataclass(frozen=True, kw_only=True)
class StackProof:
    """Rates of the layers of a language model and, where one follows, a replay window.

    It speaks of every text: of two runs on the same tokens, one with any history and one
    begun empty. The map is that of real numbers with the weights as stored.
    """

    layers: tuple[LayerProof, ...]
    outside: float
    """The gain of the last norm."""
    why: str = ""
    """Why no window follows, if none does."""

    @property
    def rate(self) -> float:
        """The worst of the layers."""
        return max((layer.rate for layer in self.layers), default=1.0)

    @property
    def vacuous(self) -> bool:
        """Whether no window follows."""
        return bool(self.why)

    def gap(self, tokens: int) -> float:
        """The Euclidean gap of outputs (behind the last norm) after so many tokens, at most."""
        with flint.ctx.workprec(512):
            found = [c * (log_mu * tokens).exp() for c, log_mu in self._curves()]
            return min((_up(each) for each in found), default=math.inf)

    def window(self, error: float, net: Any = None) -> int:
        """Tokens after which outputs are within `error`, in the Euclidean norm; with `net`,
        its next-token distributions, in nats."""
        if self.vacuous:
            raise ValueError(f"no window can be proved: {self.why}; replay_window measures one")
        target, gain = error, 1.0
        if net is not None:
            # KL is at most osc^2/8 of the logits' gap (Hoeffding), and osc at most twice it. A head
            # with a soft cap moves nothing further apart.
            if net.head is not None and not hasattr(net.head, "cap"):
                raise ValueError("nothing is proved behind a head that is any function")
            if net.head is None and net.W_y is None:
                raise ValueError("a network without a readout gives no distribution")
            rows = np.asarray(net.W_y if net.head is None else net.head.W, np.float64)
            gain = float(np.max(above(np.linalg.norm(rows, axis=1), rows.shape[1] + 2)))
            target = math.sqrt(2 * error) * (1 - 1e-15)
        with flint.ctx.workprec(512):
            tokens = [(c * gain / target).log() / -log_mu for c, log_mu in self._curves()]
            return max(1, math.ceil(min(map(_up, tokens))))

    def output_window(self, error: float, net: Any) -> int:
        """The same for what `net` gives out, logits or vectors, in the Euclidean norm."""
        if net.head is not None:
            raise ValueError("nothing is proved behind a head that is any function")
        gain = 1.0 if net.W_y is None else norm_above(np.asarray(net.W_y, np.float64))
        return self.window(error / gain * (1 - 1e-15))

    def _curves(self) -> list[tuple[Any, Any]]:
        """Pairs (c, log mu): the gap of outputs after k tokens is at most c mu^k."""
        arb = flint.arb
        rates = [arb(float(layer.log_decay.max())).exp() for layer in self.layers]
        slowest = max(float(layer.log_decay.max()) for layer in self.layers)
        delay = max(layer.memory for layer in self.layers)
        found = []
        for part in PARTS:
            slow = arb(slowest).exp()
            mu = slow + (1 - slow) * arb(part)
            c, most = arb(0), arb(0)
            for layer, rate in zip(self.layers, rates, strict=True):
                late = c * mu**-layer.memory
                gamma = flint.arb.max(2 * mu**-delay, arb(layer.inflow) * late / (1 - rate / mu))
                c = c + arb(layer.through) * late + arb(layer.readout) * gamma
                c = c * (1 + arb(layer.perceptron))
                most = most + 2 * arb(layer.height)
                c = flint.arb.max(c, most * mu**-delay)
            found.append((c * arb(self.outside), mu.log()))
        return found

    def __str__(self) -> str:
        slowest = max((layer.timescale for layer in self.layers), default=math.inf)
        known = f"whatever the text, no channel keeps a share of 1/e beyond {slowest:.3g} tokens"
        return f"{known}; no window is proved: {self.why}" if self.why else known


def _up(ball: Any) -> float:
    return float(np.nextafter(float(ball.upper()), np.inf))


def blocks_certificate(cell: Blocks) -> StackProof:
    """Every layer from its weights; the stack where all layers have gains."""
    found = [_layer_proof(index, layer) for index, layer in enumerate(cell.layers)]
    why = next((f"layer {index}: {why}" for index, (_, why) in enumerate(found) if why), "")
    largest = 1.0
    if cell.norm is not None:
        largest = normed_gain(cell.norm) * float(np.max(np.abs(np.asarray(cell.norm.weight))))
    layers = tuple(proof for proof, _ in found if proof is not None)
    return StackProof(layers=layers, outside=above(largest, 2), why=why)


def _layer_proof(index: int, layer: Any) -> tuple[LayerProof | None, str]:
    """What is proved of a layer, and why no window follows."""
    if layer.recurrence is None:
        return None, "no gain through local attention is derived"
    gates, plain = layer.recurrence.gates, isinstance(layer, GatedLayer)
    proof = LayerProof(layer=index, kind=type(gates).__name__, log_decay=np.zeros(1))
    try:
        if type(gates) not in GATES:
            raise NoGain("its transition may stretch a state, so no Euclidean rate follows")
        with np.errstate(over="ignore", invalid="ignore"):  # inf is a bound, NaN is none
            u = gate_inputs(layer) if plain else exactly(np.zeros(gates.width))
            step = GATES[type(gates)](gates, u)
        proof = dataclasses.replace(proof, log_decay=step.log_decay)
        if not step.log_decay.max() < -NEVER:  # NaN too
            raise NoGain("for all that is proved, a channel may never forget")
        if not plain or step.write is None or step.read is None:
            raise NoGain("no gain through its readout is derived")
        gains = layer_gains(layer, step)
    except NoGain as problem:
        return proof, str(problem)
    finite = all(map(math.isfinite, gains.values()))
    why = "" if finite else "its gains are beyond double precision"
    # A first input that is written whole is one more token on which the two runs differ.
    memory = layer.memory + int(getattr(gates, "resets", False))
    return dataclasses.replace(proof, memory=memory, **gains), why
