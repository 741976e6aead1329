r"""A language model emptied at some positions beside the same model that kept its state.

With equal inputs a layer's gap is exactly the product of its decays, $G_k = A_k \cdots A_1 S_0$;
upper layers wait for lower ones. Both runs take the same tokens in pieces, and what is kept
of a piece is a few numbers a token.
"""

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
        free = np.array([(i, a) for i, text in enumerate(texts) for a in range(1, len(text) - 1)])
        draw = 1 + jr.permutation(jr.key(0) if key is None else key, len(free) - 1)
        places = free[np.sort(np.append(0, np.asarray(draw)[: STARTS - 1]))]
        rows = []
        for i, text in enumerate(texts):
            positions = places[places[:, 0] == i, 1]
            kept = _states_before(net, text, positions)
            ends = [text[a : a + longest + 1] for a in positions]
            rows += [_followed(net, h, end) for h, end in zip(kept, ends, strict=True)]
    room = np.array([row["loss"].shape[-1] for row in rows])
    ended = lambda a: [(0, 0)] * (a.ndim - 1) + [(0, room.max() - a.shape[-1])]
    filled = lambda a: np.pad(a, ended(a), constant_values=np.nan)
    stack = lambda name, axis=0: np.stack([filled(row[name]) for row in rows], axis=axis)
    layers = net.cell.layers
    return TokenReplay(
        error=error,
        positions=places[:, 1],
        texts=places[:, 0],
        room=room,
        divergence=stack("divergence"),
        excess=stack("excess"),
        gaps=stack("gaps", 1),
        decayed=stack("decayed", 1),
        layers=tuple(i for i, one in enumerate(layers) if one.recurrence is not None),
        memory=np.array([layer.memory for layer in layers]),
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


def _states_before(net: Any, tokens: np.ndarray, positions: np.ndarray) -> list[Any]:
    """The state of the full run before each position, in order."""
    h, at, found = net.cell.initial_state(), 0, []
    for position in positions:
        while at < position:
            length = min(PIECE, position - at)
            # Whole pieces and single steps: two programs for every text.
            length = length if length == PIECE else 1
            h = _advance(net, h, jnp.asarray(tokens[at : at + length]))
            at += length
        found.append(h)
    return found


@eqx.filter_jit
def _advance(net, h, tokens):
    return net.cell.along(h, net.embedding[tokens])[0]


def _followed(net: Any, kept: Any, tokens: np.ndarray) -> dict[str, Any]:
    """Errors at every token of one run that was emptied; the last token is only predicted."""
    empty = net.cell.initial_state()
    gap = [state.recurrent for state in kept[0] if state.recurrent is not None]
    count = len(tokens) - 1
    pieces = []
    for at in range(0, count, PIECE):
        heard, asked = tokens[at : at + PIECE], tokens[at + 1 : at + 1 + PIECE]
        fill = (0, PIECE - len(asked))
        heard, asked = np.pad(heard[: len(asked)], fill), np.pad(asked, fill)
        kept, empty, gap, found = _compared(net, kept, empty, gap, heard, asked)
        pieces.append(jax.tree.map(np.asarray, found))
    joined = {
        name: np.concatenate([piece[name] for piece in pieces], axis=-1)[..., :count]
        for name in pieces[0]
    }
    if not np.isfinite(joined["loss"]).all():
        raise ValueError("the model's outputs are not finite on these tokens")
    return joined


@eqx.filter_jit
def _compared(net, kept, empty, gap, heard, asked):
    """A piece of both runs, and how far they are apart after every token."""
    xs = net.embedding[heard]
    kept, ys, runs = net.cell.along(kept, xs)
    empty, zs, others = net.cell.along(empty, xs)
    p = jax.nn.log_softmax(jax.vmap(net.decode)(ys))
    q = jax.nn.log_softmax(jax.vmap(net.decode)(zs))
    picked = lambda logs: jnp.take_along_axis(logs, asked[:, None], 1)[:, 0]
    gaps, decayed, moved = [], [], []
    recurrent = [
        (layer.recurrence, run, other)
        for layer, run, other in zip(net.cell.layers, runs, others, strict=True)
        if layer.recurrence is not None
    ]
    for (recurrence, run, other), G in zip(recurrent, gap, strict=True):
        size = jnp.maximum(_norms(run.states), 1e-300)
        gaps.append(_norms(run.states - other.states) / size)
        product = _products(recurrence, G, run.inputs)
        decayed.append(_norms(product) / size)
        moved.append(product[-1])
    found = {
        "divergence": jnp.maximum(jnp.sum(jnp.exp(p) * (p - q), axis=1), 0.0),
        "excess": picked(p) - picked(q),
        "loss": -picked(p),
        "gaps": jnp.stack(gaps),
        "decayed": jnp.stack(decayed),
    }
    return kept, empty, moved, found


def _norms(states: Any) -> Any:
    return jnp.sqrt(jnp.sum(states.reshape(len(states), -1) ** 2, axis=1))


def _products(recurrence: Any, G: Any, us: Any) -> Any:
    """What the decays of some steps leave of a state, after each of them."""
    if hasattr(recurrence, "transition"):

        def step(G, u):
            G = transported(recurrence.transition(None, u), G)
            return G, G

        return jax.lax.scan(step, G, us)[1]
    clocks = jax.vmap(recurrence.clock, in_axes=(None, 0))(None, us)
    return jnp.exp(recurrence.rate * jnp.cumsum(clocks, axis=0)) * G
