"""The pictures of the study: the paper's four and what goes beyond."""

from ....report import Figure
from .behaviour import (
    ablation_data,
    beside_data,
    draw_ablation,
    draw_beside,
    draw_margins,
    draw_recipes,
    draw_training,
    Findings as Findings,
)
from .weights import (
    draw_singular_values,
    draw_singular_vectors,
    draw_spectra,
    singular_data,
    spectra_data,
)


def pictures(of: Findings) -> tuple[Figure, ...]:
    """All figures, in order."""
    d = of.found[0]
    return (
        Figure(
            "spectra",
            "Every tensor has the same few frequencies",
            "Energy by frequency. Above: nodes of one index, in shares of what is not "
            "constant; the line is what the largest frequency of shuffled rows reaches in "
            "1 % of cases. Below: the states of two indices, a dot where more than a thousandth "
            "of the energy is; functions of a + b lie on the rising diagonal, of a − b on "
            "the falling one.",
            lambda: draw_spectra(d),
            spectra_data(d),
        ),
        Figure(
            "singular-values",
            "Singular values, and the rank that keeps every answer",
            "Grey: accuracy of the network with this one matrix cut to that rank. The mark is the "
            "smallest rank with the network's own accuracy; above, that rank and the share of "
            "energy it holds.",
            lambda: draw_singular_values(d),
            singular_data(d),
        ),
        Figure(
            "singular-vectors",
            "Singular vectors of W_fc and their frequency",
            "Left singular vectors over the answers, with the frequency that holds most "
            "of each and its share.",
            lambda: draw_singular_vectors(d),
        ),
        Figure(
            "ablation",
            "Frequencies removed",
            "Accuracy over all pairs against the number of key frequencies removed, in each "
            "place: mean over subsets and seeds, band from least to most. Grey: as many "
            "frequencies that are not key, from the embedding.",
            lambda: draw_ablation(of),
            ablation_data(of),
        ),
        Figure(
            "training",
            "Frequencies appear before the held-out answers do",
            "Above: accuracy during training, all seeds. Below: energy of the embedding by "
            "frequency at six moments of the first seed.",
            lambda: draw_training(of.histories),
            of.histories,
        ),
        Figure(
            "exact-adder",
            "Learned and written down",
            "Left: margin of the written adder against its number of frequencies. Right: "
            "cosines of the principal angles between learned and written subspaces at the "
            "same frequencies (1: the same direction).",
            lambda: draw_margins(of),
            of.margins,
        ),
        Figure(
            "learned-and-exact",
            "Learned and written, frequency by frequency",
            "Above: energy by frequency in the learned network and in the one written at "
            "its key frequencies. Below: accuracy against the number of those removed, "
            "mean over the same subsets.",
            lambda: draw_beside(of),
            beside_data(of),
        ),
        Figure(
            "counts",
            "How many frequencies",
            "Key frequencies of W_fc with one dial of the recipe moved at a time, a colour a "
            "centre; a dot is a network that reached 99 % of held-out pairs, the line their mean.",
            lambda: draw_recipes(of.recipes),
            of.recipes,
        ),
    )
