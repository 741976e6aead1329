"""Weights in and out: round trips, and other libraries' orders."""

import pathlib

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
import torch_cases
from safetensors.numpy import save_file

from remanence import cells, formats, nets
from remanence.formats import safetensors


def drawn(kind, key, layers=1, **options):
    make = {"rnn": cells.Elman, "lstm": cells.LSTM, "gru": cells.GRU}[kind]
    keys = jr.split(key, layers + 1)
    parts = tuple(make.init(3 if i == 0 else 5, 5, key=keys[i]) for i in range(layers))
    cell = parts[0] if layers == 1 else cells.Stack(parts)
    return nets.Recurrent.init(cell, outputs=2, key=keys[-1], **options)


@pytest.mark.parametrize("case", torch_cases.CASES)
def test_a_torch_state_dict_is_read_by_its_shapes_alone(case, tmp_path):
    tensors = torch_cases.stored(case)
    outputs = tensors.pop("outputs")
    path = tmp_path / "model.safetensors"
    save_file(tensors, path)
    activation = "relu" if case.startswith("RELU") else None
    net = formats.load(path, activation=activation, quiet=True)
    xs = jnp.asarray(torch_cases.inputs(case))
    np.testing.assert_allclose(net(xs), outputs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("layers", [1, 3])
def test_a_saved_network_comes_back_to_the_bit(kind, layers, key, tmp_path):
    net = drawn(kind, key, layers, tokens=7, readout="last")
    path = tmp_path / "net.safetensors"
    formats.save(net, path)
    back = formats.load(path, quiet=True)
    assert eqx.tree_equal(net, back)


def residual(key):
    R = jr.normal(key, (4, 4))
    return cells.Residual.init(2, 4, key=key, residual=R, coupling=0.25)


@pytest.mark.parametrize(
    "make",
    [
        lambda key: cells.Linear.init(2, 4, key=key),
        lambda key: cells.Diagonal.init(2, 4, key=key),
        lambda key: cells.Residual.init(
            2, 4, key=key, residual=0.9, activation=jax.nn.relu
        ),
        residual,
        lambda key: cells.Elman.init(2, 4, key=key, activation=jax.nn.sigmoid),
        lambda key: cells.Stack(
            (cells.Linear.init(2, 3, key=key), cells.GRU.init(3, 4, key=key))
        ),
    ],
)
def test_our_other_cells_have_a_file_format_too(make, key, tmp_path):
    net = nets.Recurrent.init(make(key), outputs=3, key=key)
    path = tmp_path / "net.safetensors"
    formats.save(net, path)
    assert eqx.tree_equal(net, formats.load(path, quiet=True))


def test_names_of_the_users_choosing(key, tmp_path):
    net = drawn("lstm", key, tokens=7)
    path = tmp_path / "net.safetensors"
    formats.save(net, path, names={"rnn": "lstm", "readout": "decoder"})
    tensors, _ = safetensors.read(path)
    assert {"lstm.weight_ih_l0", "decoder.weight", "embedding.weight"} < set(tensors)
    assert eqx.tree_equal(net, formats.load(path, quiet=True))


def test_what_was_assumed_is_printed(key, tmp_path, capsys):
    path = tmp_path / "net.safetensors"
    save_file(
        {
            k: np.asarray(v)
            for k, v in formats.state_dict.tensors_of(drawn("rnn", key).cell).items()
        },
        path,
    )
    formats.load(path)
    assert "activation tanh" in capsys.readouterr().err


def test_keras_order_is_turned_into_torchs(key, tmp_path):
    net = drawn("gru", key)
    r, z, n = (np.asarray(m) for m in np.split(np.asarray(net.cell.W_h), 3))
    a, b, c = (np.asarray(m) for m in np.split(np.asarray(net.cell.W_x), 3))
    b_r, b_z, b_n = np.split(np.asarray(net.cell.b), 3)
    zeros = np.zeros(5, np.float32)
    path = tmp_path / "keras.safetensors"
    bias = np.stack(
        [np.concatenate([b_z, b_r, b_n]), np.concatenate([zeros, zeros, net.cell.b_n])]
    )
    save_file(
        {
            "gru/kernel": np.ascontiguousarray(np.concatenate([b, a, c]).T),
            "gru/recurrent_kernel": np.ascontiguousarray(np.concatenate([z, r, n]).T),
            "gru/bias": bias,
            "dense/kernel": np.ascontiguousarray(np.asarray(net.W_y).T),
            "dense/bias": np.asarray(net.b_y),
        },
        path,
    )
    assert eqx.tree_equal(net, formats.load(path, layout="keras", quiet=True))
    flat = {
        "gru/kernel": np.ones((3, 15), np.float32),
        "gru/recurrent_kernel": np.ones((5, 15), np.float32),
        "gru/bias": np.ones(15, np.float32),
    }
    save_file(flat, path)
    with pytest.raises(ValueError, match="reset_after=False"):
        formats.load(path, layout="keras", quiet=True)


@pytest.mark.parametrize(("kind", "order"), [("lstm", "ifgo"), ("gru", "rzn")])
def test_flax_matrices_are_joined(kind, order, key, tmp_path):
    net = drawn(kind, key)
    cell, tensors = net.cell, {}
    for i, gate in enumerate(order):
        rows = slice(5 * i, 5 * i + 5)
        tensors[f"cell/i{gate}/kernel"] = np.ascontiguousarray(
            np.asarray(cell.W_x[rows]).T
        )
        tensors[f"cell/h{gate}/kernel"] = np.ascontiguousarray(
            np.asarray(cell.W_h[rows]).T
        )
        side = "h" if kind == "lstm" else "i"
        tensors[f"cell/{side}{gate}/bias"] = np.asarray(cell.b[rows])
    if kind == "gru":
        tensors["cell/hn/bias"] = np.asarray(cell.b_n)
    tensors["out/kernel"] = np.ascontiguousarray(np.asarray(net.W_y).T)
    tensors["out/bias"] = np.asarray(net.b_y)
    path = tmp_path / "flax.safetensors"
    save_file(tensors, path)
    assert eqx.tree_equal(net, formats.load(path, layout="flax", quiet=True))


def turned(matrix):
    return np.ascontiguousarray(np.asarray(matrix).T)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_flax_nnx_joins_them_itself(kind, key, tmp_path):
    net = drawn(kind, key)
    cell, side = net.cell, "h" if kind == "lstm" else "i"
    tensors = {
        "cell/dense_i/kernel": turned(cell.W_x),
        "cell/dense_h/kernel": turned(cell.W_h),
        f"cell/dense_{side}/bias": np.asarray(cell.b),
        "out/kernel": turned(net.W_y),
        "out/bias": np.asarray(net.b_y),
    }
    if kind == "gru":  # its matrix for the state has no bias there
        net = eqx.tree_at(lambda net: net.cell.b_n, net, jnp.zeros_like(cell.b_n))
    path = tmp_path / "nnx.safetensors"
    save_file(tensors, path)
    assert eqx.tree_equal(net, formats.load(path, layout="flax", quiet=True))


def test_flax_simple_cells_and_nnx_names(key, tmp_path):
    net = drawn("rnn", key)
    simple = {
        "SimpleCell_0/i/kernel": turned(net.cell.W_x),
        "SimpleCell_0/i/bias": np.asarray(net.cell.b),
        "SimpleCell_0/h/kernel": turned(net.cell.W_h),
        "out/kernel": turned(net.W_y),
        "out/bias": np.asarray(net.b_y),
    }
    path = tmp_path / "simple.safetensors"
    save_file(simple, path)
    assert eqx.tree_equal(net, formats.load(path, layout="flax", quiet=True))
    net = drawn("lstm", key)
    W_x, W_h = (
        np.split(np.asarray(net.cell.W_x), 4),
        np.split(np.asarray(net.cell.W_h), 4),
    )
    tensors = {"out/kernel": turned(net.W_y), "out/bias": np.asarray(net.b_y)}
    for gate, name, A, B, b in zip(
        "ifgo",
        ("i", "f_", "g", "o"),
        W_x,
        W_h,
        np.split(np.asarray(net.cell.b), 4),
        strict=True,
    ):
        tensors[f"rnn/cell/i{name}/kernel"] = turned(A)
        tensors[f"rnn/cell/h{gate}/kernel"] = turned(B)
        tensors[f"rnn/cell/h{gate}/bias"] = b
    save_file(tensors, path)
    assert eqx.tree_equal(net, formats.load(path, layout="flax", quiet=True))
    del tensors["rnn/cell/ig/kernel"]
    save_file(tensors, path)
    with pytest.raises(ValueError, match=r"but not rnn\.cell\.ig\.kernel"):
        formats.load(path, layout="flax", quiet=True)


@pytest.mark.parametrize("library", ["keras", "flax"])
def test_layers_are_counted_not_spelled(library, tmp_path):
    # Keras numbers the layers of a whole session: a model often begins at lstm_9.
    part = {"keras": "lstm_{}/{}kernel", "flax": "LSTMCell_{}/{}/kernel"}[library]
    sides = {"keras": ("", "recurrent_"), "flax": ("i{}", "h{}")}[library]
    tensors = {}
    for layer in (9, 10):
        block = np.full((2, 8 if library == "keras" else 2), layer, np.float32)
        for side in sides:
            for gate in "i" if library == "keras" else "ifgo":
                tensors[part.format(layer, side.format(gate))] = block
    path = tmp_path / "deep.safetensors"
    save_file(tensors, path)
    net = formats.load(path, layout=library, quiet=True)
    assert [float(layer.W_h[0, 0]) for layer in net.cell.cells] == [9, 10]


@pytest.mark.parametrize("bias", [True, False])
def test_tied_weights_that_were_written_once_are_both_found(bias, key, tmp_path):
    # safetensors.torch.save_model names the tensor that it left out in the metadata.
    cell = cells.LSTM.init(5, 5, key=key)
    tied = np.asarray(jr.normal(key, (7, 5)))
    tensors = formats.state_dict.tensors_of(cell, "rnn.") | {"encoder.weight": tied}
    if bias:
        tensors["decoder.bias"] = np.ones(7, np.float32)
    path = tmp_path / "tied.safetensors"
    save_file(tensors, path, metadata={"decoder.weight": "encoder.weight"})
    net = formats.load(path, quiet=True)
    np.testing.assert_array_equal(net.embedding, tied)
    np.testing.assert_array_equal(net.W_y, tied)
    assert (net.b_y is not None) == bias


def test_beside_a_named_embedding_the_other_matrix_is_the_readout(key, tmp_path):
    cell = cells.GRU.init(5, 5, key=key)
    words, head = np.asarray(jr.normal(key, (2, 7, 5)))
    tensors = formats.state_dict.tensors_of(cell, "rnn.")
    path = tmp_path / "untied.safetensors"
    save_file(tensors | {"words.weight": words, "head.weight": head}, path)
    with pytest.raises(ValueError, match="name one by embedding="):
        formats.load(path)
    net = formats.load(path, embedding="words", quiet=True)
    np.testing.assert_array_equal(net.embedding, words)
    np.testing.assert_array_equal(net.W_y, head)


def test_a_network_with_nan_is_not_saved(key, tmp_path):
    net = drawn("gru", key)
    broken = eqx.tree_at(lambda n: n.W_y, net, net.W_y * jnp.nan)
    path = pathlib.Path(tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="NaN"):
        formats.save(broken, path)
    assert not path.exists()
