"""Networks trained in torch, truncated in torch, and compared at every position."""

import numpy as np
import pytest

import remanence as rm
from remanence.tasks.text import characters


UNITS, LENGTHS, ERRORS = 16, [90, 41, 67], (1e-1, 1e-3)


def character_model(torch, kind, layers, symbols):
    """Embedding, recurrent layers, a linear readout, trained for a second or two."""

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(symbols, 8)
            self.rnn = getattr(torch.nn, kind)(8, UNITS, layers, batch_first=True)
            self.readout = torch.nn.Linear(UNITS, symbols)

        def forward(self, tokens):
            return self.readout(self.rnn(self.embedding(tokens))[0])

    torch.manual_seed(0)
    return Model()


def trained(torch, model, text, steps=60):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(steps):
        starts = rng.integers(0, len(text) - 33, 8)
        batch = torch.from_numpy(np.stack([text[s : s + 33] for s in starts]))
        logits = model(batch[:, :-1]).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.5  # it has learned something to remember
    return model.double().eval()


def truncated_errors(torch, model, tokens):
    """Windows x positions: the module run on each position's last inputs alone."""
    T = len(tokens)
    errors = np.zeros((T, T))
    with torch.no_grad():
        full = model(tokens[None])[0]
        for k in range(1, T):
            last = model(tokens.unfold(0, k, 1))[:, -1]
            errors[k - 1, k - 1 :] = torch.linalg.norm(last - full[k - 1 :], dim=1)
    return errors


def windows_by_definition(errors, error):
    """At each position the least window that is, like every longer one, within the error."""
    bad = errors > error
    return [1 + max(np.flatnonzero(bad[:t, t]) + 1, default=0) for t in range(len(bad))]


@pytest.mark.torch
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_every_position_is_as_truncated_in_torch(kind, layers):
    torch = pytest.importorskip("torch")
    text = characters()
    stream = np.asarray(text.train, np.int64)
    model = character_model(torch, kind, layers, len(text.vocabulary))
    model = trained(torch, model, stream)
    tokens = np.asarray(text.test, np.int64)[: 3 * 90].reshape(3, 90)
    errors = [
        truncated_errors(torch, model, torch.from_numpy(row[:length]))
        for row, length in zip(tokens, LENGTHS, strict=True)
    ]
    net = rm.from_torch(model)
    for error in ERRORS:
        found = rm.replay_window(net, tokens, error=error, lengths=LENGTHS)
        expected = [windows_by_definition(e, error) for e in errors]
        assert [w.tolist() for w in found.at] == expected
        needed = max(map(max, expected))
        assert found.window == (needed if needed <= found.longest else np.inf)
        for k in (1, 8, 30):
            most = max(e[k - 1, k:].max(initial=0.0) for e in errors)
            assert found.largest[k - 1] == pytest.approx(most, rel=1e-6, abs=1e-9)
    assert found.cost.targets == sum(LENGTHS) - 3
