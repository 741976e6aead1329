"""The proved minimal dimension against one linear program per set, blindly.

    python benchmarks/minimal_dimension.py [--long] [--json]

All binary necklaces (up to rotation and complement) of periods 3 to 14. The peer
enumerates the sets of harmonics by cost and then in lexicographic order, and asks
scipy's HiGHS for the widest margin of each until one is positive; it proves
nothing. Ours refutes every cheaper set by enclosed multipliers. Periods are
interleaved; answers are compared before times. The peer is asked for words drawn
from each period (all of them with --long), its time scaled by their number. Without
--json one more minute goes on how far ours gets in a minute.
"""

import argparse
import json
import statistics
import time

import numpy as np
from scipy.optimize import linprog

from remanence.subjects.memorization import harmonics
from remanence.subjects.memorization.minimal.cheapest_harmonics import harmonic_dimension
from remanence.subjects.memorization.words import necklaces, word


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
    """The answers and the processor seconds they took: both run on one thread."""
    began = time.process_time()
    answers = [function(w) for w in words]
    return answers, time.process_time() - began


def race(periods, most, rng):
    """Processor seconds of ours and of the peer for each period.

    The peer is given at most `most` words of each period, drawn anew; its time is
    multiplied by the words it was spared.
    """
    rows = []
    for p in periods:
        words = list(necklaces(p))
        answers, mine = timed(proved, words)
        spared = len(words) > most
        sample = rng.choice(len(words), most, replace=False) if spared else None
        sample = range(len(words)) if sample is None else sorted(sample.tolist())
        theirs, peer = timed(plain, [words[i] for i in sample])
        assert theirs == [answers[i] for i in sample], f"answers differ at period {p}"
        rows.append((p, len(words), mine, peer * len(words) / len(theirs), len(theirs)))
    return rows


def reach(seconds):
    """The largest period all of whose necklaces are proved in that processor time, and
    how many words of the next."""
    began, p = time.process_time(), 3
    while True:
        for done, w in enumerate(necklaces(p)):
            if time.process_time() - began > seconds:
                return p - 1, done
            proved(w)
        p += 1


def main():
    """Race, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--long", action="store_true", help="every word to the peer, several minutes"
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    most = 10**9 if arguments.long else 10
    proved((0, 0, 1))  # imports and tables
    rng = np.random.default_rng(0)
    races = [race(range(3, 15), most, rng) for _ in range(3)]
    mine = [sum(row[2] for row in rows) for rows in races]
    peer = [sum(row[3] for row in rows) for rows in races]
    ratios = [b / a for a, b in zip(mine, peer, strict=True)]
    ratio = statistics.median(ratios)
    result = {
        "task": "minimal dimension of all binary necklaces",
        "size": "periods 3 to 14",
        "ours": statistics.median(mine),
        "peer": statistics.median(peer),
        "ratio": ratio,
        "spread": [min(ratios), max(ratios)],
        "target": TARGET,
        "met": ratio >= TARGET,
        "peer_words": sum(row[4] for row in races[0]),
        "words": sum(row[1] for row in races[0]),
    }
    if arguments.json:
        print(json.dumps([result]))
        return
    for p, count, a, b, asked in races[-1]:
        print(
            f"period {p:2d}: {count:4d} necklaces, ours {a:7.3f} s, peer {b:8.3f} s "
            f"({asked} asked), {b / a:6.1f}x"
        )
    print(
        f"processor seconds: ours {result['ours']:.2f}, peer {result['peer']:.2f} "
        f"(on {result['peer_words']} of {result['words']} words, drawn and scaled by "
        f"period): {ratio:.1f}x ({min(ratios):.1f} to {max(ratios):.1f}), "
        f"target {TARGET:.0f}x, {'met' if ratio >= TARGET else 'not met'}; "
        "answers identical"
    )
    furthest, beyond = reach(60.0)
    print(
        f"in one minute of processor time every necklace up to period {furthest} is "
        f"proved, and {beyond:,} of period {furthest + 1}"
    )


if __name__ == "__main__":
    main()
