import math

import numpy as np
import pytest

import remanence as rm
from remanence.subjects.memorization.constructions.tanh_cycle import amplitude, exponent
from remanence.subjects.memorization.frontier import first_error


METHODS = ("rotation", "permutation", "harmonic", "rational", "shift", "tanh")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", ["a", "aaaa", "ab", "abab", "0001", "abracadabra", "日本"])
@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("end", [False, True])
def test_small_words(method, text, start, end):
    if method == "rotation" and (text, end) == ("abracadabra", True):
        pytest.skip("no polygon tells these symbols apart")
    memory = rm.memorize(text, method=method, start=start, end=end)
    assert memory.generate(3 * len(text)) == (text if end else text * 3)
    assert (memory.written.h_0 == 0).all() or not start


def test_the_surface_example():
    m = rm.memorize("abracadabra")
    assert m.generate(22) == "abracadabraabracadabra"
    assert (m.dimension, m.method) == (2, "harmonic")
    assert m.certificate.steps["float32"] >= 1e6 and m.margin > 0.2


def test_auto_prefers_what_is_proved():
    m = rm.memorize("mississippi")
    harmonic = rm.memorize("mississippi", method="harmonic")
    assert harmonic.dimension == 4 and harmonic.certificate.steps["float32"] < 1e6
    assert m.method == "rational" and m.dimension == 10


def test_rotation_says_which_methods_serve():
    with pytest.raises(ValueError, match="harmonic, rational, permutation, tanh and shift"):
        rm.memorize("mississippi", method="rotation")


def test_every_coprime_stride_serves():
    text = "aabacbabcbcb"
    serving = [
        j
        for j in range(1, 12)
        if math.gcd(j, 12) == 1
        and rm.memorize(text, method="permutation", stride=j).generate(36) == text * 3
    ]
    assert serving == [1, 5, 7, 11]
    with pytest.raises(ValueError, match="coprime"):
        rm.memorize(text, method="permutation", stride=2)
    with pytest.raises(ValueError, match="stride goes with method='permutation'"):
        rm.memorize(text, stride=5)


def test_hashable_symbols_and_wider_alphabets():
    letters = (3, "x", None, (1, 2))
    for method in METHODS[1:]:
        m = rm.memorize([None, 3, 3], method=method, alphabet=letters)
        assert m.generate(6) == (None, 3, 3, None, 3, 3)
        assert len(m.written.b_y) == 4


def test_bad_requests_are_refused():
    for bad, sentence in (
        (lambda: rm.memorize(""), "at least one symbol"),
        (lambda: rm.memorize("ab", method="magic"), "method must be one of"),
        (lambda: rm.memorize("ab", method="tanh", gain=0.9), "gain must be above 1"),
        (lambda: rm.memorize("ab", time_limit=-1.0), "time_limit must not be negative"),
        (lambda: rm.memorize("ab", time_limit=math.nan), "got nan"),
        (lambda: rm.memorize("ab").generate(-1), "length must not be negative, got -1"),
    ):
        with pytest.raises(ValueError, match=sentence):
            bad()


def test_integer_orbits_return_exactly():
    for text in ("0010111", "abcacb", "000100101101"):
        m = rm.memorize(text, method="rational")
        W = m.exact.W_h
        assert W.dtype == np.int64
        np.testing.assert_array_equal(
            np.linalg.matrix_power(W, m.word.period), np.eye(len(W), dtype=np.int64)
        )


def test_the_tanh_cycle_attracts_and_repairs():
    a, text = amplitude(2.0), "abcacb"
    assert a == pytest.approx(math.tanh(2 * a), rel=1e-15) and exponent(2.0) < 0
    m = rm.memorize(text, method="tanh")
    rng = np.random.default_rng(0)
    for _ in range(20):
        kick = 0.8 * a * rng.choice([-1, 1], size=6)
        h = m.written.h_0 + kick
        for _ in range(30):
            h = np.tanh(m.written.W_h @ h)
        pattern = np.sort(h)
        np.testing.assert_allclose(pattern, [-a] * 5 + [a], atol=1e-9)


def test_one_hot_pattern_repels():
    a, P = amplitude(2.0), np.roll(np.eye(5), 1, axis=0)
    h = a * np.eye(5)[0] + 1e-6 * np.eye(5)[2]
    for _ in range(10):
        h = np.tanh(2 * P @ h)
    assert 1e-4 < np.sort(np.abs(h))[-2] < 1e-2  # grew by about 2^10


def test_recall_finds_the_step_at_which_digits_run_out():
    m = rm.memorize("abracadabra", method="shift")
    error = first_error(m.network, m.word.indices, steps=1000)
    assert m.certificate.steps["float32"] < error < 14
    m = rm.memorize("abracadabra")
    assert first_error(m.network, m.word.indices, steps=33) is None


def test_ten_thousand_symbols():
    rng = np.random.default_rng(0)
    text = "".join("abcdefgh"[k] for k in rng.integers(8, size=10_000))
    for method in ("permutation", "shift"):
        m = rm.memorize(text, method=method)
        assert m.generate(12_000) == text + text[:2000]
        assert not isinstance(m.written.W_h, np.ndarray) or method == "shift"


def test_long_words_are_served():
    rng = np.random.default_rng(1)
    text = "".join("abc"[k] for k in rng.integers(3, size=1_200))
    assert rm.memorize(text, method="tanh").generate(1_700) == text + text[:500]
    assert rm.memorize(text[:500], method="harmonic").generate(700) == text[:500] + text[:200]
    with pytest.raises(ValueError, match="rational serves up to 400 symbols"):
        rm.memorize(text, method="rational")
    with pytest.raises(ValueError, match="no readout of 1,200 symbols"):
        rm.memorize(text, method="harmonic", time_limit=0.1)


@pytest.mark.parametrize(("text", "units"), [("0001111", 1), ("0011010", 2), ("mississippi", 2)])
@pytest.mark.parametrize("start", [False, True])
def test_a_string_read_once_takes_fewer_units(text, units, start):
    m = rm.memorize(text, end=True, start=start)
    assert (m.method, m.dimension) == ("once", units)
    assert units < rm.memorize(text, method="harmonic", end=True).dimension
    assert m.generate(50) == text
    assert m.certificate.steps == {"float32": m.word.period, "float64": m.word.period}
    for dtype in (np.float32, np.float64):
        said = m.written.emissions(m.word.period, dtype)
        assert tuple(said) == m.word.indices
    assert m.margin > 0 and m.certificate.lead > 0


def test_once_needs_an_end():
    with pytest.raises(ValueError, match="needs end=True"):
        rm.memorize("ab", method="once")


def test_a_reading_with_thin_leads_is_not_proved():
    from remanence.subjects.memorization.certificates.rotation_drift import reading_certificate
    from remanence.subjects.memorization.written import Written

    # Three states of h' = h / 2, the middle one 1e-9 from the edge of its symbol.
    W_y, b_y = np.array([[1.0], [0.0]]), np.array([-0.25 + 1e-9, 0.0])
    w = Written(np.array([[0.5]]), W_y, b_y, np.array([1.0]))
    found = reading_certificate(w, (0, 0, 1))
    assert found.steps == {"float32": 1.0, "float64": 3.0}
    with pytest.raises(ValueError, match="planes"):
        reading_certificate(
            Written(np.array([[0.5, 1.0], [0.0, 0.5]]), np.ones((2, 2)), b_y, np.ones(2)), (0, 0, 1)
        )


def test_a_memory_writes_itself(tmp_path):
    memory = rm.memorize("abc")
    with pytest.raises(ValueError, match="a Memory writes itself: its own save"):
        rm.save(memory, tmp_path / "memory.safetensors")
    memory.save(tmp_path / "memory.safetensors")
    assert (tmp_path / "memory.safetensors").stat().st_size > 0
