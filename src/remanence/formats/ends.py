"""Which matrices of a state dict are the embedding and the readout, by their shapes.

A state dict does not contain the order in which its modules act. A matrix with as many columns
as there are units may be the readout; it is taken only if no other tensor of the file
could act between it and the state, or behind it. The embedding likewise.
"""

import dataclasses

import numpy as np

from .safetensors import real, Tensors


@dataclasses.dataclass(frozen=True)
class Ends:
    """The names of the two matrices ("" where there is none), and why one was not taken."""

    embedding: str
    readout: str
    remarks: dict[str, str]


class AmbiguousEnds(ValueError):
    """Several matrices would do, and the file does not decide."""


def ends_of(
    tensors: Tensors,
    *,
    inputs: int,
    units: int,
    embedding: str | None,
    readout: str | None,
    others: Tensors | None,
) -> Ends:
    """Choose among `tensors`, those of no recurrent module; names given are believed.

    `others` are all tensors that might act beside the two; None where the whole is
    run and compared anyway.
    """
    matrices = {n: t for n, t in tensors.items() if t.ndim == 2 and t.dtype.kind == "f"}
    fits = _readouts(tensors, matrices, units, inputs, embedding)
    W_y = _chosen(readout, fits, "readout", tensors, units)
    fits = [
        name
        for name, t in matrices.items()
        if name != W_y and t.shape[1] == inputs and not biased(name, tensors)
    ]
    W_e = _chosen(embedding, fits, "embedding", tensors, inputs)
    remarks: dict[str, str] = {}
    if others is not None:
        left = {
            name: t
            for name, t in others.items()
            if name not in (W_e, W_y, bias_of(W_y)) and _acts(name, t, others)
        }
        if W_y and readout is None:
            behind = _takers(left, {units, len(tensors[W_y])})
            W_y = _unless(behind, W_y, "readout", remarks)
        if W_e and embedding is None:
            other_rnn = lambda n, t: n not in tensors and t.shape[1:] == (inputs,)
            before = [
                name
                for name, t in left.items()
                if {*t.shape[:2]} <= {inputs, 1} or other_rnn(name, t)
            ]
            W_e = _unless(before, W_e, "embedding", remarks)
    return Ends(W_e, W_y, remarks)


def _unless(between: list[str], name: str, what: str, remarks: dict[str, str]) -> str:
    if not between:
        return name
    stem = name.removesuffix(".weight")
    remarks[what] = f"{between[0]} may act beside {name}, which {what}={stem!r} would take"
    return ""


def _acts(name: str, tensor: np.ndarray, others: Tensors) -> bool:
    """Whether a tensor is looked at: no counter, and no bias, whose weight answers for both."""
    answered = f"{name.removesuffix('bias')}weight" in others
    return tensor.dtype.kind in "fc" and not (name.endswith("bias") and answered)


def _takers(left: Tensors, widths: set[int]) -> list[str]:
    """The tensors that could act on a vector of such a width, or on what those then give."""
    found: list[str] = []
    while more := [
        name
        for name, t in left.items()
        if name not in found
        and (t.size == 1 or {*(t.shape if t.ndim < 2 else t.shape[1:2])} & widths)
    ]:
        found += more
        widths = widths.union(*(left[name].shape[:1] for name in more))
    return found


def _chosen(given: str | None, fits: list[str], what: str, tensors: Tensors, size: int) -> str:
    if given is None:
        if len(fits) > 1:
            raise AmbiguousEnds(f"{what} may be any of {fits}; name one by {what}=")
        given = fits[0] if fits else ""
    if given == "":
        return ""
    name = given if given in tensors else f"{given}.weight"
    if name not in tensors or tensors[name].ndim != 2:
        raise ValueError(f"there is no matrix {given!r} for the {what}")
    matrix = real(name, tensors[name])
    if matrix.shape[1] != size or not len(matrix):
        raise ValueError(f"the {what} {name} is {matrix.shape}; some rows of {size} would do")
    bias = tensors.get(bias_of(name)) if what == "readout" else None
    if bias is not None and real(bias_of(name), bias).shape != matrix.shape[:1]:
        raise ValueError(f"{bias_of(name)} {bias.shape} does not fit {name}")
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
