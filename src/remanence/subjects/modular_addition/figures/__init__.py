"""The pictures of the study: the paper's four and what goes beyond."""

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from ....report import Figure
from ..ablation_curves import Ablations
from ..dissection import Dissection
from .behaviour import (
    ablation_figure,
    exact_adder_figure,
    learned_and_exact_figure,
    recipes_figure,
    training_figure,
)
from .weights import singular_values_figure, singular_vectors_figure, spectra_figure


def figures(
    data: Mapping[str, xr.Dataset],
    found: Sequence[Dissection],
    cuts: Sequence[Ablations],
    comparison: Mapping[str, Any],
) -> tuple[Figure, ...]:
    """All pictures, in order."""
    return (
        spectra_figure(found[0]),
        singular_values_figure(found[0]),
        singular_vectors_figure(found[0]),
        ablation_figure(cuts, found[0].task.modulus),
        training_figure(data["training"]),
        exact_adder_figure(data["margins"], comparison["cosines"]),
        learned_and_exact_figure(comparison["ablation"]),
        recipes_figure(data["recipes"]),
    )
