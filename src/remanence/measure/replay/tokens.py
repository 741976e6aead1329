r"""A language model emptied at some positions beside the same model that kept its state.

With equal inputs a layer's gap is exactly the product of its decays, $G_k = A_k \cdots A_1 S_0$;
upper layers wait for lower ones. All runs take the same tokens in pieces, and what is kept
of a piece is a few numbers a token.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from ..._precision import double
from ..._types import Key
from ...cells.delta_rule import transported
from ..drive import driven, network_in_double
from ..lyapunov.decay_spectrum import recurrences
from .token_record import TokenReplay


PIECE = 32
STARTS = 24


def token_replay(
    net: Any, tokens: Any, *, error: float, lengths: Any = None, key: Key | None = None
) -> TokenReplay:
    """Empty the model at `STARTS` positions of one or several texts, and follow it.

    One of them is the first token of the first text, the others are drawn from all positions.
    A run ends with its text, or after half the length of the longest.
    """
    texts = _texts(tokens, lengths)
    longest = max(map(len, texts)) // 2
    with double():
        for text in texts:
            driven(net, text)  # refuses bad weights and tokens
        net = network_in_double(net)
        layers = tuple(i for i, _ in recurrences(net.cell))
        free = np.array([(i, a) for i, text in enumerate(texts) for a in range(1, len(text) - 1)])
        draw = 1 + jr.permutation(jr.key(0) if key is None else key, len(free) - 1)
        places = free[np.sort(np.append(0, np.asarray(draw)[: STARTS - 1]))]
        rows = []
        for i, text in enumerate(texts):
            positions = places[places[:, 0] == i, 1]
            rows += _followed(net, text, positions, longest)
    room = np.array([row["loss"].shape[-1] for row in rows])
    ended = lambda a: [(0, 0)] * (a.ndim - 1) + [(0, room.max() - a.shape[-1])]
    filled = lambda a: np.pad(a, ended(a), constant_values=np.nan)
    stack = lambda name, axis=0: np.stack([filled(row[name]) for row in rows], axis=axis)
    return TokenReplay(
        error=error,
        positions=places[:, 1],
        texts=places[:, 0],
        room=room,
        divergence=stack("divergence"),
        log_probability=stack("log_probability"),
        excess=stack("excess"),
        gaps=stack("gaps", 1),
        decayed=stack("decayed", 1),
        layers=layers,
        memory=np.array([layer.memory for layer in net.cell.layers]),
        loss=float(np.nanmean(stack("loss"))),
    )


def _texts(tokens: Any, lengths: Any) -> list[np.ndarray]:
    """One text, a row each with its length, or a list of texts of any lengths."""
    ragged = isinstance(tokens, list | tuple) and np.ndim(tokens[0] if tokens else 0) > 0
    rows = [np.asarray(row) for row in tokens] if ragged else list(np.atleast_2d(tokens))
    if lengths is not None:
        rows = [row[:n] for row, n in zip(rows, np.atleast_1d(lengths), strict=True)]
    if any(row.ndim != 1 for row in rows):
        raise ValueError(f"texts of tokens would do, got shape {np.shape(tokens)}")
    if (least := min(map(len, rows), default=0)) < 4:
        raise ValueError(f"a replay window needs at least 4 tokens, got {least}")
    return rows


def _followed(
    net: Any, text: np.ndarray, positions: np.ndarray, longest: int
) -> list[dict[str, np.ndarray]]:
    """Errors at every token of runs emptied at some positions; the last is only predicted.

    One full run serves all of them: behind each of its pieces, every run takes the piece
    that ends within it.
    """
    counts = np.minimum(longest, len(text) - 1 - positions)
    given = np.pad(text, (0, 3 * PIECE))
    places = zip(positions.tolist(), counts.tolist(), strict=True)
    runs = [_Emptied(a, n, *_empty(net), []) for a, n in places]
    h, last = net.cell.initial_state(), None
    for at in range(0, int((positions + counts).max(initial=0)) + PIECE, PIECE):
        h, here = _full(net, h, given[at : at + PIECE])
        for run in runs:
            begin = at - (at - run.position) % PIECE
            if not run.position <= begin < run.position + run.count:
                continue
            piece, asked = (given[begin + i : begin + i + PIECE] for i in (0, 1))
            since = np.array([begin - at + PIECE, begin == run.position])
            done = _compared(net, run.state, run.gap, piece, asked, last, here, since)
            run.state, run.gap, found = done
            run.pieces.append(jax.tree.map(np.asarray, found))
        last = here
    return [run.joined() for run in runs]


@dataclasses.dataclass
class _Emptied:
    """A run from the empty state, and what was found of its pieces."""

    position: int
    count: int
    state: Any
    gap: Any
    pieces: list[dict[str, np.ndarray]]

    def joined(self) -> dict[str, np.ndarray]:
        """All that was found, a column a token."""
        every = {
            name: np.concatenate([piece[name] for piece in self.pieces], axis=-1)[..., : self.count]
            for name in self.pieces[0]
        }
        if not np.isfinite(every["loss"]).all():
            raise ValueError("the model's outputs are not finite on these tokens")
        return every


def _empty(net: Any) -> tuple[Any, Any]:
    """The empty state, and its recurrent parts."""
    h = net.cell.initial_state()
    return h, [state.recurrent for state in h[0] if state.recurrent is not None]


@eqx.filter_jit
def _full(net, h, given):
    """A piece of the full run: next tokens' log-probabilities, gates' inputs and states."""
    h, ys, runs = net.cell.along(h, net.embedding[given])
    kept = [(run.inputs, run.states) for run in runs if run.inputs is not None]
    return h, (jax.nn.log_softmax(jax.vmap(net.decode)(ys)), kept)


@eqx.filter_jit
def _compared(net, empty, gap, given, asked, last, here, since):
    """A piece of an emptied run, and how far it is from the full one after every token.

    `since` is where it begins in the full run's pieces, and whether it is the run's first.
    """
    at, first = since
    full = jax.tree.map(lambda one, two: jnp.concatenate([one, two]), last, here)
    p, kept = jax.tree.map(lambda a: jax.lax.dynamic_slice_in_dim(a, at, PIECE), full)
    empty, zs, runs = net.cell.along(empty, net.embedding[given])
    q = jax.nn.log_softmax(jax.vmap(net.decode)(zs))
    picked = lambda logs: jnp.take_along_axis(logs, asked[:, None], 1)[:, 0]
    gaps, decayed, moved = [], [], []
    recurrent = [(one, runs[i].states) for i, one in recurrences(net.cell)]
    every = zip(recurrent, kept, full[1], gap, strict=True)
    for (recurrence, states), (inputs, right), (_, before), G in every:
        G = jnp.where(first, jax.lax.dynamic_index_in_dim(before, at - 1, keepdims=False), G)
        size = jnp.maximum(_norms(right), 1e-300)
        gaps.append(_norms(right - states) / size)
        G, norms = _decayed(recurrence, G, inputs, first)
        decayed.append(norms / size)
        moved.append(G)
    found = {
        "divergence": jnp.maximum(jnp.sum(jnp.exp(p) * (p - q), axis=1), 0.0),
        "log_probability": jnp.max(jnp.abs(p - q), axis=1),
        "excess": picked(p) - picked(q),
        "loss": -picked(p),
        "gaps": jnp.stack(gaps),
        "decayed": jnp.stack(decayed),
    }
    return empty, moved, found


def _norms(states: Any) -> Any:
    return jnp.sqrt(jnp.sum(states.reshape(len(states), -1) ** 2, axis=1))


def _decayed(recurrence: Any, G: Any, us: Any, first: Any = False) -> tuple[Any, Any]:
    """What the decays of some steps leave of a gap, and its norm after each of them.

    Before the `first` step the gap is the whole state, and an empty one may be written otherwise.
    """
    more = jnp.zeros_like(G)
    if hasattr(recurrence, "transition"):
        each, left = us, lambda G, u: transported(recurrence.transition(None, u), G)
    else:
        each = jax.vmap(recurrence.clock, in_axes=(None, 0))(None, us)
        left = lambda G, clock: jnp.exp(recurrence.rate * clock) * G
        written = recurrence.gates.write(us[0]) - recurrence.gates.write_first(us[0])
        more = jnp.where(first, written, more)

    def step(carry, one):
        G, more = carry
        G = left(G, one) + more
        return (G, jnp.zeros_like(more)), jnp.sqrt(jnp.sum(G * G))

    (G, _), norms = jax.lax.scan(step, (G, more), each)
    return G, norms
