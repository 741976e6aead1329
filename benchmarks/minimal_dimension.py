"""The proved minimal dimension against one linear program per set, blindly.

    python benchmarks/minimal_dimension.py [--long] [--json]

All binary necklaces (up to rotation and complement) of periods 3 to 14. The peer
enumerates the sets of harmonics by cost and then in lexicographic order, and asks
scipy's HiGHS for the widest margin of each until one is positive; it proves
nothing. Ours refutes every cheaper set by enclosed multipliers. Periods are
interleaved; answers are compared before times.
"""

import argparse
import json
import statistics
import time

import numpy as np
from scipy.optimize import linprog

from remanence.construct import harmonics
from remanence.construct.minimal_dimension import _resolved, harmonic_dimension
from remanence.tasks.words import necklaces, word


TARGET = 20.0


def plain(labels):
    """The first feasible set, one linear program after the other."""
    p = len(labels)
    signs = np.where(np.asarray(labels) == labels[0], 1.0, -1.0)
    for price in range(p):
        for S in harmonics.by_cost(p, price):
            phi = harmonics.features(p, S)
            size = len(phi)
            found = linprog(
                np.r_[np.zeros(size), -1.0],
                A_ub=np.hstack([-(phi * signs).T, np.ones((p, 1))]),
                b_ub=np.zeros(p),
                bounds=[(-1, 1)] * size + [(None, 1)],
                method="highs",
            )
            if -found.fun > 1e-9:
                return price, S
    raise AssertionError("all harmonics together spell every word")


def proved(labels):
    """Ours: the same answer with every cheaper set refuted."""
    found = harmonic_dimension(word(labels), time_limit=60.0)
    assert found.optimal
    return found.dimension, found.frequencies


def timed(function, words):
    """The answers and the seconds they took."""
    began = time.perf_counter()
    answers = [function(w) for w in words]
    return answers, time.perf_counter() - began


def race(periods, peer_share):
    """Seconds of ours and of the peer for each period; every `peer_share`-th word is
    given to the peer and its time multiplied."""
    rows = []
    for p in periods:
        words = list(necklaces(p))
        _resolved.cache_clear()
        answers, mine = timed(proved, words)
        sample = list(range(0, len(words), peer_share if len(words) > 40 else 1))
        theirs, peer = timed(plain, [words[i] for i in sample])
        assert theirs == [answers[i] for i in sample], f"answers differ at period {p}"
        rows.append((p, len(words), mine, peer * len(words) / len(sample)))
    return rows


def reach(seconds):
    """The largest period whose necklaces are all proved within that time."""
    began, p = time.perf_counter(), 3
    while True:
        for w in necklaces(p):
            if time.perf_counter() - began > seconds:
                return p - 1
            proved(w)
        p += 1


def main():
    """Race, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--long", action="store_true", help="every word to the peer, 3 repeats"
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    repeats, share = (3, 1) if arguments.long else (2, 10)
    proved((0, 0, 1))  # imports and tables
    ratios, mine, peer = [], [], []
    for _ in range(repeats):
        rows = race(range(3, 15), share)
        mine.append(sum(row[2] for row in rows))
        peer.append(sum(row[3] for row in rows))
        ratios.append(peer[-1] / mine[-1])
    ratio = statistics.median(ratios)
    result = [
        {
            "task": "minimal dimension of all binary necklaces",
            "size": "periods 3 to 14",
            "ours": statistics.median(mine),
            "peer": statistics.median(peer),
            "ratio": ratio,
            "spread": [min(ratios), max(ratios)],
            "target": TARGET,
            "met": ratio >= TARGET,
        }
    ]
    _resolved.cache_clear()
    furthest = reach(60.0 if arguments.long else 15.0)
    if arguments.json:
        result[0]["periods_in_time"] = furthest
        print(json.dumps(result))
        return
    for p, count, a, b in rows:
        print(
            f"period {p:2d}: {count:4d} necklaces, ours {a:7.3f} s, peer {b:8.3f} s, {b / a:6.1f}x"
        )
    sampled = "" if share == 1 else f" (the peer on every {share}th word, scaled)"
    print(
        f"ours {result[0]['ours']:.2f} s, peer {result[0]['peer']:.2f} s{sampled}: {ratio:.1f}x "
        f"({min(ratios):.1f} to {max(ratios):.1f}), target {TARGET:.0f}x, "
        f"{'met' if ratio >= TARGET else 'not met'}"
    )
    print(
        f"in {60 if arguments.long else 15} s every necklace up to period {furthest} is proved"
    )


if __name__ == "__main__":
    main()
