import json
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from remanence.report.canonical_json import as_read_back, json_bytes, plain


def test_numbers_keep_six_digits_and_integers_all():
    evidence = {"b": np.float64(1 / 3), "a": np.int64(2**40), "c": np.bool_(True)}
    assert json_bytes(evidence) == b'{\n  "a": 1099511627776,\n  "b": 0.333333,\n  "c": true\n}\n'


def test_what_is_not_finite_becomes_a_word():
    assert plain([math.nan, math.inf, -math.inf]) == ["nan", "inf", "-inf"]


def test_what_is_not_finite_is_read_back_as_a_number():
    read = as_read_back({"b": [math.inf, np.float64(-math.inf)], "a": (1, 2), "word": "x"})
    assert read == {"a": [1, 2], "b": [math.inf, -math.inf], "word": "x"}
    assert math.isnan(as_read_back(math.nan))


def test_arrays_sets_and_complex_numbers_have_a_plain_form():
    assert plain({"z": 1 + 2j, "s": {3, 1}, "m": np.eye(2)}) == {
        "z": [1.0, 2.0],
        "s": [1, 3],
        "m": [[1.0, 0.0], [0.0, 1.0]],
    }


def test_what_json_cannot_say_is_refused():
    with pytest.raises(TypeError, match="a object, which JSON cannot say"):
        plain({"x": object()})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_evidence_gives_one_document(value):
    document = json_bytes(value)
    assert json_bytes(json.loads(document)) == document
