"""The pictures of the study: the paper's four and what goes beyond."""

from ...report import Figure
from .adder_figures import beside_data, beside_drawn, exact_drawn
from .behaviour_figures import (
    ablation_data,
    ablation_drawn,
    counts_drawn,
    Findings as Findings,
    pairs_drawn,
    training_drawn,
)
from .network_diagram import network_diagram
from .training_animation import animation_figure
from .weights_figures import (
    singular_data,
    singular_values_drawn,
    singular_vectors_drawn,
    spectra_data,
    spectra_drawn,
)


def pictures(of: Findings) -> tuple[Figure, ...]:
    """All figures, in order."""
    d = of.found[0]
    few = ", ".join(map(str, d.key))
    figures = [
        Figure(
            "graph",
            "The network and what its key frequencies hold",
            f"The unrolled network modulo {of.task.modulus}; beside each node the share of "
            f"its energy that the key frequencies of W_fc ({few}) hold (seed {of.seeds[0]}).",
            lambda: network_diagram(d),
        ),
        Figure(
            "spectra",
            "Every tensor has the same few frequencies",
            "Energy by frequency. Above: nodes of one index, in shares of what is not "
            "constant; the line is what the largest frequency of shuffled rows reaches in "
            "1 % of cases. Below: the states of two indices, a dot where more than a thousandth "
            "of the energy is; functions of a + b lie on the rising diagonal, of a − b on "
            "the falling one.",
            lambda: spectra_drawn(d),
            spectra_data(d),
        ),
        Figure(
            "singular-values",
            "Singular values, and the rank that keeps every answer",
            "Grey: accuracy of the network with this one matrix cut to that rank. "
            "The mark is the smallest rank with 100 %; above, that rank and the share of energy it holds.",
            lambda: singular_values_drawn(d),
            singular_data(d),
        ),
        Figure(
            "singular-vectors",
            "Singular vectors of W_fc and their frequency",
            "Left singular vectors over the answers, with the frequency that holds most "
            "of each and its share.",
            lambda: singular_vectors_drawn(d),
        ),
        Figure(
            "ablation",
            "Frequencies removed",
            "Accuracy over all pairs against the number of key frequencies removed, in each "
            "place: mean over subsets and seeds, band from least to most. Grey: as many "
            "frequencies that are not key, from the embedding.",
            lambda: ablation_drawn(of),
            ablation_data(of),
        ),
        Figure(
            "training",
            "Frequencies appear before the held-out answers do",
            "Above: accuracy during training, all seeds. Below: energy of the embedding by "
            "frequency at six moments of the first seed.",
            lambda: training_drawn(of),
            of.histories,
        ),
        Figure(
            "training-animated",
            "The spectrum throughout training",
            "Energy of embedding and unembedding by frequency throughout training (the SVG "
            "moves, in a loop of eight seconds; the PNG shows the end).",
            lambda: animation_figure(of.histories.isel(seed=0)),
            of.histories.isel(seed=0)[["energy", "held_out"]],
        ),
        Figure(
            "exact-adder",
            "Learned and written down",
            "Left: margin of the written adder against its number of frequencies. Right: "
            "cosines of the principal angles between learned and written subspaces at the "
            "same frequencies (1: the same direction).",
            lambda: exact_drawn(of),
            of.margins,
        ),
        Figure(
            "learned-and-exact",
            "Learned and written, frequency by frequency",
            "Above: energy by frequency in the learned network and in the one written at "
            "its key frequencies. Below: accuracy against the number of those removed, "
            "mean over the same subsets.",
            lambda: beside_drawn(of),
            beside_data(of),
        ),
        Figure(
            "counts",
            "How many frequencies",
            "Key frequencies of W_fc over the whole grid, by one setting at a time; a dot is a "
            "network that reached 99 % of held-out pairs (so many of those trained did), the "
            "line their mean. Right: which frequencies they chose.",
            lambda: counts_drawn(of.counts),
            of.counts,
        ),
    ]
    pairs = of.cuts[0].pairs
    if pairs is not None:
        figures.insert(
            5,
            Figure(
                "pairs",
                "Every pair of frequencies removed",
                "Accuracy without two frequencies (one on the diagonal), in three places of "
                "the first network. Ticks are its key frequencies.",
                lambda: pairs_drawn(of),
                pairs.to_dataset(),
            ),
        )
    return tuple(figures)
