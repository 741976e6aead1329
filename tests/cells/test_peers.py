"""Cells beside the packages that define them (`make live` installs these aside)."""

import os

import jax.numpy as jnp
import numpy as np
import pytest

import remanence as rm
from remanence.cells import LinearRecurrence, Mamba, MinGRU, MinLSTM, SLSTM
from remanence.nets import unroll


torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.live,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def array(tensor):
    return jnp.asarray(tensor.detach().numpy())


@pytest.mark.parametrize("kind", ["minGRU", "minLSTM"])
def test_minimal_cells(kind):
    package = pytest.importorskip(f"minGRU_pytorch.{kind}")
    torch.manual_seed(0)
    theirs = getattr(package, kind)(5)
    x = torch.randn(1, 12, 5)
    weight = next(theirs.parameters())
    gates = {"minGRU": MinGRU, "minLSTM": MinLSTM}[kind](5)
    cell = LinearRecurrence(gates, array(weight))
    ours = unroll(cell, cell.initial_state(), array(x[0]))
    np.testing.assert_allclose(ours, array(theirs(x)[0]), atol=1e-5)


def test_mamba():
    package = pytest.importorskip("mambapy.mamba")
    torch.manual_seed(0)
    config = package.MambaConfig(d_model=8, n_layers=1, d_state=4, use_cuda=False)
    block = package.MambaBlock(config)
    u = torch.randn(1, 12, 16)
    gates = Mamba(
        array(block.A_log),
        array(block.D),
        array(block.x_proj.weight),
        array(block.dt_proj.weight),
        array(block.dt_proj.bias),
    )
    cell = LinearRecurrence(gates)
    h = torch.zeros(1, 16, 4)
    state = cell.initial_state()
    for t in range(12):
        theirs, h = block.ssm_step(u[:, t], h)
        before, state = state, cell(state, array(u[0, t]))
        np.testing.assert_allclose(state, array(h[0]), atol=1e-5)
        ours = gates.read(before, state, array(u[0, t]))
        np.testing.assert_allclose(ours, array(theirs[0]), atol=1e-5)


def test_slstm():
    package = pytest.importorskip("xlstm.blocks.slstm.cell")
    torch.manual_seed(0)
    config = package.sLSTMCellConfig(hidden_size=6, num_heads=2, backend="vanilla", dtype="float32")
    theirs = package.sLSTMCell(config)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.5 * torch.randn(parameter.shape))
    x = torch.randn(1, 10, 24)
    outputs, _ = theirs(x)
    # heads x (gates x outputs) x inputs, and gates x units.
    R = array(theirs._recurrent_kernel).reshape(2, 4, 3, 3).transpose(1, 0, 2, 3)
    b = array(theirs._bias).reshape(4, 6)
    cell = SLSTM(jnp.eye(24).reshape(4, 6, 24), R, b)
    ours = unroll(cell, cell.initial_state(), array(x[0]))[2]
    np.testing.assert_allclose(ours, array(outputs)[0].swapaxes(0, 1).reshape(10, 6), atol=1e-5)


def test_rwkv7(tmp_path):
    os.environ["RWKV_V7_ON"], os.environ["RWKV_JIT_ON"] = "1", "0"
    package = pytest.importorskip("rwkv.model")
    torch.manual_seed(0)
    tensors = rwkv7_tensors(layers=2, width=16, heads=2, vocabulary=20)
    torch.save(tensors, tmp_path / "tiny.pth")
    theirs = package.RWKV(model=str(tmp_path / "tiny"), strategy="cpu fp32")
    tokens = np.random.default_rng(0).integers(0, 20, 24).tolist()
    state, rows = None, []
    for token in tokens:
        logits, state = theirs.forward([token], state)
        rows.append(logits.numpy())
    net = rm.load(tmp_path / "tiny.pth", quiet=True)
    ours = np.asarray(net(jnp.asarray(tokens)))
    np.testing.assert_allclose(ours, rows, atol=1e-4 * np.abs(rows).max())


def rwkv7_tensors(layers, width, heads, vocabulary):
    draw = lambda *shape: 0.3 * torch.randn(*shape)
    found = {"emb.weight": torch.randn(vocabulary, width)}
    found |= {"head.weight": draw(vocabulary, width)}

    def norm(name):
        found[f"{name}.weight"], found[f"{name}.bias"] = 1 + draw(width), draw(width)

    norm("ln_out")
    norm("blocks.0.ln0")
    for i in range(layers):
        block, att, ffn = f"blocks.{i}", f"blocks.{i}.att", f"blocks.{i}.ffn"
        norm(f"{block}.ln1"), norm(f"{block}.ln2"), norm(f"{att}.ln_x")
        for part in "rwkvag":
            found[f"{att}.x_{part}"] = torch.rand(1, 1, width)
        for part in "wav":
            found[f"{att}.{part}0"] = draw(1, 1, width)
            found[f"{att}.{part}1"] = draw(width, 4)
            found[f"{att}.{part}2"] = draw(4, width)
        found[f"{att}.g1"], found[f"{att}.g2"] = draw(width, 4), draw(4, width)
        found[f"{att}.k_k"], found[f"{att}.k_a"] = draw(1, 1, width), draw(1, 1, width)
        found[f"{att}.r_k"] = draw(heads, width // heads)
        for part in ("receptance", "key", "value", "output"):
            found[f"{att}.{part}.weight"] = draw(width, width)
        found[f"{ffn}.x_k"] = torch.rand(1, 1, width)
        found[f"{ffn}.key.weight"] = draw(4 * width, width)
        found[f"{ffn}.value.weight"] = draw(width, 4 * width)
    return found
