"""What the lab's worker processes compute: networks that repeat a string, and errors of windows."""

import math
import pathlib
import tempfile
from typing import Any, Literal

import numpy as np


METHODS = ("rotation", "harmonic", "rational", "permutation", "tanh", "shift")
LONGEST = 60  # symbols: longer strings are for the command line
SHOWN = 64  # units above which the weights are not sent to the page
Kind = Literal["tanh", "lstm", "gru"]
STEPS, INPUTS = 400, 2
POINTS = 120  # windows that are sent to the page
LEAST = 1e-12  # an error below which nothing is drawn


def number(value: Any) -> float | str:
    """A finite number, or the word for it."""
    found = float(value)
    return found if math.isfinite(found) else str(found)


def frontier(text: str) -> dict[str, Any]:
    """Every construction for `text`, with what it costs, or why it cannot be."""
    from ..subjects.memorization.memorize import memorize

    rows = []
    for method in METHODS:
        try:
            rows.append(_row(memorize(text, method=method, time_limit=5.0)))
        except ValueError as refusal:
            rows.append({"method": method, "refused": str(refusal)})
    return {"text": text, "networks": rows}


def _row(memory: Any) -> dict[str, Any]:
    word, written = memory.word, memory.written
    row = {
        "method": memory.method,
        "dimension": memory.dimension,
        "exponent": number(memory.exponent),
        "margin": number(memory.margin),
        "steps": number(memory.certificate.steps.get("float32", 0.0)),
        "proof": memory.certificate.sentence,
        "frequencies": [int(k) for k in memory.frequencies],
        "alphabet": [str(symbol) for symbol in word.alphabet],
        "period": int(word.period),
        "indices": [int(i) for i in word.indices],
    }
    if memory.dimension <= SHOWN and isinstance(written.W_h, np.ndarray):
        row["weights"] = {"first": int(written.first), "activation": written.activation}
        for name in ("W_h", "W_x", "W_y", "b_y", "h_0"):
            a = getattr(written, name)
            row["weights"][name] = None if a is None else np.asarray(a, dtype=float).tolist()
    return row


def weights(text: str, method: str) -> bytes:
    """The network as a safetensors file."""
    from ..subjects.memorization.memorize import memorize

    with tempfile.TemporaryDirectory(prefix="remanence-") as folder:
        path = pathlib.Path(folder) / "memory.safetensors"
        memorize(text, method=method).save(path)
        return path.read_bytes()


def drawn_windows(kind: Kind, units: int, gain: float, seed: int, error: float) -> dict[str, Any]:
    """Windows of a drawn network: $\\|W_h\\|_2$ = gain of tanh, torch's default times gain if gated."""
    import equinox as eqx
    import jax.random as jr

    from ..cells import Elman, GRU, LSTM
    from ..nets import Recurrent

    cell = {"tanh": Elman, "lstm": LSTM, "gru": GRU}[kind].init(INPUTS, units, key=jr.key(seed))
    size = float(np.linalg.norm(cell.W_h, 2)) if kind == "tanh" else 1.0
    cell = eqx.tree_at(lambda c: c.W_h, cell, cell.W_h * (gain / size))
    return _windows(Recurrent(cell), error)


def file_windows(path: str, error: float) -> dict[str, Any]:
    """Windows of the network in a file, the first one where it holds several."""
    from ..formats import load, recurrent_modules

    names = list(recurrent_modules(path))
    return _windows(load(path, prefix=names[0] if len(names) > 1 else None, quiet=True), error)


def _windows(net: Any, error: float) -> dict[str, Any]:
    from ..checkup.examine import description
    from ..checkup.inputs import white_noise
    from ..measure import contraction, replay_window, truncation_bound, truncation_window

    noise = white_noise(net, STEPS).values
    inputs = noise if net.embedding is not None else np.clip(noise, -3, 3)
    replay = replay_window(net, inputs, error=error)
    measured = np.maximum.accumulate(replay.largest[::-1])[::-1]
    if not np.isfinite(measured).all():
        raise ValueError("the states leave the range of floats on white noise: it is unstable")
    embedded = inputs if net.embedding is None else np.asarray(net.embedding)[inputs]
    rate = window = None
    proved = lambda k: None
    try:
        proof = contraction(net.cell, input_bound=float(np.abs(embedded).max()), time_limit=5.0)
        rate, sentence = number(proof.rate), "nothing is proved: only a rate below 1 would do"
        if not proof.vacuous:
            window = truncation_window(proof, error=error, net=net)
            proved = lambda k: truncation_bound(proof, k, net=net)
            where = f"metric for inputs up to {proof.input_bound:.3g}"
            sentence = f"proved in the {proof.metric} {where}"
    except ValueError as refusal:
        sentence = f"nothing is proved: {refusal}"
    # As far as either line says something, and as far as the noise goes.
    last = 2 + max(int((measured > LEAST).sum()), window or 0)
    ks = np.unique(np.linspace(1, min(last, len(measured)), POINTS).astype(int))
    return {
        "network": description(net),
        "of": replay.of,
        "windows": ks.tolist(),
        "measured": measured[ks - 1].tolist(),
        "proved": [proved(int(k)) for k in ks],
        "measured_window": None if np.isinf(replay.worst) else int(replay.worst),
        "proved_window": window,
        "rate": rate,
        "sentence": sentence,
    }
