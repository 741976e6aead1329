"""Drawn strings recalled exactly for three periods; split so that workers can share."""

import remanence as rm
from remanence.subjects.memorization.words import drawn


def recall(method, *, seed, count, lengths, time_limit=10.0):
    """How many of the drawn strings a method serves; every one served must be right."""
    served = 0
    for text in drawn(count, lengths=lengths, letters=(1, 8), seed=seed):
        try:
            memory = rm.memorize(text, method=method, time_limit=time_limit)
        except ValueError:
            assert method == "rotation"
            continue
        assert memory.generate(3 * len(text)) == text * 3, (method, text)
        served += 1
    return served
