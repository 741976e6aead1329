"""Modular addition: the task, networks taken apart by frequency, an exact adder."""

from .ablation import (
    ablated_accuracies as ablated_accuracies,
    ablated_accuracy as ablated_accuracy,
    modular_accuracy as modular_accuracy,
    modular_states as modular_states,
    states_without as states_without,
    without as without,
)
from .exact_adder import Adder as Adder, adder as adder, spread_frequencies as spread_frequencies
from .task import Modular as Modular
