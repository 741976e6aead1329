"""Weights in and out: round trips."""

import pathlib

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
import torch_cases
from drawn_nets import drawn
from safetensors.numpy import save_file

from remanence import cells, formats, nets
from remanence.formats import saving


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
        lambda key: cells.Residual.init(2, 4, key=key, residual=0.9, activation=jax.nn.relu),
        residual,
        lambda key: cells.Elman.init(2, 4, key=key, activation=jax.nn.sigmoid),
        lambda key: cells.Stack((cells.Linear.init(2, 3, key=key), cells.GRU.init(3, 4, key=key))),
    ],
)
def test_our_other_cells_have_a_file_format_too(make, key, tmp_path):
    net = nets.Recurrent.init(make(key), outputs=3, key=key)
    path = tmp_path / "net.safetensors"
    formats.save(net, path)
    assert eqx.tree_equal(net, formats.load(path, quiet=True))


def test_what_was_assumed_is_printed(key, tmp_path, capsys):
    path = tmp_path / "net.safetensors"
    save_file(
        {k: np.asarray(v) for k, v in saving.tensors_of(drawn("rnn", key).cell).items()}, path
    )
    formats.load(path)
    assert "activation tanh" in capsys.readouterr().err


@pytest.mark.parametrize("bias", [True, False])
def test_tied_weights_that_were_written_once_are_both_found(bias, key, tmp_path):
    # safetensors.torch.save_model names the tensor that it left out in the metadata.
    cell = cells.LSTM.init(5, 5, key=key)
    tied = np.asarray(jr.normal(key, (7, 5)))
    tensors = saving.tensors_of(cell, "rnn.") | {"encoder.weight": tied}
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
    tensors = saving.tensors_of(cell, "rnn.")
    path = tmp_path / "untied.safetensors"
    save_file(tensors | {"words.weight": words, "head.weight": head}, path)
    with pytest.raises(ValueError, match="name one by embedding="):
        formats.load(path)
    net = formats.load(path, embedding="words", quiet=True)
    np.testing.assert_array_equal(net.embedding, words)
    np.testing.assert_array_equal(net.W_y, head)


def test_a_bias_without_its_matrix_is_not_lost(key, tmp_path):
    net = nets.Recurrent(cells.Elman.init(2, 3, key=key), b_y=jnp.ones(3))
    with pytest.raises(ValueError, match="b_y without W_y has no format"):
        formats.save(net, tmp_path / "net.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_network_with_nan_is_not_saved(key, tmp_path):
    net = drawn("gru", key)
    broken = eqx.tree_at(lambda n: n.W_y, net, net.W_y * jnp.nan)
    path = pathlib.Path(tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="NaN"):
        formats.save(broken, path)
    assert not path.exists()
