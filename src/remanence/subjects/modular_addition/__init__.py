"""Modular addition: the task, networks dissected by frequency, an exact adder."""

from .ablation import (
    ablated_accuracies as ablated_accuracies,
    modular_accuracy as modular_accuracy,
    modular_states as modular_states,
    states_without as states_without,
)
from .exact_adder import Adder as Adder, adder as adder, spread_frequencies as spread_frequencies
from .task import Modular as Modular
