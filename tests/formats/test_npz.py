"""Networks in NumPy's archives."""

import io
import zipfile

import equinox as eqx
import numpy as np
import pytest
from drawn_nets import drawn

import remanence as rm
from remanence.formats import saving


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("compressed", [False, True])
def test_torchs_names_in_an_archive(kind, compressed, key, tmp_path):
    net = drawn(kind, key)
    tensors = saving.tensors_of(net.cell, "rnn.")
    ends = {"head.weight": net.W_y, "head.bias": net.b_y}
    save = np.savez_compressed if compressed else np.savez
    save(tmp_path / "model.npz", **tensors, **ends)
    assert eqx.tree_equal(net, rm.load(tmp_path / "model.npz", quiet=True))


def test_short_names_are_understood(key, tmp_path):
    net = drawn("gru", key)
    short = {
        f"dec_{name.replace('weight', 'w').replace('bias', 'b').removesuffix('_l0')}": t
        for name, t in saving.tensors_of(net.cell).items()
    }
    note = {"note": np.array("some words"), "fc_w": net.W_y, "fc_b": net.b_y}
    np.savez(tmp_path / "short.npz", **short, **note)
    assert {"dec_w_ih", "dec_b_hh"} < set(short)
    (found,) = rm.recurrent_modules(tmp_path / "short.npz").values()
    assert found.name == "dec" and found.taken.readout == "fc.weight"
    assert eqx.tree_equal(net, found.net)


def array_bytes(shape, dtype="<f4", fill=b""):
    file = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + fill


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (array_bytes((4, 3)), "is not read"),
        (array_bytes((1 << 45, 3)), "is not read"),
        (array_bytes((2,), "|O", b"\x80\x04K\x01."), "allow_pickle=False"),
        (b"no array", "no weight_ih_l0 is among the tensors"),
        (bytes(100 * 2**20), "swell to 100 MiB"),
    ],
)
def test_broken_archives_are_refused(content, words, tmp_path):
    path = tmp_path / "model.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weight_ih_l0.npy", content)
    with pytest.raises(ValueError, match=words):
        rm.load(path)
