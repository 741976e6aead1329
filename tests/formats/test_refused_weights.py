"""Files of weights that are refused, and some that only look as if they should be."""

import json
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import save_file

from remanence import formats


def rnn(**more):
    base = {
        "weight_ih_l0": np.ones((4, 3), np.float32),
        "weight_hh_l0": np.ones((4, 4), np.float32),
    }
    return base | {k: np.asarray(v, np.float32) for k, v in more.items()}


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ({"a": np.ones(3, np.float32)}, "no weight_ih_l0 is among the tensors"),
        (
            rnn(weight_ih_l0_reverse=np.ones((4, 3))),
            r"several recurrent modules came, \['backward', 'forward'\]",
        ),
        (rnn(weight_hr_l0=np.ones((4, 4))), "must be a projection of an LSTM"),
        (rnn(weight_ih_l2=np.ones((4, 3))), r"has the layers \[0, 2\]"),
        (rnn(weight_hh_l0=np.full((4, 4), np.nan)), "16 values that are NaN"),
        (rnn(weight_hh_l0=np.ones((8, 4)), weight_ih_l0=np.ones((8, 3))), "N, 3N or 4N rows"),
        (rnn(weight_hh_l0=np.ones((5, 4))), "as many rows"),
        (rnn(bias_ih_l0=np.ones(4)), "two biases"),
        (
            {"weight_ih_l0": np.ones((4, 3), np.float32)},
            "weight_ih_l0 that takes its states is missing",
        ),
        ({f"{p}.{k}": v for p in "ab" for k, v in rnn().items()}, "several recurrent modules"),
        (
            rnn(**{"x.weight": np.ones((9, 3)), "y.weight": np.ones((8, 3))}),
            "embedding may be any of",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(tensors, words, tmp_path):
    path = tmp_path / "model.safetensors"
    save_file(tensors, path)
    with pytest.raises(ValueError, match=words):
        formats.load(path, quiet=True)


@pytest.mark.parametrize(
    "content", [b"", b"\x00", bytes(64), b"\xff" * 64, b"\x10" + bytes(7) + b"{" * 16]
)
def test_a_malformed_file_is_refused(content, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"not a whole safetensors file|is empty"):
        formats.load(path)


@pytest.mark.parametrize(
    "said",
    [
        "[1]",
        "{",
        '{"cell": 3}',
        '{"cell": {"kind": "Elman"}}',
        '{"cell": {"kind": "Stack", "cells": []}}',
        '{"positions": "never"}',
        '{"activation": 3}',
        json.dumps({"cell": {"kind": "Linear", "W_h": 1.0, "W_x": 2.0}}),
    ],
)
def test_strange_metadata_is_refused(said, tmp_path):
    path = tmp_path / "model.safetensors"
    save_file(rnn(), path, metadata={"remanence": said})
    with pytest.raises(ValueError, match=r"[a-z]"):
        formats.load(path, quiet=True)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        formats.load(tmp_path / "none.safetensors")
    with pytest.raises(ValueError, match="is a folder"):
        formats.load(tmp_path)


@pytest.mark.parametrize("size", [0x280, 0x480, 0x4B50])
def test_a_header_whose_length_looks_like_a_pickle_is_read(size, tmp_path):
    path = tmp_path / "model.safetensors"
    save_file(rnn(), path, metadata={"note": ""})
    short = int.from_bytes(path.read_bytes()[:8], "little")
    save_file(rnn(), path, metadata={"note": "x" * (size - short)})
    assert int.from_bytes(path.read_bytes()[:8], "little") == size
    assert formats.load(path, quiet=True).cell.W_h.shape == (4, 4)


def raw(path, kind, size, content=None):
    """A recurrent layer of four units whose numbers are of a kind NumPy may not know."""
    header = {
        "weight_ih_l0": {"dtype": kind, "shape": [4, 3], "data_offsets": [0, 12 * size]},
        "weight_hh_l0": {"dtype": kind, "shape": [4, 4], "data_offsets": [12 * size, 28 * size]},
    }
    words = json.dumps(header).encode()
    body = bytes(28 * size) if content is None else content
    path.write_bytes(len(words).to_bytes(8, "little") + words + body)
    return path


def test_bfloat16_is_widened_exactly(tmp_path):
    numbers = np.linspace(-1.5, 1.5, 28).astype(jnp.bfloat16)
    path = tmp_path / "narrow.safetensors"
    raw(path, "BF16", numbers.itemsize, numbers.tobytes())
    cell = formats.load(path, quiet=True).cell
    got = np.concatenate([np.ravel(cell.W_x), np.ravel(cell.W_h)])
    np.testing.assert_array_equal(got, numbers.astype(np.float32))


@pytest.mark.parametrize(
    ("kind", "size", "words"),
    [
        ("F8_E4M3", 1, "kind F8_E4M3; F64, F32"),
        ("C64", 8, "weight_ih_l0 holds complex64 numbers; real floating ones"),
        ("I8", 1, "weight_ih_l0 holds int8 numbers"),
        ("BOOL", 1, "weight_ih_l0 holds bool numbers"),
    ],
)
def test_kinds_that_are_no_weights_are_refused(kind, size, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        formats.load(raw(tmp_path / "odd.safetensors", kind, size), quiet=True)


def described(kind, **more):
    return {"remanence": json.dumps({"cell": {"kind": kind} | more})}


def ours(units=4, inputs=3, **more):
    base = {
        "cell.W_h": np.ones((units, units), np.float32),
        "cell.W_x": np.ones((units, inputs), np.float32),
    }
    return base | {k.replace("_of_", "."): v for k, v in more.items()}


ONES = lambda *shape: np.ones(shape, np.float32)
RESIDUAL = {"coupling": 0.1, "activation": {"function": "tanh"}}
MISFITS = [
    (ours(cell_of_R=ONES(2, 4, 4)), described("Residual", **RESIDUAL), "cell.R is"),
    (ours(cell_of_R=ONES(4, 4), cell_of_b=ONES(1)), described("Residual"), "cell.b is"),
    (ours(cell_of_b=ONES(1)), described("Elman"), r"cell.b is float32 \[1\]"),
    (ours(cell_of_W_h=1j * ONES(4, 4)), described("Linear"), "cell.W_h is complex64"),
    (ours(readout_of_weight=ONES(2, 3)), described("Linear"), "readout.weight is"),
    (
        ours(readout_of_weight=ONES(2, 4), readout_of_bias=ONES(1)),
        described("Linear"),
        "bias of readout",
    ),
    (ours(embedding_of_weight=ONES(0, 3)), described("Linear"), "embedding.weight is"),
    (ours(embedding_of_weight=ONES(5, 2)), described("Linear"), "embedding.weight is"),
    (ours(), {"remanence": '{"cell": ' + "9" * 5000 + "}"}, "is not JSON"),
    (
        ours(),
        {"remanence": '{"cell": {"kind": "Residual", "coupling": %s}}' % ("9" * 4000)},
        "number that float32 holds, got int",
    ),
    (rnn() | {"emb.weight": ONES(0, 3)}, None, "some rows of 3 would do"),
    (rnn() | {"out.weight": ONES(0, 4), "out.bias": ONES(0)}, None, "some rows of 4"),
]


@pytest.mark.parametrize(("tensors", "metadata", "words"), MISFITS)
def test_shapes_are_checked_to_the_last_entry(tensors, metadata, words, tmp_path):
    path = tmp_path / "misfit.safetensors"
    save_file(tensors, path, metadata=metadata)
    with pytest.raises(ValueError, match=words):
        formats.load(path, quiet=True)


def test_users_without_checked_types_are_told_the_same(tmp_path):
    # The suite checks shapes by a hook of its own, which no user has.
    for number, (tensors, metadata, _) in enumerate(MISFITS):
        save_file(tensors, tmp_path / f"{number}.safetensors", metadata=metadata)
    program = (
        "import pathlib, sys\n"
        "from remanence import formats\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).glob('*')):\n"
        "    try:\n"
        "        formats.load(path, quiet=True)\n"
        "        print(path.name, 'was read')\n"
        "    except ValueError:\n"
        "        print('refused')\n"
    )
    command = [sys.executable, "-W", "error", "-c", program, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.stdout.split("\n") == [*["refused"] * len(MISFITS), ""], ended.stderr


def test_complex_tensors_are_read_where_they_mean_something(tmp_path):
    path = tmp_path / "diagonal.safetensors"
    a, B = np.array([0.5j, 0.25 + 0.5j], np.complex64), 1j * ONES(2, 3)
    metadata = described("Diagonal")
    save_file({"cell.a": a, "cell.B": B}, path, metadata=metadata)
    cell = formats.load(path, quiet=True).cell
    np.testing.assert_array_equal(cell.a, a)
    np.testing.assert_array_equal(cell.B, B)
