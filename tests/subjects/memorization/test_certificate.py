import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import remanence as rm
from remanence.subjects.memorization import written
from remanence.subjects.memorization.certificates.certificate import (
    attraction_certificate,
    exact_certificate,
)
from remanence.subjects.memorization.certificates.file_check import check
from remanence.subjects.memorization.certificates.rotation_drift import drift_certificate
from remanence.subjects.memorization.frontier import first_error


def independent(m):
    """The drift bound again, from the weights alone, in a few lines of plain floats."""
    p, W, u = m.word.period, m.written.W_h, 2.0**-24
    S, labels = m.frequencies, m.word.indices
    worst = max(
        abs(
            complex(np.float32(W[2 * i, 2 * i]), np.float32(W[2 * i + 1, 2 * i]))
            - np.exp(2j * math.pi * j / p)
        )
        for i, j in enumerate(S)
    )
    room = math.inf
    for t, w in enumerate(labels):
        phi = np.ravel(
            [(math.cos(2 * math.pi * j * t / p), math.sin(2 * math.pi * j * t / p)) for j in S]
        )
        for k in set(labels) - {w}:
            d = (m.written.W_y[w] - m.written.W_y[k]).reshape(-1, 2)
            lead = d.ravel() @ phi + m.written.b_y[w] - m.written.b_y[k]
            room = min(room, lead / np.linalg.norm(d, axis=1).sum())
    return math.log1p(room) / math.log1p(worst + (1 + math.sqrt(2)) * u)


@pytest.mark.parametrize("text", ["abracadabra", "0010111", "00000111", "mississippi"])
def test_a_few_lines_find_the_same_number_of_steps(text):
    m = rm.memorize(text, method="harmonic")
    assert 0.9 < m.certificate.steps["float32"] / independent(m) <= 1.0


@given(seed=st.integers(0, 10**6))
def test_float32_never_errs_within_the_proved_steps(seed):
    rng = np.random.default_rng(seed)
    text = "".join("ab"[k] for k in rng.integers(2, size=int(rng.integers(2, 9))))
    m = rm.memorize(text, method="harmonic")
    steps = int(min(m.certificate.steps["float32"], 3000))
    said = m.written.emissions(steps, dtype=np.float32)
    np.testing.assert_array_equal(said, np.resize(m.word.indices, steps))


def test_a_hundred_thousand_steps_in_jax():
    m = rm.memorize("abracadabra")
    assert first_error(m.network, m.word.indices, steps=100_000) is None


def test_the_drift_bound_holds_and_is_not_absurd():
    """Bound and measurement are twins: the walk's deviation in float32."""
    m = rm.memorize("00000111", method="rotation")
    eta = m.certificate.evidence["error_per_step_float32"]
    W, h = m.written.W_h.astype(np.float32), m.written.h_0.astype(np.float32)
    true = lambda n: np.array(
        [math.cos(2 * math.pi * (n - 1) / 8), math.sin(2 * math.pi * (n - 1) / 8)]
    )
    for n in range(1, 20_001):
        h = W @ h
        if n % 1000 == 0:
            assert np.linalg.norm(h - true(n)) <= (1 + eta) ** (n + 1) - 1


def tampered(m, **changes):
    return dataclasses.replace(m.exact or m.written, **changes)


def test_wrong_weights_are_not_certified():
    m = rm.memorize("0001011", method="permutation")
    W_y = m.exact.W_y.copy()
    W_y[:, [0, 3]] = W_y[:, [3, 0]]
    with pytest.raises(ValueError, match="do not say"):
        exact_certificate(tampered(m, W_y=W_y), m.word.indices)
    m = rm.memorize("0001011", method="harmonic")
    W = m.written.W_h.copy()
    W[0, 1] *= 1.001
    with pytest.raises(ValueError, match="planes"):
        drift_certificate(tampered(m, W_h=W), m.word.indices)
    worse = drift_certificate(tampered(m, b_y=m.written.b_y + np.array([9.0, 0.0])), m.word.indices)
    assert worse.steps["float64"] == 0 and worse.lead < 0
    m = rm.memorize("0001011", method="tanh")
    with pytest.raises(ValueError, match=r"cyclic|limit cycle"):
        attraction_certificate(
            tampered(m, W_h=m.written.W_h + np.eye(7)[[0, 0, 0, 0, 0, 0, 1]] * 0.1), m.word.indices
        )


@pytest.mark.parametrize("method", ["auto", "permutation", "harmonic", "rational", "shift", "tanh"])
@pytest.mark.parametrize("how", [{}, {"end": True}, {"start": True}])
@pytest.mark.parametrize("dense", [2, 1 << 18])
def test_a_file_is_proved_again(tmp_path, method, how, dense, monkeypatch):
    monkeypatch.setattr(written, "DENSE", dense)  # matrices above it are sparse
    path = tmp_path / "m.safetensors"
    m = rm.memorize("λabracadabra", method=method, **how)
    m.save(path)
    found = check(path)
    assert found.word == "λabracadabra" and found.dimension == m.dimension
    assert found.certificate.steps == m.certificate.steps


def test_a_spoilt_file_is_refused(tmp_path):
    from remanence.formats import safetensors

    path = tmp_path / "m.safetensors"
    rm.memorize("abcacb", method="tanh").save(path)
    tensors, metadata = safetensors.read(path)
    tensors["readout.weight"][:, [0, 1]] = tensors["readout.weight"][:, [1, 0]]
    safetensors.write(path, tensors, metadata)
    with pytest.raises(ValueError, match=r"claims|lead"):
        check(path)
    safetensors.write(path, tensors, {"memory": "{}"})
    with pytest.raises(ValueError, match="it has no 'method'"):
        check(path)


def test_a_single_reading_is_proved_again(tmp_path):
    path = tmp_path / "m.safetensors"
    for start in (False, True):
        rm.memorize("mississippi", method="once", end=True, start=start).save(path)
        assert check(path).word == "mississippi"
        assert check(path).certificate.steps["float32"] == 12


@pytest.mark.torch
@pytest.mark.parametrize("text", ["abcacb", "abc" * 200 + "b"])
def test_torch_runs_the_tanh_memory(tmp_path, text):
    torch = pytest.importorskip("torch")
    path = tmp_path / "m.safetensors"
    m = rm.memorize(text, method="tanh", start=True)
    m.save(path)
    from remanence.formats import safetensors

    tensors, _ = safetensors.read(path)
    rnn = torch.nn.RNN(4, len(text), batch_first=True).double()
    rnn.load_state_dict(
        {k[4:]: torch.tensor(v) for k, v in tensors.items() if k.startswith("rnn.")}
    )
    x = torch.zeros(1, 2 * len(text), 4, dtype=torch.float64)
    x[0, 0, 3] = 1.0
    y = rnn(x)[0][0].detach().numpy() @ tensors["readout.weight"].T + tensors["readout.bias"]
    assert m.word.join(y.argmax(axis=1).tolist()) == text * 2
    assert check(path).certificate.steps["float32"] == float("inf")


def test_beyond_two_thousand_units_there_is_no_file(tmp_path):
    m = rm.memorize("ab" * 1500 + "a", method="tanh")
    with pytest.raises(ValueError, match="up to 2,048 units, got 3,001"):
        m.save(tmp_path / "m.safetensors")
