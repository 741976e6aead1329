"""torch's own files: equal to torch for every kind of module, and nothing in them runs."""

import argparse
import collections
import io
import os
import pickle
import zipfile

import jax.numpy as jnp
import numpy as np
import pytest

import remanence as rm
from remanence import formats
from remanence.formats import pickle_free


torch = pytest.importorskip("torch")
save_file = pytest.importorskip("safetensors.torch").save_file
pytestmark = pytest.mark.torch
nn = torch.nn
XS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
CASES = [
    (kind, layers, both, projected)
    for kind in ("RNN", "LSTM", "GRU")
    for layers in (1, 2)
    for both in (False, True)
    for projected in ((0, 2) if kind == "LSTM" else (0,))
]


def drawn(kind, layers, both, projected):
    torch.manual_seed(0)
    options = {"proj_size": projected} if projected else {}
    make = getattr(nn, kind)
    return make(3, 4, num_layers=layers, bidirectional=both, **options)


def answer(module, xs):
    with torch.no_grad():
        return module(torch.from_numpy(xs))[0].numpy()


def composed(found, layers, both):
    """What the networks of a file say together, as torch puts them together."""
    if not both:
        return found["rnn"].net(XS)
    xs = XS
    for depth in range(layers):
        level = f".l{depth}" if layers > 1 else ""
        forward = found[f"rnn{level}.forward"].net(xs)
        backward = found[f"rnn{level}.backward"].net(xs[::-1])[::-1]
        xs = jnp.concatenate([forward, backward], 1)
    return xs


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize(("kind", "layers", "both", "projected"), CASES)
def test_every_kind_of_module_is_read_as_torch_runs_it(kind, layers, both, projected, tmp_path):
    module = drawn(kind, layers, both, projected)
    path = tmp_path / "model.pt"
    torch.save({f"rnn.{k}": v for k, v in module.state_dict().items()}, path)
    found = rm.recurrent_modules(path)
    assert len(found) == (2 * layers if both else 1)
    assert all(each.taken.kind == kind for each in found.values())
    np.testing.assert_allclose(composed(found, layers, both), answer(module, XS), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
def test_cells_of_one_step(kind, tmp_path):
    torch.manual_seed(1)
    module = nn.ModuleDict({"a": getattr(nn, kind)(3, 4), "b": nn.LSTMCell(4, 4)})
    torch.save(module.state_dict(), tmp_path / "cells.pth")
    found = rm.recurrent_modules(tmp_path / "cells.pth")
    assert list(found) == ["a", "b"]
    h, said = None, []
    for x in torch.from_numpy(XS):
        h = module["a"](x, h)
        said.append((h[0] if isinstance(h, tuple) else h).detach().numpy())
    np.testing.assert_allclose(found["a"].net(XS), np.stack(said), atol=1e-6)


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.encoder = nn.Embedding(7, 4)
        self.gru = nn.GRU(4, 4)
        self.decoder = nn.Linear(4, 7)
        self.decoder.weight = self.encoder.weight

    def forward(self, tokens):
        return self.decoder(self.gru(self.encoder(tokens))[0])


TOKENS = np.array([1, 5, 0, 6])


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda m: m.state_dict(),
        lambda m: {f"module.{k}": v for k, v in m.state_dict().items()},
        lambda m: {f"module._orig_mod.{k}": v for k, v in m.state_dict().items()},
        lambda m: dict(m.named_parameters(remove_duplicate=False)),
        lambda m: {
            "epoch": 3,
            "state_dict": m.state_dict(),
            "optimizer": torch.optim.SGD(m.parameters(), 0.1, 0.9).state_dict(),
            "args": argparse.Namespace(lr=0.1),
            "best": np.float64(0.5),
            "device": torch.device("cpu"),
            "shape": torch.Size([1]),
        },
    ],
)
def test_state_dicts_and_the_checkpoints_round_them(wrap, legacy, tmp_path):
    model = Language()
    path = tmp_path / "model.bin"
    torch.save(wrap(model), path, _use_new_zipfile_serialization=not legacy)
    net, taken = formats.load_and_tell(path)
    assert "GRU gru, embedding encoder.weight, readout decoder.weight" in taken
    expected = model(torch.from_numpy(TOKENS)).detach().numpy()
    np.testing.assert_allclose(net(TOKENS), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64"])
def test_other_precisions_are_widened_exactly(kind, tmp_path):
    tensors = {k: v.to(getattr(torch, kind)) for k, v in nn.RNN(3, 4).state_dict().items()}
    torch.save(tensors, tmp_path / "half.pt")
    cell = formats.load(tmp_path / "half.pt", quiet=True).cell
    expected = tensors["weight_hh_l0"].float().numpy()
    np.testing.assert_array_equal(cell.W_h, expected)


def test_two_state_dicts_in_one_file_are_named_by_their_place(tmp_path):
    path = tmp_path / "both.pt"
    model = {"rnn.weight_ih_l0": torch.ones(4, 3), "rnn.weight_hh_l0": torch.eye(4)}
    mean = {name: 2 * tensor for name, tensor in model.items()}
    torch.save({"model": model, "averaged": mean}, path)
    found = rm.recurrent_modules(path)
    assert sorted(found) == ["averaged.rnn", "model.rnn"]
    net = rm.load(path, prefix="averaged.rnn", quiet=True)
    assert net.cell.W_h[0, 0] == 2
    assert str(found["model.rnn"]).startswith("3 → 4: RNN rnn, activation tanh")
    with pytest.raises(ValueError, match=r"\['averaged.rnn', 'model.rnn'\]; name one"):
        rm.load(path)
    with pytest.raises(ValueError, match="no recurrent module is called 'x'"):
        rm.load(path, prefix="x")


def test_strided_tensors_are_read_in_their_order(tmp_path):
    weights = torch.arange(24.0).reshape(4, 6)
    torch.save(
        {"weight_ih_l0": weights[:, ::2], "weight_hh_l0": weights[:, 2:].T.T},
        tmp_path / "strided.pt",
    )
    cell = formats.load(tmp_path / "strided.pt", quiet=True).cell
    np.testing.assert_array_equal(cell.W_x, weights[:, ::2])
    np.testing.assert_array_equal(cell.W_h, weights[:, 2:])


def test_what_several_networks_leave_open_is_left_out_and_said(tmp_path):
    path = tmp_path / "open.safetensors"
    parts = {"rnn": nn.GRU(3, 4), "a": nn.Linear(4, 2), "b": nn.Linear(4, 2)}
    save_file(nn.ModuleDict(parts).state_dict(), path)
    found = rm.recurrent_modules(path)["rnn"]
    assert found.net.W_y is None and "readout none (readout may be any of" in str(found)


class Call:
    """Pickles to a call of anything."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (nn.LSTM(3, 4), "asks for 'torch.nn.modules.rnn.LSTM'"),
        (Call(torch._utils._rebuild_qtensor), "quantised"),
        (torch.ones(3), "no tensors by name"),
        ({"a": 3}, "no tensors by name"),
    ],
)
def test_what_is_no_state_dict_is_refused_by_name(what, words, tmp_path):
    path = tmp_path / "model.pt"
    torch.save(what, path)
    with pytest.raises(ValueError, match=words):
        formats.load(path)


def test_torchscript_is_refused_by_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "script.pt", "w") as archive:
        archive.writestr("s/data.pkl", b"")
        archive.writestr("s/constants.pkl", b"")
    with pytest.raises(ValueError, match="TorchScript"):
        formats.load(tmp_path / "script.pt")


def in_zip(path, pickled, **records):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("m/data.pkl", pickled)
        for name, content in records.items():
            archive.writestr(f"m/data/{name}", content)
    return path


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("legacy", [False, True])
def test_a_pickle_that_calls_is_refused_by_the_name_and_calls_nothing(protocol, legacy, tmp_path):
    mark, path = tmp_path / "called", tmp_path / "model.pt"
    content = {"weight_ih_l0": Call(os.mkdir, str(mark))}
    pickled = pickle.dumps(content, protocol=protocol)
    if legacy:
        heads = (pickle.dumps(v) for v in (torch_magic(), 1001, {}))
        path.write_bytes(b"".join(heads) + pickled)
    else:
        in_zip(path, pickled)
    with pytest.raises(ValueError, match=r"asks for '(posix|nt)\.mkdir'"):
        formats.load(path)
    assert not mark.exists()


def torch_magic():
    return formats.torch_file.MAGIC


P = pickle.PROTO + b"\x02"
DEEP = P + b")" + 100_000 * b"\x85" + b"."
BOMBS = {
    "memo": P + b"]r\xff\xff\xff\xffa.",
    "deep tuple as a key": P + b"}" + b")" + 100_000 * b"\x85" + b"K\x01s.",
    "deep": DEEP,
    "long number": P + b"\x8b\xff\xff\xff\x7f.",
    "long text": P + b"X\xff\xff\xff\x7f.",
    "long bytes": pickle.PROTO + b"\x05\x96" + b"\xff" * 7 + b"\x7f.",
    "no end": P + b"]",
    "empty": b"",
    "pop": P + b"0000.",
    "extension": P + b"\x82\x01.",
    "instance": b"(ios\nsystem\n.",
    "stack global": pickle.PROTO + b"\x04\x8c\x02os\x8c\x06system\x93.",
    "no names": pickle.PROTO + b"\x04K\x01K\x02\x93.",
    "persistent": P + b"K\x01Q.",
    "build": P + b"}}b.",
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("legacy", [False, True])
def test_malformed_pickles_are_refused(name, legacy, tmp_path):
    path = tmp_path / "model.pt"
    if legacy:
        heads = (pickle.dumps(v) for v in (torch_magic(), 1001, {}))
        path.write_bytes(b"".join(heads) + BOMBS[name])
    else:
        in_zip(path, BOMBS[name])
    with pytest.raises(ValueError, match=r"model\.pt is not read: \w"):
        formats.load(path)


class Storage:
    def __init__(self, key):
        self.key = key


def described(size, stride, offset=0, key="0"):
    """The pickle of a state dict with one tensor of any sizes."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            if isinstance(obj, Storage):
                return ("storage", torch.FloatStorage, obj.key, "cpu", 12)
            return None

    rebuild = torch._utils._rebuild_tensor_v2
    arguments = (Storage(key), offset, size, stride, False, collections.OrderedDict())
    file = io.BytesIO()
    Pickler(file, 2).dump({"weight_ih_l0": Call(rebuild, *arguments)})
    return file.getvalue()


@pytest.mark.parametrize(
    ("size", "stride", "more", "words"),
    [
        ((4, 4), (4, 1), {}, "beyond its 12 numbers"),
        ((4, 3), (3, 1), {"offset": 1}, "beyond its 12 numbers"),
        ((1 << 40,), (0,), {}, "repeat the same numbers"),
        ((13,), (0,), {}, "beyond its 12 numbers"),
        ((4, 3), (-3, 1), {}, "no whole numbers"),
        ((4, 3), (3, 1), {"offset": -1}, "no whole numbers"),
        ((4, 3), (3,), {}, "2 sizes and 1 strides"),
        (("a", 3), (3, 1), {}, "no whole numbers"),
        ((1,) * 40, (1,) * 40, {}, "40 dimensions"),
        ((4, 3), (3, 1), {"key": "../../x"}, "are missing"),
        ((4, 3), (10**5000, 1), {}, "beyond its 12 numbers"),
    ],
)
def test_tensors_stay_within_their_numbers(size, stride, more, words, tmp_path):
    path = in_zip(tmp_path / "m.pt", described(size, stride, **more), **{"0": bytes(48)})
    with pytest.raises(ValueError, match=words):
        formats.load(path)


def test_archives_that_swell_are_refused(tmp_path):
    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/data.pkl", described((4, 3), (3, 1)))
        archive.writestr("m/data/0", bytes(10**7))
    with pytest.raises(ValueError, match="compressed"):
        formats.load(path)
    content = in_zip(path, described((4, 3), (3, 1)), **{"0": bytes(48)}).read_bytes()
    entry = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1)
    swollen = bytearray(content)
    swollen[entry + 24 : entry + 28] = (2**31).to_bytes(4, "little")  # its size
    path.write_bytes(swollen)
    with pytest.raises(ValueError, match="more bytes than the file"):
        formats.load(path)


def test_nothing_of_the_reader_calls_what_it_reads():
    # Every name it knows is text to it: no class or function of torch's is held.
    assert all(isinstance(name, str) for name in pickle_free.INERT | pickle_free.REBUILT)
    value = pickle_free.value_of(io.BytesIO(pickle.dumps({"a": [1, (2.5, None, True)]})))
    assert value == {"a": [1, (2.5, None, True)]}
