"""Names in the order of the numbers in them: `step-9` before `step-10`."""

import re


def natural_sort_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key to sort by, in which runs of digits count as numbers.

    >>> sorted(["lstm_10", "lstm_9", "lstm"], key=natural_sort_key)
    ['lstm', 'lstm_9', 'lstm_10']
    """
    parts = re.findall(r"\d+|\D", name)
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts)
