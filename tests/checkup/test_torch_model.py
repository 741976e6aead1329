"""`checkup` and `monitor` of live torch models."""

import csv

import numpy as np
import pytest

import remanence as rm
from remanence.checkup import lightning_callback


torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
nn = torch.nn


class Tagger(nn.Module):
    """Tokens, both directions twice, then a cell step by step."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(9, 4)
        self.both = nn.GRU(4, 2, num_layers=2, bidirectional=True, batch_first=True)
        self.cell = nn.RNNCell(4, 2, nonlinearity="relu")

    def forward(self, tokens):
        ys, h = self.both(self.words(tokens))[0], None
        self.below = ys
        for y in ys.unbind(1):
            h = self.cell(y, h)
        return h


def test_every_recurrent_network_is_checked_on_what_it_receives(tmp_path):
    model, tokens = Tagger(), torch.randint(9, (2, 40))
    found = rm.checkup(model, tokens, quick=True, time_limit=0.5)
    sides = [f"both.l{depth}.{way}" for depth in (0, 1) for way in ("forward", "backward")]
    assert [*found] == [*sides, "cell"]
    assert "2 sequences of 40 steps that cell received" in found["cell"].verdict
    assert "from the end" in found["both.l1.backward"].inputs
    # The layer above hears both directions: its own states are then those of torch.
    states = model.below.detach().numpy()
    inputs = rm.record(model, tokens)["cell"]
    np.testing.assert_array_equal(inputs, states)
    networks = {
        title: (net, xs) for title, net, _, xs, _ in rm.formats.model_networks(model, tokens)
    }
    for way, columns in (("forward", slice(2)), ("backward", slice(2, 4))):
        net, xs = networks[f"both.l1.{way}"]
        turn = slice(None, None, -1 if way == "backward" else 1)
        for x, expected in zip(xs, states[..., columns], strict=True):
            np.testing.assert_allclose(np.asarray(net(x))[turn], expected, atol=1e-6)
    page = found.save(tmp_path / "model.html").read_text()
    assert "both.l0.forward" in page and "both.l0.forward" in found._repr_html_()
    assert str(found).count("replay window") == 5


def train(model, tokens, passes):
    optimiser = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(passes):
        optimiser.zero_grad()
        model(tokens).square().mean().backward()
        optimiser.step()


def test_a_monitor_writes_a_row_a_look_and_network(tmp_path):
    model, tokens = Tagger(), torch.randint(9, (2, 30))
    seen, path = [], tmp_path / "rows.csv"
    with rm.monitor(model, every=4, budget=1e9, log=seen.append) as monitor:
        with pytest.raises(ValueError, match="no batch was seen yet"):
            monitor.look()
        train(model, tokens, 9)
        monitor.log = path
        monitor.look()
    train(model, tokens, 8)  # closed: nothing is counted any more
    assert {row["remark"] for row in monitor.rows} == {""}
    assert [row["step"] for row in monitor.rows] == [4] * 5 + [8] * 5 + [9] * 5
    assert seen == monitor.rows[:10] and monitor.passes == 9
    with path.open() as file:
        rows = [*csv.DictReader(file)]
    assert [row["module"] for row in rows] == [row["module"] for row in monitor.rows[10:]]
    row = monitor.rows[-1]
    spectrum = rm.lyapunov_spectrum(
        rm.recurrent_modules(model)["cell"].net, rm.record(model, tokens)["cell"], k=1
    )
    assert set(row) >= {"largest_exponent", "stderr", "gradient_horizon", "window", "cost_share"}
    assert np.isfinite(row["largest_exponent"]) == np.isfinite(spectrum.exponents[0])
    assert row["cost_seconds"] > 0 and 0 < row["cost_share"] <= 1
    assert not any(part._forward_pre_hooks for part in model.modules())


def test_a_monitor_keeps_to_its_budget_by_what_looks_cost():
    model, tokens = Tagger(), torch.randint(9, (2, 30))
    with rm.monitor(model, every=1) as monitor:
        train(model, tokens, 3)
        assert monitor.rows == []  # a first look would take more than two percent of this
        monitor.expected = 0.0
        train(model, tokens, 1)
        looks, cost = len(monitor.rows), monitor.spent
        assert looks == 5 and cost > 0.02 * monitor.seconds
        train(model, tokens, 3)
        assert len(monitor.rows) == looks  # they wait until it is paid off
        monitor._begun -= 200 * cost  # as if it had trained for longer
        train(model, tokens, 1)
        assert len(monitor.rows) == looks + 5
        assert monitor.rows[-1]["cost_share"] < 0.02


def test_a_monitor_lets_a_training_go_on_that_diverged():
    model, tokens = Tagger(), torch.randint(9, (2, 30))
    rows = []

    class Writer:
        def add_scalar(self, name, value, step):
            rows.append((name, value, step))

    with torch.no_grad():
        model.cell.weight_hh.fill_(float("nan"))
    with rm.monitor(model, every=1, budget=1e9, log=Writer()) as monitor:
        train(model, tokens, 1)
    assert "NaN" in monitor.rows[0]["remark"] and np.isnan(monitor.rows[0]["window"])
    assert rows[0][0] == "memory//largest_exponent" and rows[0][2] == 1
    with pytest.raises(ValueError, match="every must be at least 1"):
        rm.monitor(model, every=0)


def test_a_lightning_callback_monitors_the_part_that_is_called():
    lightning = pytest.importorskip("lightning.pytorch")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.tagger = Tagger()

        def training_step(self, batch, _):
            return self.tagger(batch).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    callback = lightning_callback(every=2, budget=1e9)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = lightning.Trainer(max_epochs=1, callbacks=[callback], accelerator="cpu", **quiet)
    data = torch.utils.data.DataLoader(torch.randint(9, (8, 30)), batch_size=2)
    trainer.fit(Module(), data)
    assert [row["step"] for row in callback.monitor.rows] == [2] * 5 + [4] * 5


def test_without_lightning_the_refusal_says_what_installs_it(monkeypatch):
    import sys

    for name in ("lightning.pytorch", "pytorch_lightning"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match="`pip install lightning` would do"):
        lightning_callback()
