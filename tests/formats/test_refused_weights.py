"""Files of weights that are refused, and some that only look as if they should be."""

import json

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
        (rnn(weight_ih_l0_reverse=np.ones((4, 3))), "bidirectional"),
        (rnn(weight_hr_l0=np.ones((2, 4))), "projected"),
        (rnn(weight_hh_l0=np.full((4, 4), np.nan)), "16 values that are NaN"),
        (
            rnn(weight_hh_l0=np.ones((8, 4)), weight_ih_l0=np.ones((8, 3))),
            "N, 3N or 4N rows",
        ),
        (rnn(weight_hh_l0=np.ones((5, 4))), "as many rows"),
        (rnn(bias_ih_l0=np.ones(4)), "two biases"),
        ({"weight_ih_l0": np.ones((4, 3), np.float32)}, "weight_hh_l0 is missing"),
        (
            {f"{p}.{k}": v for p in "ab" for k, v in rnn().items()},
            "several recurrent modules",
        ),
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


def test_pickles_are_refused_unopened(tmp_path):
    path = tmp_path / "model.pt"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match="no pickle is loaded; convert it"):
        formats.load(path)
    disguised = tmp_path / "model.safetensors"
    disguised.write_bytes(b"\x80\x04" + bytes(100))
    with pytest.raises(ValueError, match="no pickle is loaded"):
        formats.load(disguised)


@pytest.mark.parametrize(
    "content", [b"", b"\x00", bytes(64), b"\xff" * 64, b"\x10" + bytes(7) + b"{" * 16]
)
def test_a_malformed_file_is_refused(content, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a whole safetensors file"):
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
