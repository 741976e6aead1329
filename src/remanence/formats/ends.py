"""Which matrices of a state dict are the embedding and the readout, by their shapes.

A state dict does not contain the order in which its modules act. A matrix with as many columns
as there are units may be the readout; it is taken only if no other tensor of the file
could act between it and the state, or behind it. The embedding likewise.
"""

import numpy as np

from .reading import Options
from .safetensors import Tensors


class AmbiguousEnds(ValueError):
    """Several matrices would do, and the file does not decide."""


def ends_of(
    tensors: Tensors, others: Tensors, *, inputs: int, units: int, options: Options
) -> tuple[str, str, dict[str, str]]:
    """The names of embedding and readout ("" where there is none), and why one was not taken.

    They are chosen among `tensors`, those of no recurrent module; names given are believed.
    `others` are first matrices of other recurrent modules, which might act between.
    """
    matrices = {n: t for n, t in tensors.items() if t.ndim == 2 and t.dtype.kind == "f"}
    fits = _readouts(tensors, matrices, units, inputs, options.embedding)
    W_y = _choose("readout", options.readout, fits, tensors)
    columns = [n for n, t in matrices.items() if t.shape[1] == inputs and not biased(n, tensors)]
    fits = [name for name in columns if name != W_y]
    W_e = _choose("embedding", options.embedding, fits, tensors)
    remarks: dict[str, str] = {}
    if options.live:  # the whole is run and compared anyway
        return W_e, W_y, remarks
    # No counter, and no bias, whose weight answers for both.
    left = {
        name: t
        for name, t in (tensors | others).items()
        if t.dtype.kind in "fc" and name not in (W_e, W_y)
        if not (name.endswith("bias") and f"{name.removesuffix('bias')}weight" in tensors)
    }
    if W_y and options.readout is None:
        widths = {units, len(tensors[W_y])}
        taken = lambda t: {*(t.shape if t.ndim < 2 else t.shape[1:2])}
        behind = [n for n, t in left.items() if t.size == 1 or taken(t) & widths]
        W_y = _unless(behind, W_y, "readout", remarks)
    if W_e and options.embedding is None:
        before = [n for n, t in left.items() if n not in others and {*t.shape[:2]} <= {inputs, 1}]
        before += [n for n, t in others.items() if t.shape[1:] == (inputs,)]
        W_e = _unless(before, W_e, "embedding", remarks)
    return W_e, W_y, remarks


def _unless(between: list[str], name: str, what: str, remarks: dict[str, str]) -> str:
    if not between:
        return name
    stem = name.removesuffix(".weight")
    remarks[what] = f"{between[0]} may act beside {name}, which {what}={stem!r} would take"
    return ""


def _choose(what: str, given: str | None, fits: list[str], tensors: Tensors) -> str:
    if given is None:
        if len(fits) > 1:
            raise AmbiguousEnds(f"{what} may be any of {fits}; name one by {what}=")
        return fits[0] if fits else ""
    name = given if given in tensors or not given else f"{given}.weight"
    if name and (name not in tensors or tensors[name].ndim != 2):
        raise ValueError(f"there is no matrix {given!r} for the {what}")
    return name


def _readouts(
    tensors: Tensors, matrices: Tensors, units: int, inputs: int, embedding: str | None
) -> list[str]:
    """The names that may be the readout's: those with a bias, else what is no embedding."""
    wide = [n for n, t in matrices.items() if t.shape[1] == units]
    if with_bias := [n for n in wide if biased(n, tensors)]:
        return with_bias
    if inputs != units:
        return wide
    if embedding is not None:
        return [n for n in wide if n not in (embedding, f"{embedding}.weight")]
    # Tied weights without a bias: whichever is called the readout, it is the same network.
    tied = len(wide) == 2 and np.array_equal(matrices[wide[0]], matrices[wide[1]])
    return wide[:1] if tied else []


def bias_of(name: str) -> str:
    """The bias that goes with a weight's name."""
    return name.removesuffix("weight") + "bias"


def biased(name: str, tensors: Tensors) -> bool:
    """Whether a matrix has a bias, as a linear layer has and an embedding has not."""
    return name.endswith("weight") and bias_of(name) in tensors
