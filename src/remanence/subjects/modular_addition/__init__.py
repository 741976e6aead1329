"""Modular addition: the task, networks dissected by frequency, an exact adder."""

from .ablation import ablated_accuracies, modular_accuracy, modular_states, states_without
from .exact_adder import Adder, adder, spread_frequencies
from .task import Modular
