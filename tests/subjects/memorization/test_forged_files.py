"""Files that claim a word which their tensors do not say: none is verified."""

import json

import numpy as np
import pytest

import remanence as rm
from remanence.formats import safetensors
from remanence.subjects.memorization import check


@pytest.fixture
def saved(tmp_path):
    """The tensors and the metadata of a saved memory."""

    def save(text, **options):
        path = tmp_path / "m.safetensors"
        rm.memorize(text, **options).save(path)
        tensors, metadata = safetensors.read(path)
        about = json.loads(metadata.pop("memory"))
        return path, {k: np.array(v) for k, v in tensors.items()}, about, metadata

    return save


def refused(path, tensors, about, metadata, match):
    safetensors.write(path, tensors, {**metadata, "memory": about})
    with pytest.raises(ValueError, match=match):
        check(path)


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
    refused(path, tensors | {"W_h": tensors["W_h"] + 0.5}, about, metadata, "not whole")
    refused(path, tensors | {"W_y": tensors["W_y"] * 1.25}, about, metadata, "not whole")
    h_0 = tensors["h_0"].copy()
    h_0[0] = np.nextafter(h_0[0], 2.0) + 1e-3
    refused(path, tensors | {"h_0": h_0}, about, metadata, "not the exact one")
    other = tensors | {"h_0.numerator": np.array([1, 2, 3], np.uint8)}
    refused(path, other, about, metadata, "not the exact one")


def test_inputs_after_the_first_step_are_not_ignored(saved):
    path, tensors, about, metadata = saved("abcacb", method="harmonic", start=True)
    tensors["W_x"][:, 0] = 0.5
    refused(path, tensors, about, metadata, "acts on the symbols")


def test_planes_are_not_coupled(saved):
    path, tensors, about, metadata = saved("00010110111", method="harmonic")
    tensors["W_h"][0, 3] = 1e-3
    refused(path, tensors, about, metadata, "couples one plane to another")


def test_integers_do_not_wrap_and_the_activation_is_the_methods(saved):
    path, tensors, about, metadata = saved("abcacb", method="permutation")
    huge = tensors["W_y"].astype(np.int64) * (1 << 62)
    huge[0] = -(1 << 62)
    refused(path, tensors | {"W_y": huge}, about, metadata, "do not say|another symbol")
    refused(path, tensors, about | {"method": "tanh"}, metadata, ".")


def test_a_wrong_frequency_claims_no_steps_and_is_refused(saved):
    path, tensors, about, metadata = saved("00010110111", method="harmonic")
    steps = dict.fromkeys(about["steps"], 0)
    tensors["W_h"] = np.eye(len(tensors["W_h"]))
    refused(path, tensors, about | {"steps": steps}, metadata, "do not say|plane|begins")


METHODS = ("permutation", "harmonic", "rational", "shift", "tanh")


def test_a_thousand_forged_files(tmp_path):
    """Drawn changes: a file is refused, or its tensors still say the word."""
    rng, path = np.random.default_rng(0), tmp_path / "m.safetensors"
    verified = 0
    for number in range(1000):
        if number % 50 == 0:
            method = METHODS[number // 50 % len(METHODS)]
            text = "".join(rng.choice(list("abc"), rng.integers(2, 9)))
            rm.memorize(text, method=method, start=bool(number // 50 % 2)).save(path)
            tensors, metadata = safetensors.read(path)
            sound = {k: np.array(v) for k, v in tensors.items()}
            about = json.loads(metadata.pop("memory"))
        changed = {k: v.copy() for k, v in sound.items()}
        name = rng.choice(sorted(changed))
        where = rng.integers(changed[name].size)
        flat = changed[name].reshape(-1)
        kind = rng.integers(4)
        if kind == 0:
            flat[where] += flat.dtype.type(rng.choice([1, 2, 3]))
        elif kind == 1:
            # Unsigned bytes have no sign.
            byte = flat.dtype == np.uint8
            flat[where] = 255 - flat[where] if byte else -flat[where]
        elif kind == 2:
            changed[f"{name}.{rng.integers(3)}"] = changed[name]
        else:
            changed.pop(name)
        safetensors.write(path, changed, {**metadata, "memory": about})
        try:
            found = check(path)
        except ValueError:
            continue
        # Verified: then the tensors, run by hand, say the word.
        verified += 1
        assert found.word == about_text(about)
        assert said_by_hand(changed, about) == list(about["indices"])
    assert verified < 500


def about_text(about):
    return "".join(about["alphabet"][k] for k in about["indices"])


def said_by_hand(tensors, about):
    """The network run step by step from its plain tensors, in double precision."""
    torch = "rnn.weight_hh_l0" in tensors
    names = {
        "W_h": "rnn.weight_hh_l0" if torch else "W_h",
        "W_x": "rnn.weight_ih_l0" if torch else "W_x",
        "W_y": "readout.weight" if torch else "W_y",
        "b_y": "readout.bias" if torch else "b_y",
    }
    W_h, W_y, b_y = (np.asarray(tensors[names[n]], float) for n in ("W_h", "W_y", "b_y"))
    W_x = tensors.get(names["W_x"])
    h, token, said = np.asarray(tensors["h_0"], float), about["first"], []
    for _ in about["indices"]:
        h = W_h @ h + (0 if W_x is None else np.asarray(W_x, float)[:, token])
        h = np.tanh(h) if about["method"] == "tanh" else h
        token = int(np.argmax(W_y @ h + b_y))
        said.append(token)
    return said
