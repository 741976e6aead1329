"""The sentences of the notes, tried one by one, as plain evidence."""

import math

import numpy as np
import xarray as xr
from flint import fmpz, fmpz_poly

from ...report import Bench, Evidence
from .constructions.tanh_cycle import exponent, GAIN
from .harmonics import cost, totient
from .memorize import memorize
from .minimal.cheapest_harmonics import harmonic_dimension
from .minimal.feedback_stability import least_feedback
from .minimal.separation import separation
from .words import draw_strings, necklaces, word


def _recalls(text: str, method: str, **how) -> bool:
    memory = memorize(text, method=method, time_limit=1.0, **how)
    # With an end the network stops after one reading.
    said = memory.generate(3 * len(text) + 1)
    return said == (text if how.get("end") else text * 3 + text[0])


def half_planes(largest: int) -> Evidence:
    """Every (0^a 1^b)+ as a rotation in two units."""
    texts = ["0" * a + "1" * b for a in range(1, largest + 1) for b in range(1, a + 1)]
    return {"tried": len(texts), "recalled": sum(_recalls(text, "rotation") for text in texts)}


def turns(a: int = 5, b: int = 3) -> Evidence:
    """How often the walk of (0^a 1^b)+ goes round before it returns."""
    memory = memorize("0" * a + "1" * b, method="rotation")
    states = memory.written.orbit(a + b + 1)
    angles = np.unwrap(np.arctan2(states[:, 1], states[:, 0]))
    return {"steps": a + b, "turns": round(float(angles[-1] - angles[0]) / (2 * math.pi))}


def strings(count: int, method: str, seed: int) -> Evidence:
    """Drawn strings recalled by one construction."""
    texts = draw_strings(count, lengths=(1, 16), letters=(1, 8), seed=seed)
    return {"tried": count, "recalled": sum(_recalls(text, method) for text in texts)}


def powers(text: str = "aabacbabcbcb") -> Evidence:
    """The powers of the cyclic permutation that spell a word."""
    d, serving = len(text), 0
    for j in range(1, d):
        try:
            serving += memorize(text, method="permutation", stride=j).generate(3 * d) == text * 3
        except ValueError:
            continue
    return {"d": d, "serving": serving, "phi_d": totient(d), "phi_n": totient(len(set(text)))}


def totients(up_to: int = 100_000) -> Evidence:
    """φ(n) against √n / 2."""
    ratio = np.array([totient(n) / math.sqrt(n) for n in range(1, up_to + 1)])
    return {"exceptions": int((ratio < 0.5).sum()), "up_to": up_to, "least": float(ratio.min())}


def tokens(count: int, seed: int) -> Evidence:
    """Strings that start from zero and stop."""
    methods = ("permutation", "harmonic", "rational", "shift", "tanh")
    texts = draw_strings(count, lengths=(1, 10), letters=(1, 5), seed=seed)
    right = sum(_recalls(s, m, end=True, start=True) for s in texts for m in methods)
    return {"tried": count * len(methods), "recalled": right}


def standard(count: int, seed: int) -> Evidence:
    """The limit cycle of tanh: it attracts; the one-hot cycle beside it repels."""
    # Off the one-hot cycle's own direction tanh'(0) = 1: the other units grow by the gain.
    exponents = {"attracting": exponent(GAIN), "one_hot": math.log(GAIN)}
    return {**strings(count, "tanh", seed), **exponents}


def factors(up_to: int = 60) -> Evidence:
    """x^p - 1 against the product of its cyclotomic factors."""
    product = lambda p: math.prod(fmpz_poly.cyclotomic(q) for q in range(1, p + 1) if p % q == 0)
    one_less = lambda p: fmpz_poly([-1] + [0] * (p - 1) + [1])
    failures = sum(product(p) != one_less(p) for p in range(1, up_to + 1))
    return {"exceptions": failures, "up_to": up_to}


def coefficients(up_to: int = 200) -> Evidence:
    """The first cyclotomic polynomial with a coefficient outside -1, 0, 1."""
    for q in range(1, up_to + 1):
        odd = [int(c) for c in fmpz_poly.cyclotomic(q).coeffs() if abs(int(c)) > 1]
        if odd:
            return {"counterexample": q, "coefficient": odd[0], "up_to": up_to}
    return {"counterexample": None, "coefficient": 0, "up_to": up_to}


def rational_order(order: int = 8) -> Evidence:
    """The least dimension of a rational matrix of that order: the totients of its prime-power
    factors, where a lone factor 2 counts only if it is all there is."""
    powers = [int(q) ** n for q, n in fmpz(order).factor()]
    return {"least": sum(totient(power) for power in powers if power > 2) or 1}


def rotations(up_to: int = 60) -> Evidence:
    """Real 2 × 2 matrices of every order."""
    exact = 0
    for p in range(1, up_to + 1):
        c, s = math.cos(2 * math.pi / p), math.sin(2 * math.pi / p)
        R = lambda t, c=c, s=s: np.linalg.matrix_power([[c, -s], [s, c]], t)
        exact += [t for t in range(1, p + 1) if np.abs(R(t) - np.eye(2)).max() < 1e-8] == [p]
    return {"tried": up_to, "orders": exact}


def two_units(period: int = 9) -> Evidence:
    """Which necklaces two units serve."""
    found = [harmonic_dimension(word(w)).dimension for w in necklaces(period)]
    served = sum(d <= 2 for d in found)
    return {"period": period, "words": len(found), "served": served, "needs": max(found)}


def drawn_sets(attempts: int, seed: int) -> Evidence:
    """Drawn sets of harmonics on words that need three units or more: some at the optimal cost,
    which must be found to spell now and then, and some that are cheaper."""
    rng = np.random.default_rng(seed)
    hard = [w for p in (7, 8, 9) for w in necklaces(p)]
    tried, spell = ({"cheaper": 0, "optimal": 0} for _ in range(2))
    while min(tried.values()) < attempts:
        letters = hard[rng.integers(len(hard))]
        p, least = len(letters), harmonic_dimension(word(letters)).dimension
        if least < 3:
            continue
        S = tuple(j for j in range(1, p // 2 + 1) if rng.random() < 0.5)
        kind = "cheaper" if cost(S, p) < least else "optimal"
        if not S or cost(S, p) > least or tried[kind] >= attempts:
            continue
        angles = 2 * math.pi * np.outer(S, np.arange(p)) / p
        phi = np.vstack([np.ones(p), np.cos(angles), np.sin(angles)])
        spell[kind] += separation(tuple(letters), phi).u is not None
        tried[kind] += 1
    return {**tried, **{f"{kind}_spell": int(n) for kind, n in spell.items()}}


def least_factors(periods: int, bench: Bench) -> xr.Dataset:
    """The least |a| of each class of words, for periods 2 to `periods`."""
    bench.tell(f"the least |a| of one unit, necklaces up to period {periods}")
    words = [w for p in range(2, periods + 1) for w in necklaces(p)]
    found = [least_feedback(word(w), stability=2.0, time_limit=60.0) for w in words]
    columns = {"least": [f.least[1] for f in found], "exact": [f.exact for f in found]}
    columns["period"] = [len(w) for w in words]
    names = np.array(["".join(map(str, w)) for w in words], dtype=np.str_)
    table = {name: ("necklace", np.array(values)) for name, values in columns.items()}
    return xr.Dataset(table, coords={"necklace": names})
