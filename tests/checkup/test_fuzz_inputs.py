"""Files of inputs from anywhere: numbers are read, everything else is refused."""

import os
import resource

import jax
import numpy as np
import pytest
from fuzzed import changed, Counts

from remanence import cells, nets
from remanence.checkup.inputs import from_npy
from remanence.checkup.text import from_text


FILES = 1500


def headed(words, body=b"\0" * 48):
    """An npy file whose header is these words."""
    text = words.encode("latin-1", "replace")
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


SHAPES = [
    "(3, 2)",
    "(10**15,)",
    "(1000000000000,)",
    "(-1, 3)",
    "(0,)",
    "()",
    "3",
    "(3,",
    "(2.5,)",
    "(True,)",
    "('a',)",
    "(99999999999999999999999999,)",
]
KINDS = [
    "'<f8'",
    "'<f4'",
    "'|O'",
    "'<c16'",
    "'<U9'",
    "'<M8[s]'",
    "'V8'",
    "['a']",
    "[('a', '<f8')]",
    "'f9'",
    "3",
    "'<i8'",
]


def files(rng):
    """Broken arrays: changed bytes, headers that lie, other things of that name."""
    whole = headed("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }")
    for _ in range(FILES):
        if rng.random() < 0.5:
            yield changed(rng, whole)
            continue
        shape, kind = rng.choice(SHAPES), rng.choice(KINDS)
        order = rng.choice(["False", "True", "1", "None"])
        yield headed(f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}}}")
    yield from (b"", b"PK\x03\x04 a zip", b"\x80\x04 a pickle", whole)


def test_every_broken_array_is_read_or_refused(tmp_path, capsys):
    path, counts = tmp_path / "inputs.npy", Counts("arrays of inputs")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for content in files(np.random.default_rng(0)):
        path.unlink(missing_ok=True)  # to write over a file waits for the disk
        path.write_bytes(content)
        try:
            array = from_npy(path).values
            assert np.issubdtype(array.dtype, np.number)
            counts.add("read")
        except ValueError as refusal:
            lines = len(str(refusal).splitlines())
            counts.add("refused" if lines == 1 else "refused in many lines")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    seen = counts.done(capsys)
    assert seen.keys() == {"read", "refused"}
    assert seen["read"] > 20 and seen["refused"] > FILES // 2 and grown < 300


def test_any_bytes_are_a_text_or_are_refused(tmp_path, capsys):
    key, rng = jax.random.key(0), np.random.default_rng(1)
    cell = cells.Elman.init(2, 3, key=key)
    made = lambda tokens: nets.Recurrent.init(cell, outputs=2, key=key, tokens=tokens)
    nets_of = {tokens: made(tokens) for tokens in (3, 256)}
    path, counts = tmp_path / "inputs.txt", Counts("texts")
    for _ in range(500):
        size = int(rng.integers(0, 40))
        letters = (
            rng.bytes(size)
            if rng.random() < 0.5
            else bytes(rng.choice([97, 98, 99], size).tolist())
        )
        path.write_bytes(letters)
        tokens = int(rng.choice([3, 256]))
        try:
            spoken = from_text(path, nets_of[tokens], 30).values
            assert len(spoken) <= 30 and 0 <= spoken.min() <= spoken.max() < tokens
            counts.add("read")
        except ValueError:
            counts.add("refused")
    seen = counts.done(capsys)
    assert seen["read"] > 50 and seen["refused"] > 50


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "absent"])
def test_what_is_no_file_is_refused_unread(tmp_path, kind):
    path = tmp_path / "inputs.npy"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    with pytest.raises(ValueError, match="is not a file"):
        from_npy(path)
    net = nets.Recurrent.init(
        cells.Elman.init(2, 3, key=jax.random.key(0)), outputs=2, key=jax.random.key(0), tokens=256
    )
    with pytest.raises(ValueError, match="is not a file"):
        from_text(path, net, 5)
