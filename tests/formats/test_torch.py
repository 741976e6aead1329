"""torch in and out, live."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
import torch_cases

import remanence as rm
from remanence import cells, formats


torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("case", torch_cases.CASES)
def test_there_and_back(case, tmp_path):
    module = torch_cases.module(case, seed=3)
    net = formats.from_torch(module)
    xs = torch_cases.inputs(case)
    with torch.no_grad():
        expected = module(torch.from_numpy(xs))[0].numpy()
        again = formats.to_torch(net)(torch.from_numpy(xs))[0].numpy()
    np.testing.assert_allclose(net(jnp.asarray(xs)), expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(again, expected, rtol=0, atol=1e-6)
    formats.save(net, tmp_path / "m.safetensors")
    from safetensors.torch import load_file

    fresh = torch_cases.module(case, seed=4)
    fresh.load_state_dict(load_file(tmp_path / "m.safetensors"), strict=True)
    with torch.no_grad():
        loaded = fresh(torch.from_numpy(xs))[0].numpy()
    np.testing.assert_allclose(loaded, expected, rtol=0, atol=1e-6)


class Language(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Embedding(11, 4)
        self.lstm = torch.nn.LSTM(4, 6, num_layers=2)
        self.decoder = torch.nn.Linear(6, 11)

    def forward(self, tokens):
        return self.decoder(self.lstm(self.encoder(tokens))[0])


def test_a_language_model_with_names_of_its_own():
    torch.manual_seed(0)
    module = Language()
    net = formats.from_torch(module)
    tokens = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    with torch.no_grad():
        expected = module(torch.from_numpy(tokens)).numpy()
        rebuilt = formats.to_torch(net)(torch.from_numpy(tokens)).numpy()
    np.testing.assert_allclose(net(jnp.asarray(tokens)), expected, atol=1e-6)
    np.testing.assert_allclose(rebuilt, expected, atol=1e-6)


def test_tied_sizes_need_a_name():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(4, 9)
            self.b = torch.nn.Linear(4, 8)
            self.rnn = torch.nn.GRU(4, 4)

        def forward(self, x):
            return self.b(self.rnn(x)[0])

    with pytest.raises(ValueError, match="readout may be any of"):
        formats.from_torch(Tied())
    net = formats.from_torch(Tied(), readout="b", embedding="")
    assert net.W_y is not None and net.W_y.shape == (8, 4)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (torch.nn.LSTM(2, 3, bidirectional=True), "a bidirectional module is several"),
        (torch.nn.Linear(2, 3), "no RNN, LSTM or GRU is inside Linear"),
        (torch.nn.ModuleList([torch.nn.GRU(2, 3), torch.nn.GRU(2, 3)]), "got 2"),
        ("model", "torch.nn.Module would do"),
    ],
)
def test_unsupported_modules_are_refused_by_name(module, words):
    with pytest.raises(ValueError, match=words):
        formats.from_torch(module)


def test_a_cell_that_torch_lacks_is_refused(key):
    with pytest.raises(ValueError, match="torch has no module for Residual"):
        formats.to_torch(cells.Residual.init(2, 3, key=key))


def test_a_single_step_module(key):
    module = torch.nn.LSTMCell(3, 5)
    net = formats.from_torch(module)
    x = np.array(jr.normal(key, (3,)))
    with torch.no_grad():
        h, _ = module(torch.from_numpy(x))
    np.testing.assert_allclose(net(jnp.asarray(x)[None])[0], h.numpy(), atol=1e-6)


def test_half_precisions_are_read_as_a_file_of_them_would_be():
    for dtype in (torch.float16, torch.bfloat16):
        module = torch.nn.GRU(3, 5).to(dtype)
        got = np.asarray(formats.from_torch(module).cell.W_h)
        np.testing.assert_array_equal(got, module.weight_hh_l0.detach().float().numpy())
        assert got.dtype == np.float32


def test_a_readout_is_read_at_every_step_or_at_the_last():
    with pytest.raises(ValueError, match="positions must be 'every' or 'last', got"):
        formats.from_torch(torch.nn.GRU(2, 3), positions="first")


def test_weights_that_are_no_numbers_are_refused_as_in_a_file():
    module = torch.nn.RNN(2, 3)
    with torch.no_grad():
        module.weight_hh_l0[0, 0] = float("nan")
    with pytest.raises(ValueError, match="weight_hh_l0 holds 1 values that are NaN"):
        formats.from_torch(module)


class Several(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.GRU(3, 4, bidirectional=True, num_layers=2)
        self.steps = torch.nn.RNNCell(8, 4, nonlinearity="relu")
        self.decoder = torch.nn.LSTM(4, 5, proj_size=2)


def test_every_network_inside_a_module():
    module = Several()
    found = rm.recurrent_modules(module)
    names = [
        "encoder.l0.forward",
        "encoder.l0.backward",
        "encoder.l1.forward",
        "encoder.l1.backward",
        "steps",
        "decoder",
    ]
    assert list(found) == names
    assert [found[name].sizes for name in names[-3:]] == [(8, 4), (8, 4), (4, 2)]
    assert "activation relu" in str(found["steps"])
    with pytest.raises(ValueError, match="no RNN, LSTM or GRU is inside Linear"):
        rm.recurrent_modules(torch.nn.Linear(2, 3))
    with pytest.raises(ValueError, match="recurrent_modules gives each"):
        formats.from_torch(module.encoder)


def test_parametrised_weights_are_those_that_are_used():
    module = torch.nn.GRU(3, 4)
    torch.nn.utils.parametrizations.weight_norm(module, "weight_hh_l0")
    with torch.no_grad():
        module.parametrizations.weight_hh_l0.original0.mul_(2)
    net = formats.from_torch(module)
    np.testing.assert_allclose(net.cell.W_h, module.weight_hh_l0.detach(), atol=1e-6)
