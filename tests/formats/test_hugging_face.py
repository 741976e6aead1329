"""Folders as Hugging Face's libraries save them."""

import json

import equinox as eqx
import numpy as np
import pytest
from drawn_nets import drawn
from formats.tiny_mamba import save_tiny_mamba
from safetensors.numpy import save_file

import remanence as rm
from remanence.formats import saving


def arrays(net):
    ends = {"head.weight": np.asarray(net.W_y), "head.bias": np.asarray(net.b_y)}
    return saving.tensors_of(net.cell, "rnn.") | ends


def test_weights_in_one_file_or_in_several(key, tmp_path):
    net = drawn("gru", key)
    (tmp_path / "config.json").write_text('{"model_type": "mine"}')
    save_file(arrays(net), tmp_path / "model.safetensors")
    assert eqx.tree_equal(net, rm.load(tmp_path, quiet=True))
    (tmp_path / "model.safetensors").unlink()
    places = {name: f"model-{i % 2}.safetensors" for i, name in enumerate(arrays(net))}
    for file in set(places.values()):
        save_file({n: t for n, t in arrays(net).items() if places[n] == file}, tmp_path / file)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    assert eqx.tree_equal(net, rm.load(tmp_path, quiet=True))
    for wrong in ("../x.safetensors", "/x.safetensors", 3):
        index.write_text(json.dumps({"weight_map": {"a": wrong}}))
        with pytest.raises(ValueError, match="a file beside it would do"):
            rm.load(tmp_path)
    index.write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        rm.load(tmp_path)


def test_models_of_another_kind_are_refused_by_it(tmp_path):
    save_file({"backbone.A_log": np.ones((2, 2))}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ValueError, match="no weight_ih_l0"):
        rm.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(ValueError, match="holds a model of type 'gpt2'"):
        rm.load(tmp_path)


def test_the_embedding_is_the_head_only_where_the_configuration_says_so(tmp_path):
    """A model saved without its head has no next-token distribution."""
    config = json.loads((save_tiny_mamba(tmp_path) / "config.json").read_text())
    assert rm.load(tmp_path, quiet=True).W_y.shape == (30, 8)  # Mamba's own default
    (tmp_path / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}))
    with pytest.raises(ValueError, match=r"hold no lm_head.weight, and config.json does not tie"):
        rm.load(tmp_path)


def test_other_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        rm.load(tmp_path)
