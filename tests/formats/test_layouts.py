"""Other libraries' names and gate orders are read as torch's."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from drawn_nets import drawn
from safetensors.numpy import save_file

from remanence import formats


def test_keras_order_is_turned_into_torchs(key, tmp_path):
    net = drawn("gru", key)
    r, z, n = (np.asarray(m) for m in np.split(np.asarray(net.cell.W_h), 3))
    a, b, c = (np.asarray(m) for m in np.split(np.asarray(net.cell.W_x), 3))
    b_r, b_z, b_n = np.split(np.asarray(net.cell.b), 3)
    zeros = np.zeros(5, np.float32)
    path = tmp_path / "keras.safetensors"
    bias = np.stack([np.concatenate([b_z, b_r, b_n]), np.concatenate([zeros, zeros, net.cell.b_n])])
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
        tensors[f"cell/i{gate}/kernel"] = np.ascontiguousarray(np.asarray(cell.W_x[rows]).T)
        tensors[f"cell/h{gate}/kernel"] = np.ascontiguousarray(np.asarray(cell.W_h[rows]).T)
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
    W_x, W_h = (np.split(np.asarray(net.cell.W_x), 4), np.split(np.asarray(net.cell.W_h), 4))
    tensors = {"out/kernel": turned(net.W_y), "out/bias": np.asarray(net.b_y)}
    for gate, name, A, B, b in zip(
        "ifgo", ("i", "f_", "g", "o"), W_x, W_h, np.split(np.asarray(net.cell.b), 4), strict=True
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


def keras(units=4, gates=4, **more):
    base = {
        "l/kernel": np.ones((3, gates * units), np.float32),
        "l/recurrent_kernel": np.ones((units, gates * units), np.float32),
    }
    return base | {k.replace("_of_", "/"): v for k, v in more.items()}


def flax(**more):
    parts = {
        f"l/{side}{gate}/kernel": np.ones((3 if side == "i" else 4, 4), np.float32)
        for side in "ih"
        for gate in "ifgo"
    }
    return parts | {k.replace("_of_", "/"): v for k, v in more.items()}


ONES = lambda *shape: np.ones(shape, np.float32)


@pytest.mark.parametrize(
    ("layout", "tensors", "words"),
    [
        ("keras", keras(l_of_bias=ONES(17)), r"bias has shape \(17,\); \(16,\)"),
        ("keras", keras(l_of_bias=ONES(1, 16)), r"bias has shape \(1, 16\)"),
        ("keras", keras(gates=3, l_of_bias=ONES(3, 12)), r"\(2, 12\) would do"),
        ("keras", keras(gates=1, l_of_bias=ONES(8)), r"\(4,\) would do"),
        ("keras", keras(gates=2), "N × N, 3N or 4N"),
        ("keras", keras(l_of_kernel=ONES(3, 17)), "as many columns"),
        ("keras", keras(l_of_kernel=ONES(16)), "matrices with as many"),
        ("keras", {"l/recurrent_kernel": ONES(4, 16)}, "l has a recurrent kernel, but no"),
        ("flax", flax(l_of_hi_of_bias=ONES(8)), r"hi.bias has shape \(8,\)"),
        ("flax", flax(l_of_hi_of_bias=ONES(1)), r"hi.bias has shape \(1,\)"),
        ("flax", flax(l_of_ii_of_kernel=ONES(3, 5)), "matrices of one shape"),
        ("flax", flax(l_of_ii_of_kernel=ONES(3)), "matrices of one shape"),
        ("flax", flax(l_of_ii_of_kernel=ONES(2, 4)), "matrices of one shape"),
    ],
)
def test_shapes_are_checked_to_the_last_entry(layout, tensors, words, tmp_path):
    path = tmp_path / "model.safetensors"
    save_file(tensors, path)
    with pytest.raises(ValueError, match=words):
        formats.load(path, layout=layout, quiet=True)
