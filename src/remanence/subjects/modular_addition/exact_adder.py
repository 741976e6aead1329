r"""A modular adder written down: a ReLU Elman network over $[a, b, =]$ in closed form.

For each frequency $k$, five units hold $\cos(\omega_k a - \varphi_j)$ at phases
$\varphi_j = 2\pi j / 5$. The recurrent matrix projects on the first harmonic in
$\varphi$, so the state after `=` is
$$h_j = [\cos(\omega a - \varphi_j) + \cos(\omega b - \varphi_j)]_+ =
[2\cos\tfrac{\omega(a-b)}{2}\,\cos(\tfrac{\omega(a+b)}{2} - \varphi_j)]_+$$
and its second harmonic in $\varphi$ is $|\cos\frac{\omega(a-b)}{2}|\cos\omega(a+b)$: the
rectifier multiplies. Three linear units at $2k$ carry $2\cos\omega(a-b)\cos\omega(a+b)$;
taking a quarter of them away makes the gain $\frac12 + |c| - c^2 \in [\frac12, \frac34]$,
$c = \cos\frac{\omega(a-b)}{2}$, which no pair can switch off. Derivation and proof:
`docs/science/modular_addition.md`.
"""

import dataclasses
from collections.abc import Iterable

import jax
import numpy as np
import scipy.linalg
from jaxtyping import Float

from ...cells import Elman
from ...nets import Recurrent
from .task import Modular


PHASES = 5
"""The fewest that tell the second harmonic from its neighbours (aliases start at the eighth)."""
LINEAR_PHASES = 3
COMFORTABLE = 0.1
"""Default frequencies are added until the margin is at least this."""


@dataclasses.dataclass(frozen=True)
class Adder:
    """Weights, and the proof that they are right on the whole table.

    `accuracy` is the share of right answers, in float64;
    `margin` is the least lead of the right answer over all pairs (logits lie
    between −1 and 1); `rounding` bounds what float32 arithmetic, in any order of
    summation, can do to that lead. The network is right if margin > rounding.
    """

    net: Recurrent
    task: Modular
    frequencies: tuple[int, ...]
    accuracy: float
    margin: float
    rounding: float

    @property
    def units(self) -> int:
        """Hidden size: 8 a frequency, 1 more for ×."""
        return len(self.net.cell.W_h)


def adder(modulus: int, frequencies: Iterable[int] | None = None, *, operation: str = "+") -> Adder:
    """A network that is right on every pair, from its frequencies alone.

    By default the fewest of `spread_frequencies` that give a comfortable margin.

    >>> built = adder(113)
    >>> built.frequencies, built.units, round(built.margin, 3)
    ((1, 31, 43), 24, 0.112)
    """
    task = Modular(modulus, operation)
    most = task.period // 2
    if frequencies is not None:
        chosen = tuple(sorted(set(frequencies)))
        if not chosen or chosen[0] < 1 or chosen[-1] > most:
            raise ValueError(f"frequencies must be some of 1 to {most}, got {list(chosen)}")
        built = _build(task, chosen)
    else:
        choices = (spread_frequencies(task.period, count) for count in range(1, most + 1))
        built = _build(task, next(choices))
        while built.margin < COMFORTABLE and (chosen := next(choices, None)):
            built = _build(task, chosen)
    if built.margin > built.rounding:
        return built
    said = f"frequencies {list(built.frequencies)} do not separate all answers modulo {modulus}"
    raise ValueError(f"{said} (margin {built.margin:.2g}); more of them would do")


def spread_frequencies(period: int, count: int) -> tuple[int, ...]:
    r"""1, then greedily the frequency that most raises $\min_d \sum_k (1 - \cos\omega_k d)$.

    Ties go to the smaller frequency.
    """
    if not 1 <= count <= period // 2:
        raise ValueError(f"count must lie in 1 to {period // 2}, got {count}")
    d, every = np.arange(1, period), np.arange(1, period // 2 + 1)
    lead = 1 - np.cos(2 * np.pi * np.outer(every, d) / period)
    chosen = [1]
    while len(chosen) < count:
        worst = (lead + sum(lead[k - 1] for k in chosen)).min(1).round(9)
        worst[[k - 1 for k in chosen]] = -1.0
        chosen.append(int(worst.argmax()) + 1)
    return tuple(sorted(chosen))


def _build(task: Modular, frequencies: tuple[int, ...]) -> Adder:
    net = _network(task, frequencies)
    logits = _logits(net)
    accuracy = float((logits.argmax(-1) == task.answers).mean())
    answers = task.answers[..., None]
    right = np.take_along_axis(logits, answers, 2)[..., 0]
    np.put_along_axis(logits, answers, -np.inf, 2)
    margin = float((right - logits.max(-1)).min())
    return Adder(net, task, frequencies, accuracy, margin, rounding=2 * _rounding(net))


def _logits(net: Recurrent) -> Float[np.ndarray, "modulus modulus modulus"]:
    """The whole table in NumPy: many sizes are tried, and each would compile anew."""
    of = lambda array: np.asarray(array, dtype=float)
    W_h, W_y, b_y = of(net.cell.W_h), of(net.W_y), of(net.b_y)
    drive = of(net.embedding) @ of(net.cell.W_x).T + of(net.cell.b)
    relu = lambda z: np.maximum(z, 0.0)
    second = relu((relu(drive[:-1]) @ W_h.T)[:, None] + drive[:-1])
    return relu(second @ W_h.T + drive[-1]) @ W_y.T + b_y


def _network(task: Modular, frequencies: tuple[int, ...]) -> Recurrent:
    n, P = task.period, task.modulus
    index = np.arange(n)
    sign = -1 if task.operation == "-" else 1
    waves, W_x, W_h, equals, W_y = [], [], [], [], []
    for k in frequencies:
        omega = 2 * np.pi * k / n
        for times, phases in ((1, PHASES), (2, LINEAR_PHASES)):
            phi = 2 * np.pi * np.arange(phases) / phases
            angle = times * omega * index
            waves.append(np.stack([np.cos(angle), np.sin(angle)], 1))
            W_x.append(np.stack([np.cos(phi), np.sin(phi)], 1))
            # First harmonic in, first harmonic out; a − b turns the phase round.
            W_h.append(2 / phases * np.cos(phi[:, None] - sign * phi))
            equals.append(np.full(phases, -2.0 if times == 1 else 0.0))
            harmonic, gain = (2, 3 * np.pi / 2) if times == 1 else (1, -0.5)
            read = np.cos(omega * index[:, None] - harmonic * phi)
            W_y.append(gain / phases / len(frequencies) * read)
    units = sum(len(block) for block in equals)
    embedding = np.zeros((P + 1, 2 * len(waves) + 1))
    embedding[task.elements, :-1] = np.concatenate(waves, 1)
    embedding[P, -1] = 1.0
    block = lambda parts: np.asarray(scipy.linalg.block_diag(*parts))
    drive = np.concatenate([block(W_x), np.concatenate(equals)[:, None]], 1)
    W_fc, b_y = np.zeros((P, units)), np.zeros(P)
    W_fc[task.elements] = np.concatenate(W_y, 1)
    recurrent, b = block(W_h), np.full(units, 2.0)
    if task.operation == "×":
        # 0 is not in the group: one unit remembers it and outvotes every wave.
        embedding, W_fc = (np.pad(M, ((0, 0), (0, 1))) for M in (embedding, W_fc))
        drive, recurrent = (scipy.linalg.block_diag(M, 1.0) for M in (drive, recurrent))
        embedding[0, -1], W_fc[0, -1], b_y[0], b = 1.0, 4.0, -1.0, np.append(b, 0.0)
    # Rounded by NumPy and put as it is: `jnp.asarray` compiles anew for every shape.
    of = lambda array: jax.device_put(np.asarray(array, dtype=np.float32))
    cell = Elman(of(recurrent), of(drive), of(b), jax.nn.relu)
    return Recurrent(cell, of(W_fc), of(b_y), of(embedding), "last")


def _rounding(net: Recurrent) -> float:
    r"""A bound on the error of any logit in float32, $\gamma_n = nu / (1 - nu)$ at each sum.

    Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1: it holds
    for every order of summation. Errors are carried through the three steps in the
    maximum norm, where the rectifier never enlarges them.
    """
    size = lambda M: np.abs(np.asarray(M, dtype=float))
    W_h, W_x, W_y = size(net.cell.W_h), size(net.cell.W_x), size(net.W_y)
    terms = W_h.shape[0] + W_x.shape[1] + 2
    u = 2.0**-24
    gamma = terms * u / (1 - terms * u)
    drive = (size(net.embedding) @ W_x.T + size(net.cell.b)).max(0)
    h, error = np.zeros(len(W_h)), np.zeros(len(W_h))
    for _ in range(3):
        reach = W_h @ (h + error) + drive
        h, error = reach, W_h @ error + gamma * reach
    return float((W_y @ error + gamma * (W_y @ (h + error) + size(net.b_y))).max())
