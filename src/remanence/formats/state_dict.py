"""torch's state dict: every RNN, LSTM and GRU in it by the names of its tensors, and their ends.

Layers of one module are one network. Where a module runs in both directions, each
layer's two directions are networks of their own: the backward one takes its inputs from
the end, and an upper layer takes those of both directions below.

A state dict does not contain the order in which its modules act. A matrix with as many columns
as there are units may be the readout; it is taken only if no other tensor of the file
could act between it and the state, or behind it. The embedding likewise.
"""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..cells import Elman, GRU
from ..nets import Recurrent
from .reading import assemble, BOTH, Options, Reading, Readout, Taken
from .recurrent_cell import kind_of, PLAIN, recurrent_cell
from .safetensors import real, Tensors


LAYER = re.compile(r"^(?P<prefix>.*?)weight_ih(?P<layer>_l(?P<depth>\d+))?(?P<back>_reverse)?$")
RECURRENT = re.compile(r"(^|\.)(weight|bias)_([ih]h|hr)(_l\d+)?(_reverse)?$")
FIRST = re.compile(r"(^|\.)weight_ih(_l0)?$")
WAYS = {False: "forward", True: "backward"}
PARTS = ("weight_ih", "weight_hh", "weight_hr", "bias_ih", "bias_hh")


def networks(tensors: Tensors) -> dict[str, Reading]:
    """Every network of a state dict by its name."""
    # Without the parts that torch.compile and DataParallel put into names.
    tensors = {re.sub(r"(^|\.)_orig_mod\.", r"\1", n): t for n, t in tensors.items()}
    while tensors and all(name.startswith("module.") for name in tensors):
        tensors = {name.removeprefix("module."): t for name, t in tensors.items()}
    endings: dict[str, dict[tuple[int, bool], str]] = {}
    for name in tensors:
        if match := LAYER.match(name):
            at = (int(match["depth"] or 0), match["back"] is not None)
            ending = f"{match['layer'] or ''}{match['back'] or ''}"
            endings.setdefault(match["prefix"], {})[at] = ending
    if not endings:
        names = ", ".join(sorted(tensors)[:4]) or "nothing"
        would = "torch's names for RNN, LSTM or GRU would do"
        raise ValueError(f"no weight_ih_l0 is among the tensors ({names} …); {would}")
    found: dict[str, Reading] = {}
    for prefix, layers in sorted(endings.items()):
        depths = sorted({depth for depth, _ in layers})
        if depths != list(range(len(depths))):
            raise ValueError(f"{prefix}weight_ih has the layers {depths}; all from 0 on would do")
        stem = prefix.rstrip("._")
        if not any(back for _, back in layers):
            found[stem] = _reading(tensors, prefix, [layers[depth, False] for depth in depths])
            continue
        for (depth, back), ending in sorted(layers.items()):
            parts = [stem, f"l{depth}" if len(depths) > 1 else "", WAYS[back]]
            name = ".".join(part for part in parts if part)
            found[name] = _reading(tensors, prefix, [ending], WAYS[back])
    return found


def layer_from(tensors: Tensors, prefix: str, ending: str, activation: Callable) -> Any:
    """One layer as a cell: `weight_ih`, `weight_hh` and the biases, with one ending."""
    title, _, project, *_ = names = [f"{prefix}{part}{ending}" for part in PARTS]
    found = [real(name, tensors[name]) if name in tensors else None for name in names]
    W_x, W_h, P, b_ih, b_hh = found
    units = 0 if P is None else P.shape[-1]
    kind = kind_of(title, W_x, W_h, units)
    assert W_x is not None and W_h is not None
    if P is not None and (kind != "LSTM" or P.shape != (W_h.shape[1], units)):
        would = f"a projection of an LSTM's {units} units to {W_h.shape[1]}"
        raise ValueError(f"{project} {P.shape} must be {would}")
    if (b_ih is None) != (b_hh is None):
        raise ValueError(f"the layer of {title} must have its two biases or none")
    functions = (activation,) if kind == "RNN" else ()
    return recurrent_cell(title, kind, W_x, W_h, b_ih, b_hh, functions, projection=P)


def _reading(tensors: Tensors, prefix: str, endings: list[str], way: str = "") -> Reading:
    """One network of a state dict; `way`: which of the two directions it is, if it is one."""

    def read(options: Options) -> tuple[Recurrent, Taken]:
        word = options.activation or "tanh"
        layers = [layer_from(tensors, prefix, e, PLAIN[word]) for e in endings]
        kind = {Elman: "RNN", GRU: "GRU"}.get(type(layers[0]), "LSTM")
        remarks = {"activation": f"activation {word}"} if kind == "RNN" else {}
        if way:
            remarks["direction"] = f"{way} direction"
            upper = endings[0].removesuffix("_reverse") not in ("_l0", "")
            embedding = (options.embedding or "") if upper else options.embedding
            readout = options.readout or ""
            options = dataclasses.replace(options, embedding=embedding, readout=readout)
        # What other recurrent modules leave here is neither an embedding nor a readout,
        # but may act between them and this one.
        mine = {f"{prefix}{part}{ending}" for ending in endings for part in PARTS}
        rest = {n: t for n, t in tensors.items() if n not in mine}
        plain = {name: t for name, t in rest.items() if not RECURRENT.search(name)}
        others = {name: t for name, t in rest.items() if FIRST.search(name)}
        sizes = layers[0].W_x.shape[1], layers[-1].W_h.shape[1]
        W_e, W_y, why = _ends(plain, others, *sizes, options)
        bias = _bias_of(W_y, plain)
        end: Readout | str = why.pop("readout", BOTH if way and not options.readout else "")
        end = Readout(W_y, plain[W_y], plain.get(bias)) if W_y else end
        left = sorted({*rest} - {W_e, W_y, bias})
        unused = tuple(n for n in left if not (n.startswith(prefix) and RECURRENT.search(n)))
        taken = Taken(kind, prefix.rstrip("._"), remarks=remarks | why, unused=unused)
        options = dataclasses.replace(options, embedding=None, readout=None)
        return assemble(options, taken, layers, (W_e, plain[W_e]) if W_e else None, end)

    return read


class AmbiguousEnds(ValueError):
    """Several matrices would do, and the file does not decide."""


def _ends(
    tensors: Tensors, others: Tensors, inputs: int, units: int, options: Options
) -> tuple[str, str, dict[str, str]]:
    """The names of embedding and readout ("" where there is none), and why one was not taken.

    They are chosen among `tensors`, those of no recurrent module; names given are believed.
    `others` are first matrices of other recurrent modules, which might act between.
    """
    matrices = {n: t for n, t in tensors.items() if t.ndim == 2 and t.dtype.kind == "f"}
    fits = _readouts(tensors, matrices, units, inputs, options.embedding)
    W_y = _choose("readout", options.readout, fits, tensors)
    columns = [n for n, t in matrices.items() if t.shape[1] == inputs and not _bias_of(n, tensors)]
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
    widths = {units, len(tensors[W_y])} if W_y else set()
    taken = lambda t: {*(t.shape if t.ndim < 2 else t.shape[1:2])}
    behind = [n for n, t in left.items() if t.size == 1 or taken(t) & widths]
    before = [n for n, t in left.items() if n not in others and {*t.shape[:2]} <= {inputs, 1}]
    before += [n for n, t in others.items() if t.shape[1:] == (inputs,)]
    between = {"readout": behind, "embedding": before}
    names = {"readout": W_y, "embedding": W_e}
    for end, name in names.items():
        if name and getattr(options, end) is None and between[end]:
            would = f"which {end}={name.removesuffix('.weight')!r} would take"
            remarks[end] = f"{between[end][0]} may act beside {name}, {would}"
    W_e, W_y = ("" if end in remarks else names[end] for end in ("embedding", "readout"))
    return W_e, W_y, remarks


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
    if with_bias := [n for n in wide if _bias_of(n, tensors)]:
        return with_bias
    if inputs != units:
        return wide
    if embedding is not None:
        return [n for n in wide if n not in (embedding, f"{embedding}.weight")]
    # Tied weights without a bias: whichever is called the readout, it is the same network.
    tied = len(wide) == 2 and np.array_equal(matrices[wide[0]], matrices[wide[1]])
    return wide[:1] if tied else []


def _bias_of(name: str, tensors: Tensors) -> str:
    """The bias that goes with a matrix, "" without one: linear layers have it, embeddings not."""
    bias = name.removesuffix("weight") + "bias"
    return bias if name.endswith("weight") and bias in tensors else ""
