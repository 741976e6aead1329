"""How fuzzed doors are counted: what was let in, what was refused, nothing else."""

import sys

from hypothesis import strategies as st


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
"""Documents that parse, and seldom mean anything."""


class Counts:
    """Outcomes of one door; `done` prints them past pytest's capture."""

    def __init__(self, door):
        self.door, self.seen = door, {}

    def add(self, outcome):
        self.seen[outcome] = self.seen.get(outcome, 0) + 1

    def done(self, capsys):
        with capsys.disabled():
            sys.stdout.write(f"\nfuzzed {self.door}: {self.seen}\n")
        return self.seen


def changed(rng, content):
    """The same bytes cut, or with some of them changed or put in."""
    data = bytearray(content)
    match rng.integers(3):
        case 0:
            return bytes(data[: rng.integers(len(data))])
        case 1:
            for at in rng.integers(len(data), size=rng.integers(1, 8)):
                data[at] = rng.integers(256)
        case _:
            at = int(rng.integers(len(data)))
            data[at:at] = rng.bytes(int(rng.integers(1, 64)))
    return bytes(data)
