"""Shared representations: gated deep linear networks that translate between languages."""

from .alignment import Translation as Translation, translation as translation
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
from .predict_generalisation import (
    Foretold as Foretold,
    foretold as foretold,
    largest_scale as largest_scale,
)
from .sign_barriers import (
    needed_scale as needed_scale,
    success_probability as success_probability,
    wall_probability as wall_probability,
)
