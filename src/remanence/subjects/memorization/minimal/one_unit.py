r"""The least $|a|$ with which one unit, $h' = a h + c_x$, says a word: exact, any alphabet.

Orders of the symbols are grown by inserting one symbol after the other. What a
few symbols' order refutes, every order that contains it need not try, so the
orders wait in a queue, each at the first $|a|$ that it leaves open, and the lowest
is grown on. The first complete order that comes up is the least; until then the
lowest in the queue is a proved lower bound. Which $a$ are admissible need not be an
interval: only the lowest end of the set is sought.
"""

import dataclasses
import heapq
import itertools
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz_poly

from .algebraic_numbers import rational, Root, ZERO
from .deadline import Deadline
from .minors import dot, minors
from .one_unit_states import Line, Opening, Order, WIDEST


LARGEST = 2_000_000
"""Coefficients of all states together, beyond which they are not written down."""


@dataclasses.dataclass(frozen=True)
class OneUnit:
    """No |a| up to `low` serves, and `a` does, with one input weight a symbol.

    `order` is that of the symbols on the line, up to reversal. `exact` says that
    every |a| just above `low` serves too, so that `low` is the infimum itself;
    `attained`, that a = 0 serves.
    """

    low: Root
    a: Fraction
    order: Order
    weights: tuple[Fraction, ...]
    exact: bool
    attained: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """Around the infimum of |a|."""
        if self.exact:
            return self.low.enclosure
        return self.low.enclosure[0], float(abs(self.a))


def least_of_one_unit(labels: tuple[int, ...], time_limit: float) -> OneUnit:
    """The infimum of |a| over all orders of the symbols and both signs."""
    n, p = max(labels) + 1, len(labels)
    order = tuple(range(n))
    if n == p:
        # Every symbol once: the last one tells the next, and nothing else is needed.
        weights = tuple(Fraction(labels[(t + 1) % p]) for t in range(p))
        return OneUnit(ZERO, Fraction(0), order, weights, True, True)
    low, found, done, lines = ZERO, None, False, {}
    if p * p * n <= LARGEST:
        deadline = Deadline(0.75 * time_limit)
        lines = {sign: Line(labels, sign, deadline) for sign in (1, -1)}
        low, found, done = _lowest_opening(lines, labels)
    if found is None:
        # The shift map, and nothing known between `low` and it.
        return OneUnit(low, Fraction(n), order, tuple(Fraction(-k) for k in order), False)
    sign, order, opening = found
    assert opening.a is not None
    weights = (Fraction(0), *(Fraction(int(x)) for x in opening.weights))
    exact = done and opens_at(lines[sign], order, opening)
    return OneUnit(low, sign * opening.a, order, weights, exact)


def _lowest_opening(
    lines: dict[int, Line], labels: tuple[int, ...]
) -> tuple[Root, tuple[int, Order, Opening] | None, bool]:
    """The lowest |a| that is left open, what is met there or above, and whether the two
    are one: orders grow symbol by symbol, the lowest first and the longest of those."""
    n, ticket = max(labels) + 1, itertools.count()
    # The most frequent symbols first: they leave the least room.
    names = sorted(range(n), key=lambda k: (-labels.count(k), k))
    limit, found = rational(Fraction(n + 1)), None
    queue: list[tuple[Root, int, int, int, Order, Opening]] = []
    grown = [(sign, tuple(names[:2]), ZERO, ()) for sign in lines]
    while True:
        for sign, order, low, hint in grown:
            opening = lines[sign].opening(order, low, limit, hint)
            if opening is None:
                continue
            entry = (opening.low, -len(order), next(ticket), sign, order, opening)
            heapq.heappush(queue, entry)
            if len(order) == n and opening.a is not None and rational(opening.a) < limit:
                limit, found = rational(opening.a), (sign, order, opening)
        if not queue or not queue[0][0] < limit:
            return limit, found, False
        low, _, _, sign, order, opening = heapq.heappop(queue)
        if opening.a is None:
            return low, found, False
        if len(order) == n:
            return low, (sign, order, opening), True
        new, hint = names[len(order)], opening.corners
        grown = [(sign, (*order[:i], new, *order[i:]), low, hint) for i in range(len(order) + 1)]


def opens_at(line: Line, order: Order, opening: Opening) -> bool:
    r"""Whether the order is met at every |a| from `low` to `a`, `low` itself left out.

    The corners' nearest point to zero is a polynomial in |a|, $\sum_i m_i v_i$ with
    m the row sums of the adjugate of their Gram matrix. Its lead over every pair
    is divided by the factor that vanishes at `low`; what is left must be
    positive over the whole short interval, which is one ball.
    """
    assert opening.a is not None
    if len(opening.corners) > WIDEST or line.deadline.late:
        return False
    V = [line.apart(pair) for pair in opening.corners]
    # m with G m = det(G) 1 for the Gram matrix G, by Cramer's rule.
    alternating = minors([[*(dot(u, v) for v in V), fmpz_poly([1])] for u in V])
    m = [f if len(V) % 2 else -f for f in alternating[:-1]]
    x = [dot(m, row) for row in zip(*V, strict=True)]
    with ctx.workprec(256):
        vanishing = fmpz_poly(list(opening.low.polynomial))
        ball = opening.low.ball(256).union(arb(opening.a.numerator) / opening.a.denominator)
        rising = vanishing.derivative()(ball)
        if not (rising > 0 or rising < 0):
            return False
        side = 1 if vanishing(fmpq(opening.a.numerator, opening.a.denominator)) > 0 else -1
        for low, high in itertools.pairwise(order):
            for pair in itertools.product(line.times[high], line.times[low]):
                f, turn = dot(x, line.apart(pair)), 1
                while f != 0 and f % vanishing == 0:
                    f, turn = f // vanishing, turn * side
                if not turn * f(ball) > 0:
                    return False
        return True
