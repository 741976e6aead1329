"""What the recurrent modules of a torch model receive, bit by bit, and the model as before."""

import numpy as np
import pytest

import remanence as rm


torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
nn = torch.nn
pack = torch.nn.utils.rnn.pack_sequence


class Inner(nn.Module):
    """A front end and a GRU, whose input is overwritten afterwards."""

    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(2, 4, 3, padding=1)
        self.gru = nn.GRU(4, 5)

    def forward(self, xs):
        self.given = self.front(xs.transpose(1, 2)).permute(2, 0, 1)
        self.kept = self.given.detach().clone()
        out, _ = self.gru(input=self.given)
        self.given.mul_(0)
        return out


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleDict({"deep": Inner()})
        self.cell = nn.LSTMCell(5, 3)
        self.drop = nn.Dropout(0.5)

    def forward(self, xs):
        ys, state, self.steps = self.drop(self.inner["deep"](xs)), None, []
        for y in ys:
            state = self.cell(y, state)
            self.steps.append(y.detach().clone())
        return state[0]


def everything(model):
    parts = [*model.modules()]
    hooks = [(len(p._forward_hooks), len(p._forward_pre_hooks)) for p in parts]
    return [p.training for p in parts], hooks, torch.get_rng_state().tolist()


def test_nested_modules_are_recorded_bit_by_bit_and_the_model_is_as_before(tmp_path):
    torch.manual_seed(0)
    model, xs = Outer(), torch.randn(3, 30, 2)
    expected = model.eval()(xs)
    model.train()
    model.inner.eval()  # a mixture of modes stays one
    before = everything(model)
    recorded = rm.record(model, xs)
    inner = model.inner["deep"].kept.numpy().swapaxes(0, 1)
    assert recorded["inner.deep.gru"].tobytes() == np.ascontiguousarray(inner).tobytes()
    steps = torch.stack(model.steps, 1).numpy()
    assert recorded["cell"].tobytes() == np.ascontiguousarray(steps).tobytes()
    assert recorded["cell"].shape == (3, 30, 5) and not recorded.lengths
    assert everything(model) == before
    assert torch.equal(model.eval()(xs), expected)
    paths = recorded.save(tmp_path)
    assert sorted(p.name for p in paths) == ["cell.npy", "inner.deep.gru.npy"]
    assert np.array_equal(np.load(tmp_path / "cell.npy"), recorded["cell"])


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_packed_sequences_keep_their_lengths_and_their_bits(dtype, tmp_path):
    xs = [torch.randn(n, 2).to(dtype) for n in (5, 30, 12)]
    model = nn.LSTM(2, 3, dtype=dtype)
    recorded = rm.record(model, pack(xs, enforce_sorted=False))
    assert recorded.lengths[""].tolist() == [5, 30, 12]
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    for got, x in zip(recorded.sequences(""), xs, strict=True):
        assert np.array_equal(got, x.to(wide).numpy())
    assert sorted(p.name for p in recorded.save(tmp_path)) == ["model.lengths.npy", "model.npy"]


def test_calls_go_on_from_the_state_that_they_were_given():
    model, xs = nn.GRU(2, 3, batch_first=True), torch.randn(2, 20, 2)

    class Chunks(nn.Module):
        def __init__(self, carried):
            super().__init__()
            self.gru, self.carried = model, carried

        def forward(self, xs):
            state = None
            for part in xs.split(7, 1):
                _, state = self.gru(part, state if self.carried else None)

    whole = rm.record(Chunks(True), xs)
    assert np.array_equal(whole["gru"], xs.numpy()) and whole.from_zero["gru"]
    apart = rm.record(Chunks(False), xs)
    assert apart["gru"].shape == (6, 7, 2)
    assert apart.lengths["gru"].tolist() == [7, 7, 7, 7, 6, 6]
    several = rm.record(Chunks(True), [xs, xs[:1]])
    assert several["gru"].shape == (3, 20, 2)
    assert not rm.record(model, (xs, torch.ones(1, 2, 3))).from_zero[""]
    assert rm.record(model, {"input": xs})[""].shape == (2, 20, 2)


def test_hooks_and_modes_are_as_before_after_an_exception():
    model, xs = Outer(), torch.randn(3, 30, 7)
    before = everything(model)
    with pytest.raises(RuntimeError):
        rm.record(model, xs)
    assert everything(model) == before


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_what_cannot_be_recorded_is_refused_by_name():
    scripted = torch.jit.script(nn.Sequential(nn.Linear(2, 3)))
    with pytest.raises(ValueError, match="is a ScriptModule, which cannot be hooked"):
        rm.record(scripted, torch.randn(1, 2))

    class Holder(nn.Module):
        def __init__(self, part):
            super().__init__()
            self.part = part

        def forward(self, xs):
            return xs

    with pytest.raises(ValueError, match="part is a ScriptModule"):
        rm.record(Holder(torch.jit.script(nn.LSTM(2, 3))), torch.randn(1, 2))
    with pytest.raises(ValueError, match="did not call its recurrent modules"):
        rm.record(Holder(nn.LSTM(2, 3)), torch.randn(1, 2))
    with pytest.raises(ValueError, match="no RNN, LSTM or GRU is inside Linear"):
        rm.record(nn.Linear(2, 3), torch.randn(1, 2))
    quantised = type("LSTM", (nn.Module,), {"__module__": "torch.ao.nn.quantized.dynamic"})
    with pytest.raises(ValueError, match="part is quantised; the float model would do"):
        rm.record(Holder(quantised()), torch.randn(1, 2))


def test_wrappers_are_looked_through():
    model, xs = nn.Sequential(nn.LSTM(2, 3)), torch.randn(5, 1, 2)
    wrapped = nn.DataParallel(model, device_ids=[])
    assert [*rm.record(wrapped, xs)] == ["0"]
    assert [*rm.recurrent_modules(wrapped)] == ["0"]
