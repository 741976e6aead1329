"""Keras models, saved, with what they answer: `python keras_cases.py FOLDER`.

A process of its own: Keras chooses its backend when it is imported.
"""

import os
import pathlib
import sys

import numpy as np


STEPS = 5
XS = np.random.default_rng(0).normal(size=(STEPS, 3)).astype(np.float32)
TOKENS = np.array([1, 5, 0, 8, 3])
HARD = {"recurrent_activation": "hard_sigmoid", "activation": "softsign"}


def models(keras):
    """Models by name, each of one input."""
    L = keras.layers
    vectors, tokens = (lambda: keras.Input((None, 3))), (lambda: keras.Input((None,)))
    plain = {
        "lstm": L.LSTM(4, return_sequences=True),
        "lstm-hard": L.LSTM(4, return_sequences=True, **HARD),
        "lstm-bare": L.LSTM(4, return_sequences=True, use_bias=False),
        "gru": L.GRU(4, return_sequences=True),
        "gru-hard": L.GRU(4, return_sequences=True, **HARD),
        "gru-before": L.GRU(4, return_sequences=True, reset_after=False),
        "gru-bare": L.GRU(4, return_sequences=True, use_bias=False),
        "gru-before-bare": L.GRU(4, return_sequences=True, use_bias=False, reset_after=False),
        "rnn": L.SimpleRNN(4, return_sequences=True),
        "rnn-elu": L.SimpleRNN(4, return_sequences=True, activation="elu"),
        "cell": L.RNN(L.LSTMCell(4, **HARD), return_sequences=True),
        "last": L.GRU(4),
        "backwards": L.LSTM(4, go_backwards=True, return_sequences=True),
        "both": L.Bidirectional(L.LSTM(4, return_sequences=True)),
    }
    for name, layer in plain.items():
        yield name, keras.Sequential([vectors(), layer])
    yield (
        "deep",
        keras.Sequential(
            [
                tokens(),
                L.Embedding(9, 3),
                L.Dropout(0.5),
                L.LSTM(4, return_sequences=True),
                L.SpatialDropout1D(0.5),
                L.GRU(5, name="second"),
                L.Dense(2, name="head"),
            ]
        ),
    )
    words = tokens()
    x = L.Embedding(9, 3, name="words")(words)
    x = L.GRU(4, return_sequences=True, name="lower")(x)
    x = L.LSTM(4, return_sequences=True)(x)
    yield "graph", keras.Model(words, L.TimeDistributed(L.Dense(2))(x))
    inner = keras.Sequential([vectors(), L.LSTM(4, return_sequences=True, name="in")])
    yield "nested", keras.Sequential([vectors(), inner])


def main(folder):
    """Save every model in both formats, and its answers."""
    os.environ["KERAS_BACKEND"] = "jax"
    import keras

    keras.utils.set_random_seed(0)
    answers = {}
    for name, model in models(keras):
        weights = [
            0.5 * np.random.default_rng(i).normal(size=w.shape)
            for i, w in enumerate(model.get_weights())
        ]
        model.set_weights(weights)
        whole = model.inputs[0].shape[1:] == (None,)
        answers[name] = np.asarray(model((TOKENS if whole else XS)[None]))[0]
        model.save(folder / f"{name}.keras")
        model.save(folder / f"{name}.h5")
    np.savez(folder / "answers.npz", **answers)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
