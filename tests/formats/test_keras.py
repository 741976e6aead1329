"""Keras files: equal to Keras, where it is installed; built by hand elsewhere."""

import importlib.util
import json
import pathlib
import subprocess
import sys
import zipfile

import equinox as eqx
import jax
import jax.numpy as jnp
import keras_cases
import numpy as np
import pytest
from drawn_nets import drawn

import remanence as rm
from remanence import cells, nets
from remanence.formats.recurrent_cell import Shaped


h5py = pytest.importorskip("h5py")
SCRIPT = pathlib.Path(keras_cases.__file__)
NAMES = [
    "lstm",
    "lstm-hard",
    "lstm-bare",
    "gru",
    "gru-hard",
    "gru-before",
    "gru-bare",
    "gru-before-bare",
    "rnn",
    "rnn-elu",
    "cell",
    "last",
    "backwards",
    "both",
    "deep",
    "graph",
    "nested",
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    if importlib.util.find_spec("keras") is None:  # imported, it would choose a backend
        pytest.skip("Keras is not installed")
    folder = tmp_path_factory.mktemp("keras")
    command = [sys.executable, "-W", "ignore", str(SCRIPT), str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return folder, np.load(folder / "answers.npz")


@pytest.mark.live
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_files_agree_with_keras(name, ending, saved):
    folder, answers = saved
    assert sorted(NAMES) == sorted(answers.files)
    found = rm.recurrent_modules(folder / f"{name}.{ending}")
    xs = keras_cases.TOKENS if name in ("deep", "graph") else keras_cases.XS
    if name == "both":
        forward, backward = (
            next(each.net for key, each in found.items() if key.endswith(way))
            for way in ("forward", "backward")
        )
        got = np.concatenate([forward(xs), backward(xs[::-1])[::-1]], 1)
    else:
        (only,) = found.values()
        # Keras gives the outputs of a layer that goes backwards in its own order.
        got = only.net(xs[::-1] if name == "backwards" else xs)
    np.testing.assert_allclose(got, answers[name], rtol=0, atol=1e-5)


def kernels(cell):
    """A cell's arrays as Keras stores them."""
    W_x, W_h = np.asarray(cell.W_x), np.asarray(cell.W_h)
    order = np.arange(len(W_h))
    b = np.asarray(cell.b)
    if isinstance(cell, cells.GRU):
        r, z, n = np.split(order, 3)
        order = np.concatenate([z, r, n])
        b_h = np.zeros_like(b)
        b_h[-len(cell.b_n) :] = cell.b_n
        b = np.stack([b[order], b_h[order]])
    return {"kernel": W_x[order].T, "recurrent_kernel": W_h[order].T, "bias": b}


def layer(kind, name, **settings):
    return {"class_name": kind, "config": {"name": name} | settings}


def write(path, parts, layers=None, version="2.4.0"):
    """An old file: arrays by layer, and the configuration if there is one."""
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = version
        root = file
        if layers is not None:
            config = {"class_name": "Sequential", "config": {"layers": layers}}
            file.attrs["model_config"] = json.dumps(config)
            root = file.create_group("model_weights")
        for name, arrays in parts.items():
            for what, values in arrays.items():
                root[f"{name}/{name}/{what}:0"] = values
    return path


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_an_old_file_with_its_ends(kind, key, tmp_path):
    net = drawn(kind, key, tokens=6)
    word = {"rnn": "SimpleRNN", "lstm": "LSTM", "gru": "GRU"}[kind]
    options = {"reset_after": True} if kind == "gru" else {}
    layers = [
        layer("Embedding", "words"),
        layer(word, "layer", return_sequences=True, **options),
        layer("Dense", "head", activation="softmax"),
    ]
    parts = {
        "words": {"embeddings": net.embedding},
        "layer": kernels(net.cell),
        "head": {"kernel": np.asarray(net.W_y).T, "bias": net.b_y},
    }
    path = write(tmp_path / "m.h5", parts, layers)
    (found,) = rm.recurrent_modules(path).values()
    assert eqx.tree_equal(net, found.net)
    assert "its softmax left out" in str(found)
    bare = rm.load(path, embedding="", readout="", quiet=True)
    assert bare.embedding is None and bare.W_y is None
    with pytest.raises(ValueError, match="readout is the graph's own"):
        rm.load(path, readout="head", quiet=True)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_cudnn_layers_keep_both_biases(kind, key, tmp_path):
    cell = drawn(kind, key).cell
    arrays = kernels(cell)
    units, gates = arrays["recurrent_kernel"].shape
    count = gates // units
    split = lambda name: np.split(arrays[name], count, axis=1)
    second = np.random.default_rng(0).normal(size=gates).astype(np.float32)
    first = arrays["bias"] - second if kind == "lstm" else arrays["bias"][0]
    second = second if kind == "lstm" else arrays["bias"][1]
    stored = {
        # Each gate's matrix is written row by row as units × inputs.
        "kernel": np.hstack([k.T.reshape(k.shape) for k in split("kernel")]),
        "recurrent_kernel": np.hstack([k.T for k in split("recurrent_kernel")]),
        "bias": np.concatenate([first, second]),
    }
    path = write(tmp_path / "m.hdf5", {"layer": stored}, version="2.1.5")
    (found,) = rm.recurrent_modules(path).values()
    got = found.net.cell
    assert type(got) is type(cell) and "CuDNN's default activations" in str(found)
    for one, two in zip(jax.tree.leaves(got), jax.tree.leaves(cell), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_what_files_of_weights_alone_leave_open(key, tmp_path):
    parts = {"one": kernels(drawn("lstm", key).cell), "two": kernels(drawn("rnn", key).cell)}
    old = rm.recurrent_modules(write(tmp_path / "old.h5", parts, version="2.2.0"))
    assert list(old) == ["one", "two"] and old["one"].net.W_y is None
    gate = Shaped("hardsigmoid", 0.2, 0.5)
    assert old["one"].net.cell.activations == (gate, jnp.tanh, jnp.tanh)
    assert "Keras 2.2's default activations" in str(old["one"])
    new = rm.recurrent_modules(write(tmp_path / "new.h5", parts, version="2.9.0"))
    assert isinstance(new["one"].net.cell, cells.LSTM)
    relu = rm.load(tmp_path / "new.h5", prefix="two", activation="relu", quiet=True)
    assert relu.cell.activation is jax.nn.relu


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ([layer("LSTM", "layer", activation="wave")], "activation 'wave' is not known"),
        ([layer("LSTM", "layer", activation={"class_name": "f"})], "is not known"),
        ([layer("RNN", "layer", cell={"config": {"cells": []}})], "stacks several cells"),
        ([layer("ConvLSTM2D", "other")], "holds no LSTM, GRU or SimpleRNN, only ConvLSTM2D"),
        ([{"class_name": "LSTM"}], "configuration is malformed"),
        ("text", "configuration is malformed"),
    ],
)
def test_configurations_that_mean_nothing_are_refused(layers, words, key, tmp_path):
    path = write(tmp_path / "m.h5", {"layer": kernels(drawn("lstm", key).cell)}, layers)
    with pytest.raises(ValueError, match=words):
        rm.load(path, quiet=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bias": np.ones(21)}, r"a bias of layer/layer has shape \(21,\); \(20,\) would do"),
        ({"kernel": np.ones((3, 21))}, "as many rows"),
        ({"recurrent_kernel": np.ones((4, 20))}, "N, 3N or 4N rows"),
        ({"recurrent_kernel": np.full((5, 20), np.nan)}, "values that are NaN"),
        ({"kernel": None}, "takes its inputs is missing"),
    ],
)
def test_shapes_are_checked_to_the_last_entry(change, words, key, tmp_path):
    arrays = kernels(drawn("lstm", key).cell) | change
    arrays = {name: values for name, values in arrays.items() if values is not None}
    with pytest.raises(ValueError, match=words):
        rm.load(write(tmp_path / "m.h5", {"layer": arrays}), quiet=True)


def test_a_file_leads_nowhere_else(key, tmp_path):
    path, other = tmp_path / "m.h5", tmp_path / "other.h5"
    arrays = kernels(drawn("lstm", key).cell)
    write(other, {"layer": arrays})
    place = "layer/layer/kernel:0"

    def without(path):
        rest = {name: a for name, a in arrays.items() if name != "kernel"}
        write(path, {"layer": rest})
        return h5py.File(path, "a")

    with without(path) as file:
        file[place] = h5py.ExternalLink(str(other), place)
    with pytest.raises(ValueError, match="is a link to somewhere else"):
        rm.load(path)
    with without(path) as file:
        file[place] = h5py.SoftLink("/layer/layer/bias:0")
    with pytest.raises(ValueError, match="is a link to somewhere else"):
        rm.load(path)
    raw = tmp_path / "raw"
    raw.write_bytes(bytes(4 * 60))
    with without(path) as file:
        file.create_dataset(place, (3, 20), "f4", external=[(str(raw), 0, 240)])
    with pytest.raises(ValueError, match="lie in another file"):
        rm.load(path)
    with without(path) as file:
        virtual = h5py.VirtualLayout((3, 20), "f4")
        virtual[:] = h5py.VirtualSource(str(other), place, (3, 20))
        file.create_virtual_dataset(place, virtual)
    with pytest.raises(ValueError, match="lie in another file"):
        rm.load(path)
    with without(path) as file:
        file.create_dataset(place, (1 << 30, 20), "f4", chunks=(1024, 20))
    with pytest.raises(ValueError, match="swell beyond"):
        rm.load(path)
    with without(path) as file:
        file["layer/layer/round"] = file["layer"]
    with pytest.raises(ValueError, match="takes its inputs is missing"):
        rm.load(path)


def test_broken_files_and_a_missing_library_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "m.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(ValueError, match=r"m\.h5 is not read"):
        rm.load(path)
    for records, words in (
        ({}, "without config.json"),
        ({"config.json": "{}"}, "without model.weights.h5"),
        ({"config.json": "[", "model.weights.h5": ""}, "is not read"),
        ({"config.json": "{}", "model.weights.h5": "no"}, "is not read"),
        ({"config.json": " " * 80 * 2**20, "model.weights.h5": ""}, "swell to"),
    ):
        with zipfile.ZipFile(tmp_path / "m.keras", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in records.items():
                archive.writestr(name, content)
        with pytest.raises(ValueError, match=words):
            rm.load(tmp_path / "m.keras")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"`pip install '.\[keras\]'` would do"):
        rm.load(path)


def test_a_recurrent_layer_inside_one_of_somebodys_own(key, tmp_path):
    inner = {
        f"mine/cell_{i}/{k}": v
        for i in range(2)
        for k, v in kernels(drawn("gru", key).cell).items()
    }
    layers = [layer("Mine", "layer")]
    found = rm.recurrent_modules(write(tmp_path / "m.h5", {"layer": inner}, layers))
    assert len(found) == 2
    net = nets.Recurrent(drawn("gru", key).cell)
    assert all(eqx.tree_equal(each.net, net) for each in found.values())
