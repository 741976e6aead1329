"""Small random networks of every kind that files know."""

import jax.random as jr

from remanence import cells, nets


def drawn(kind, key, layers=1, **options):
    make = {"rnn": cells.Elman, "lstm": cells.LSTM, "gru": cells.GRU}[kind]
    keys = jr.split(key, layers + 1)
    parts = tuple(make.init(3 if i == 0 else 5, 5, key=keys[i]) for i in range(layers))
    cell = parts[0] if layers == 1 else cells.Stack(parts)
    return nets.Recurrent.init(cell, outputs=2, key=keys[-1], **options)
