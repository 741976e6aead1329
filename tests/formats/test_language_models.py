"""Language models of transformers, read from their folders and compared with the live ones."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cli.command import ended
from safetensors.numpy import load_file, save_file

import remanence as rm
from remanence.nets import unroll


tf = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
pytestmark = pytest.mark.live
from formats.language_models import configurations, logits, tiny_model, tokens  # noqa: E402


CHANGED = [
    ("rwkv", {"tie_word_embeddings": True}),
    ("recurrent_gemma", {"head_dim": 8}),
    ("qwen3_next", {"hidden_act": "gelu"}),
]


@pytest.mark.parametrize(
    ("name", "changes"), [*((name, {}) for name in configurations()), *CHANGED]
)
def test_logits_are_those_of_transformers(name, changes, tmp_path):
    model = tiny_model(name, **changes)
    model.save_pretrained(tmp_path)
    net = rm.load(tmp_path, quiet=True)
    sequence = tokens()
    theirs = logits(model, sequence)
    at_once = np.asarray(eqx.filter_jit(net)(jnp.asarray(sequence)))
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(at_once, theirs, atol=1e-4 * scale)
    step = eqx.filter_jit(
        lambda xs: jax.vmap(net.read)(unroll(net.cell, net.cell.initial_state(), xs))
    )
    one_by_one = np.asarray(step(net.embed(jnp.asarray(sequence))))
    np.testing.assert_allclose(one_by_one, theirs, atol=1e-4 * scale)
    assert np.std(theirs) > 0.01 * scale


def test_weights_in_several_files(tmp_path):
    model = tiny_model("mamba")
    model.save_pretrained(tmp_path / "whole")
    model.save_pretrained(tmp_path / "parts", max_shard_size="2KB")
    shards = sorted((tmp_path / "parts").glob("model-*.safetensors"))
    assert len(shards) > 1
    whole, parts = (rm.load(tmp_path / name, quiet=True) for name in ("whole", "parts"))
    assert eqx.tree_equal(whole, parts)
    shards[0].unlink()
    with pytest.raises(ValueError, match="which is not in the folder"):
        rm.load(tmp_path / "parts", quiet=True)


def test_what_is_no_recurrent_language_model_is_refused(tmp_path):
    torch.manual_seed(0)
    config = tf.GPT2Config(n_embd=8, n_layer=1, n_head=2, vocab_size=32)
    tf.GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt2")
    with pytest.raises(ValueError, match=r"type 'gpt2', .* or of type mamba, "):
        rm.load(tmp_path / "gpt2", quiet=True)
    config = configurations()["qwen3_next"]
    config.layer_types = ["linear_attention", "full_attention"]
    tf.Qwen3NextForCausalLM(config).save_pretrained(tmp_path / "hybrid")
    with pytest.raises(ValueError, match="layers 1 of 2 are full attention"):
        rm.load(tmp_path / "hybrid", quiet=True)


def test_delta_layers_of_a_hybrid_are_networks_of_their_own(tmp_path, capfd):
    """What a layer adds to the stream is what transformers' layer adds."""
    config = configurations()["qwen3_next"]
    config.layer_types = ["linear_attention", "full_attention"]
    torch.manual_seed(0)
    model = tf.Qwen3NextForCausalLM(config).eval()
    model.save_pretrained(tmp_path)
    assert list(rm.recurrent_modules(tmp_path)) == ["layers.0"]
    net = rm.load(tmp_path, prefix="layers.0", quiet=True)
    xs = np.random.default_rng(0).normal(size=(12, 16)).astype(np.float32)
    with torch.no_grad():
        theirs = model.model.layers[0](torch.as_tensor(xs)[None], position_embeddings=None)
    theirs = theirs[0] if isinstance(theirs, tuple) else theirs
    np.testing.assert_allclose(net(jnp.asarray(xs)), theirs[0].numpy(), atol=1e-4)
    spectrum = rm.lyapunov_spectrum(net, np.tile(xs, (10, 1)))
    assert spectrum.exponents[0] <= 0 and len(spectrum.exponents) == 4 * 4 * 6
    vectors, page = tmp_path / "vectors.npy", tmp_path / "page.html"
    np.save(vectors, np.tile(xs, (4, 1)))
    options = ("--prefix", "layers.0", "--inputs", vectors, "--out", page, "--quick", "--quiet")
    done = ended(capfd, "checkup", tmp_path, *options)
    assert done.returncode == 0 and "gated delta layer layers.0" in done.stdout and page.is_file()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_hidden_layers": 3}, "has 3 layers, and the weights hold 2"),
        ({"num_hidden_layers": 1}, "has 1 layers, and the weights hold 2"),
        ({"num_hidden_layers": 10**9}, "has 1000000000 layers, and the weights hold 2"),
        ({"num_hidden_layers": 0}, "num_hidden_layers = 0; a whole number would do"),
        ({"hidden_act": "mish"}, "hidden_act = 'mish'; silu"),
        ({"layer_norm_epsilon": "x"}, "layer_norm_epsilon = 'x'; a number would do"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(change, words, tmp_path):
    tiny_model("mamba").save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=words):
        rm.load(tmp_path, quiet=True)


def test_weights_that_do_not_fit_are_refused(tmp_path):
    tiny_model("mamba").save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    name = "backbone.layers.0.mixer.A_log"
    save_file(tensors | {name: np.full_like(tensors[name], np.nan)}, path)
    with pytest.raises(ValueError, match=f"{name} holds"):
        rm.load(tmp_path, quiet=True)
    save_file(tensors | {name: np.ones((3, 3), np.float32)}, path)
    with pytest.raises(ValueError, match="do not fit the configuration"):
        rm.load(tmp_path, quiet=True)
