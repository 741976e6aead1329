"""Shared representations: gated deep linear networks that translate between languages.

Makes executable unpublished notes on gated deep linear networks, after Saxe, Sodhani and
Lewallen (2022), "The neural race reduction: dynamics of abstraction in gated networks",
ICML, arXiv:2207.10430.
"""

from .connectivity import (
    Connectivity as Connectivity,
    connectivity as connectivity,
    path_bound as path_bound,
    probability_connected as probability_connected,
)
from .gated_linear import GatedLinear as GatedLinear, relabelled as relabelled
from .language_pairs import (
    circulant_pairs as circulant_pairs,
    nested_pairs as nested_pairs,
    published_pairs as published_pairs,
    word_permutations as word_permutations,
)
from .sign_barriers import (
    barrier_probability as barrier_probability,
    largest_scale as largest_scale,
    needed_scale as needed_scale,
    predict_generalisation as predict_generalisation,
    Prediction as Prediction,
    success_probability as success_probability,
)
from .translation import Translation as Translation, translation as translation
