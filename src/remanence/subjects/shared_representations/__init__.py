"""Shared representations: gated deep linear networks that translate between languages.

Makes executable unpublished notes on gated deep linear networks, after Saxe, Sodhani and
Lewallen (2022), "The neural race reduction: dynamics of abstraction in gated networks",
ICML, arXiv:2207.10430.
"""

from .gated_linear import GatedLinear as GatedLinear
from .language_pairs import connectivity as connectivity, published_pairs as published_pairs
from .sign_barriers import predict_generalisation as predict_generalisation
