"""A live torch model: every recurrent network inside, on the inputs that it really receives."""

import pathlib
from typing import Any

import numpy as np

from ..formats import model_networks
from ..formats.recording import pad
from .inputs import Inputs, words_for
from .record import Checkup


class Checkups(dict[str, Checkup]):
    """The checkup of each recurrent network inside a model, by its name."""

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write one page (`.html`), or all figures (`.json`)."""
        from .outputs import write_page

        return write_page([*self.values()], path)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.values()))

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values()))

    def _repr_html_(self) -> str:
        return "".join(each._repr_html_() for each in self.values())


def is_torch_module(value: Any) -> bool:
    """Whether something is a module of torch's, which need not be imported for it."""
    return any(base.__module__.startswith("torch.nn.") for base in type(value).__mro__)


def received_inputs(title: str, sequences: list[np.ndarray], backward: bool) -> tuple[Inputs, Any]:
    """The inputs of a network inside a model, padded, and their lengths if they differ."""
    values, ends = pad(sequences)
    turned = ", from the end" if backward else ""
    words = f"{words_for(values, ends)} that {title or 'it'} received{turned}"
    return Inputs(values=values, words=words), ends


def checkup_model(examine: Any, model: Any, batch: Any, **options: Any) -> Checkups:
    """A checkup of every recurrent network that the batch reaches."""
    found = Checkups()
    for title, net, taken, sequences, from_zero in model_networks(model, batch):
        backward = taken.remarks.get("direction", "").startswith("backward")
        given, lengths = received_inputs(title, sequences, backward)
        start = "" if from_zero else ", measured from zero though the model starts elsewhere"
        mine = {"name": title or type(model).__name__, "weights": f"{taken}{start}"}
        found[title] = examine(net, given, lengths=lengths, **(options | mine))
    return found
