"""Files that claim a word which their tensors do not say: none is verified."""

import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import remanence as rm
from remanence.cli.app import is_refusal
from remanence.formats import safetensors
from remanence.subjects.memorization import check, written


def read(path):
    tensors, metadata = safetensors.read(path)
    about = json.loads(metadata.pop("memory"))
    return {k: np.array(v) for k, v in tensors.items()}, about, metadata


@pytest.fixture
def saved(tmp_path):
    """The tensors and the metadata of a saved memory."""

    def save(text, **options):
        path = tmp_path / "m.safetensors"
        rm.memorize(text, **options).save(path)
        return path, *read(path)

    return save


def refused(path, tensors, about, metadata, match):
    safetensors.write(path, tensors, {**metadata, "memory": about})
    with pytest.raises(ValueError, match=match) as refusal:
        check(path)
    assert is_refusal(refusal.value)


def test_hidden_biases_and_further_layers_are_read(saved):
    path, tensors, about, metadata = saved("abcacb", method="tanh")
    biased = tensors | {"rnn.bias_hh_l0": np.full(6, -9.0)}
    refused(path, biased, about, metadata, "bias_hh_l0 is not zero")
    deeper = tensors | {"rnn.weight_hh_l1": np.eye(6)}
    refused(path, deeper, about, metadata, "rnn.weight_hh_l1, which is no part")


def test_the_metadata_replaces_no_tensor(saved):
    path, tensors, about, metadata = saved("abcacb", method="permutation")
    tensors["W_y"] = np.zeros_like(tensors["W_y"])
    claimed = about | {"structure": {"W_y": {"kind": "Spelled", "outputs": 3}}}
    refused(path, tensors, claimed, metadata, "do not say")
    both = tensors | {"W_y.symbols": np.arange(6), "W_y.outputs": np.array([3])}
    refused(path, both, about, metadata, "no part of a memory")


@pytest.mark.parametrize("options", [{}, {"start": True}])
def test_the_shift_map_is_read_whole(saved, options):
    path, tensors, about, metadata = saved("abracadabra", method="shift", **options)
    for name, tensor in tensors.items():
        other = tensors | {name: np.nextafter(tensor, 9.0)}
        refused(path, other, about, metadata, f"{name} is not that of the shift map")
    refused(path, tensors, about | {"first": 1}, metadata, "first")
    tensors.pop("W_x")
    refused(path, tensors, about, metadata, "it has no 'W_x'")


def test_inputs_after_the_first_step_are_not_ignored(saved):
    path, tensors, about, metadata = saved("abcacb", method="harmonic", start=True)
    tensors["W_x"][:, 0] = 0.5
    refused(path, tensors, about, metadata, "acts on the symbols")


def test_planes_are_not_coupled(saved):
    path, tensors, about, metadata = saved("00010110111", method="harmonic")
    tensors["W_h"][0, 3] = 1e-3
    refused(path, tensors, about, metadata, "not made of planes")


def test_integers_do_not_wrap_and_the_activation_is_the_methods(saved):
    path, tensors, about, metadata = saved("abcacb", method="permutation")
    for size in (1 << 61, 1 << 62):
        huge = tensors["W_y"].astype(np.int64) * size
        huge[0] = -size
        refused(path, tensors | {"W_y": huge}, about, metadata, "do not say|62 bits|not whole")
    refused(path, tensors, about | {"method": "tanh"}, metadata, "pattern|cyclic")


def test_a_wrong_frequency_claims_no_steps_and_is_refused(saved):
    path, tensors, about, metadata = saved("00010110111", method="harmonic")
    steps = dict.fromkeys(about["steps"], 0)
    tensors["W_h"] = np.eye(len(tensors["W_h"]))
    refused(path, tensors, about | {"steps": steps}, metadata, "does not lead")


def test_metadata_that_is_no_metadata_is_one_sentence(saved):
    path, tensors, about, metadata = saved("abcacb", method="harmonic")
    for text in (
        json.dumps(about).replace('"first": 0', '"first": 1' + "0" * 5000),
        json.dumps(about).replace('"first": 0', '"first": 0.5'),
        json.dumps(about).replace("[0, 1", "[1e999, 1"),
        "[" * 100_000,
        '{"method": "harmonic"}',
        "null",
        "",
    ):
        refused(path, tensors, text, metadata, "is not verified")


def test_a_file_too_large_to_check_is_refused_before_it_is_run(saved):
    path, tensors, about, metadata = saved("ab" * 300 + "a", method="permutation")
    longer = about | {"indices": about["indices"] * 1500}
    refused(path, tensors, longer, metadata, "too large to be checked")
    path, tensors, about, metadata = saved("0001111", method="harmonic")
    wide = about | {"alphabet": [str(k) for k in range(20_000)]}
    tensors |= {"W_y": np.zeros((20_000, 2)), "b_y": np.zeros(20_000)}
    refused(path, tensors, wide, metadata, "too large to be checked")


WORDS = {"harmonic": {}, "permutation": {}, "rational": {}, "shift": {}, "tanh": {}}
WORDS |= {"once": {"end": True}, "rotation": {}}


def drawn_file(rng, path):
    """A sound file of any construction, sometimes from sparse matrices."""
    method = str(rng.choice(list(WORDS)))
    text = "".join(rng.choice(list("abc"), rng.integers(2, 9)))
    text = "aaabb" if method == "rotation" else text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(written, "DENSE", int(rng.choice([2, 1 << 18])))
        rm.memorize(text, method=method, start=bool(rng.integers(2)), **WORDS[method]).save(path)
    return read(path)


def numbers(rng, tensors, about):
    """A few entries of a tensor changed."""
    flat = tensors[rng.choice(sorted(tensors))].reshape(-1)
    if not flat.size or flat.dtype.kind == "c":
        return
    at = rng.integers(flat.size)
    with np.errstate(all="ignore"):
        value = float(rng.choice([0, 1, -1, 1e-13, 0.5, 1e20, float(flat[at])]))
        flat[at] = np.array(float(flat[at]) + value if rng.integers(2) else -value).astype(
            flat.dtype
        )


def scale(rng, tensors, about):
    """A tensor, or readout and bias together, times a number."""
    names = [str(rng.choice(sorted(tensors)))]
    if rng.integers(2):
        names = [n for n in ("W_y", "b_y", "readout.weight", "readout.bias") if n in tensors]
    factor = float(rng.choice([2, 0.5, 3, -1, 1e-30, 1e25]))
    for name in names:
        with np.errstate(all="ignore"):
            scaled = tensors[name] * factor
            tensors[name] = scaled if rng.integers(2) else scaled.astype(tensors[name].dtype)


def rearrange(rng, tensors, about):
    """Rows swapped, transposed, cut short, or shared with another tensor."""
    names = sorted(tensors)
    name, other = str(rng.choice(names)), str(rng.choice(names))
    kind = rng.integers(4)
    if kind == 0:
        tensors[name] = tensors[name][::-1]
    elif kind == 1:
        tensors[name] = tensors[name].T
    elif kind == 2:
        tensors[name] = tensors[name][1:]
    else:
        tensors[name] = tensors[other]


def retype(rng, tensors, about):
    """Another type of numbers."""
    name = str(rng.choice(sorted(tensors)))
    kinds = [np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.complex64, bool]
    with np.errstate(all="ignore"):
        tensors[name] = np.real(tensors[name]).astype(kinds[rng.integers(len(kinds))])


def add_or_drop(rng, tensors, about):
    """A bias, a further layer, an unknown tensor; or one less."""
    name = str(rng.choice(sorted(tensors)))
    new = ["b_h", "rnn.bias_hh_l0", "rnn.weight_hh_l1", "W_x", f"{name}.scale"]
    if rng.integers(3):
        tensors[str(rng.choice(new))] = rng.integers(-1, 2, tensors[name].shape).astype(float)
    else:
        tensors.pop(name)


def word(rng, tensors, about):
    """Another word, alphabet or method, or a bolder claim."""
    kind, indices = rng.integers(7), list(about["indices"])
    if kind == 0:
        indices[rng.integers(len(indices))] = int(rng.integers(-1, 4))
    elif kind == 1:
        rng.shuffle(indices)
    elif kind == 2:
        about["method"] = str(rng.choice(list(WORDS)))
    elif kind == 3:
        about["alphabet"] = about["alphabet"][::-1]
    elif kind == 4:
        about["first"] = int(rng.integers(-1, 5))
    elif kind == 5:
        about["end"] = not about["end"]
    else:
        about["steps"] = dict.fromkeys(about["steps"], None)
    about["indices"] = [int(k) for k in indices]


FORGERIES = (numbers, scale, rearrange, retype, add_or_drop, word)


@pytest.mark.parametrize(
    ("count", "seed"), [(120, 0), pytest.param(1000, 1, marks=pytest.mark.slow)]
)
def test_forged_files(tmp_path, count, seed):
    """Drawn changes: a file is refused with a sentence, or its tensors still say the word."""
    rng, path = np.random.default_rng(seed), tmp_path / "m.safetensors"
    verified = 0
    for _ in range(count):
        tensors, about, metadata = drawn_file(rng, path)
        for _ in range(int(rng.integers(1, 3))):
            FORGERIES[rng.integers(len(FORGERIES))](rng, tensors, about)
        safetensors.write(path, tensors, {**metadata, "memory": about})
        foreign = None
        try:
            found = check(path)
        except ValueError as refusal:
            foreign = None if is_refusal(refusal) else refusal
            found = None
        assert foreign is None
        if found is None:
            continue
        verified += 1
        said = [about["alphabet"][k] for k in about["indices"] if k < len(about["alphabet"])]
        assert found.word == "".join(said)
        tensors, about, _ = read(path)
        assert said_by_hand(tensors, about) == about["indices"]
    assert 0.02 * count < verified < 0.5 * count


def said_by_hand(tensors, about):
    """The network run step by step from its plain tensors: in rationals, or with tanh in
    sixty digits. What is not strictly the largest logit is no symbol."""
    names = {n: n for n in ("W_h", "W_x", "W_y", "b_y", "h_0")}
    if "rnn.weight_hh_l0" in tensors:
        names |= {"W_h": "rnn.weight_hh_l0", "W_x": "rnn.weight_ih_l0"}
        names |= {"W_y": "readout.weight", "b_y": "readout.bias"}
        assert not any(tensors.pop(f"rnn.bias_{k}_l0").any() for k in ("ih", "hh"))
    number = mpmath.mpf if about["method"] == "tanh" else Fraction
    rows = lambda name: [[number(x) for x in row] for row in tensors[names[name]].tolist()]
    column = lambda name: [number(x) for x in tensors[names[name]].tolist()]
    W_h, W_y, b_y, h = rows("W_h"), rows("W_y"), column("b_y"), column("h_0")
    W_x = rows("W_x") if names["W_x"] in tensors else None
    token, said = about["first"], []
    dot = lambda row, v: sum((a * b for a, b in zip(row, v, strict=True)), number(0))
    with mpmath.workdps(60):
        for _ in about["indices"]:
            h = [dot(row, h) + (W_x[i][token] if W_x else 0) for i, row in enumerate(W_h)]
            h = [mpmath.tanh(x) for x in h] if about["method"] == "tanh" else h
            y = [dot(row, h) + b for row, b in zip(W_y, b_y, strict=True)]
            token = max(range(len(y)), key=y.__getitem__)
            said.append(token if y.count(y[token]) == 1 else math.nan)
    return said
