"""Ten thousand broken weights files: each is read or refused with a sentence."""

import json
import resource
import sys

import jax
import numpy as np
import pytest
from fuzzed import changed
from safetensors.numpy import save

from remanence import cells, formats, nets
from remanence.formats import saving


FILES = 10_000
BATCHES = 4
VALUES = (0, 1, -1, 3, 2**31, 2**63, 1e308, "", "F32", "BF16", "../x", None, [], {}, [[]])


def seeds(folder):
    """Whole files of every kind to start from."""
    key = jax.random.key(0)
    made = [
        nets.Recurrent.init(cells.LSTM.init(2, 3, key=key), outputs=2, key=key, tokens=4),
        nets.Recurrent(cells.GRU.init(2, 3, key=key)),
        nets.Recurrent(cells.Residual.init(2, 3, key=key, residual=0.5)),
        nets.Recurrent(
            cells.Stack((cells.Linear.init(2, 3, key=key), cells.Diagonal.init(3, 2, key=key)))
        ),
    ]
    for i, net in enumerate(made):
        formats.save(net, folder / f"{i}.safetensors")
        yield (folder / f"{i}.safetensors").read_bytes()
    yield save(
        {"weight_ih_l0": np.ones((3, 2), np.float16), "weight_hh_l0": np.eye(3, dtype=np.float16)}
    )


def with_header(rng, whole):
    """The same file with one thing changed in its header, which still parses as JSON."""
    size = int.from_bytes(whole[:8], "little")
    header, body = json.loads(whole[8 : 8 + size]), whole[8 + size :]
    name = list(header)[rng.integers(len(header))]
    match rng.integers(5):
        case 0:
            header[str(rng.choice(["a", "weight_ih_l0", "x/../../y", "\x00"]))] = header.pop(name)
        case 1:
            header.pop(name)
        case 2 if name != "__metadata__":
            part = str(rng.choice(["dtype", "shape", "data_offsets"]))
            header[name][part] = VALUES[rng.integers(len(VALUES))]
        case 3 if name != "__metadata__":
            header[name]["shape"] = header[name]["shape"][::-1]
        case _:
            said = json.loads(header.get("__metadata__", {}).get("remanence", "{}"))
            target = said.get("cell", said)
            keys = [*target, "kind", "cells", "activation"]
            target[keys[rng.integers(len(keys))]] = VALUES[rng.integers(len(VALUES))]
            header["__metadata__"] = {"remanence": json.dumps(said)}
    words = json.dumps(header).encode()
    return len(words).to_bytes(8, "little") + words + body


def parses(content):
    size = int.from_bytes(content[:8], "little")
    try:
        return isinstance(json.loads(content[8 : 8 + size]), dict) and size <= len(content)
    except (ValueError, UnicodeDecodeError):
        return False


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_broken_file_is_read_or_refused(batch, tmp_path, capsys):
    rng = np.random.default_rng(batch)
    whole = list(seeds(tmp_path))
    path = tmp_path / "broken.safetensors"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts = {"read": 0, "refused": 0, "header parses": 0}
    for _ in range(FILES // BATCHES):
        change = with_header if rng.random() < 0.5 else changed
        content = change(rng, whole[rng.integers(len(whole))])
        counts["header parses"] += parses(content)
        path.unlink(missing_ok=True)  # to write over a file waits for the disk
        path.write_bytes(content)
        try:
            formats.load(path, quiet=True)
            counts["read"] += 1
        except ValueError:
            counts["refused"] += 1
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    with capsys.disabled():
        sys.stdout.write(f"\nfuzzed weights files, batch {batch}: {counts}, +{grown:.0f} MiB\n")
    assert counts["header parses"] > FILES // BATCHES / 3
    assert counts["refused"] > FILES // BATCHES / 4
    assert grown < 500


def test_stacks_nested_without_end_are_refused():
    structure = {"kind": "Linear"}
    for _ in range(50):
        structure = {"kind": "Stack", "cells": [structure]}
    with pytest.raises(ValueError, match="three deep"):
        saving.cell_from(structure, {"cell.W_h": np.eye(2)}, "cell.")
