"""The values written in a torch pickle, read off its opcodes: nothing in it is executed.

`pickletools.genops` splits a pickle into opcodes and their arguments. A small stack
machine puts dictionaries, lists, numbers and the descriptions of tensors together. No
name in the file is imported and nothing is called; a pickle that asks for anything but
tensors and plain containers is refused by the name that it asked for.
"""

import dataclasses
import pickletools
from typing import Any


MOST = 2_000_000
"""Opcodes in one pickle: some twenty a tensor."""
DICTIONARIES = {f"collections.{name}" for name in ("OrderedDict", "defaultdict", "Counter")}
NUMPY = ("_reconstruct", "scalar")
INERT = {
    *["__builtin__.set", "_codecs.encode", "argparse.Namespace", "numpy.dtype", "numpy.ndarray"],
    *(f"builtins.{name}" for name in ("complex", "dict", "frozenset", "list", "set", "slice")),
    *(f"numpy.{core}.multiarray.{name}" for core in ("core", "_core") for name in NUMPY),
    *["pathlib.PosixPath", "torch._tensor.Tensor", "torch.Tensor", "torch.device"],
    "torch.nn.parameter.Parameter",
}
"""What stands in checkpoints beside tensors; it is passed over."""
REBUILT = {f"torch._utils._rebuild_tensor{version}" for version in ("", "_v2", "_v3")}
PARAMETERS = {f"torch._utils._rebuild_parameter{more}" for more in ("", "_with_state")}
WRAPPED = PARAMETERS | {"torch.Size"}
"""Calls whose value is their first argument."""
FROM_TYPE = "torch._tensor._rebuild_from_type_v2"
KNOWN = DICTIONARIES | INERT | REBUILT | WRAPPED | {FROM_TYPE}
MARK = object()
"""Where a run of values on the stack begins."""
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "MARK": MARK}
EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_SET": list, "EMPTY_TUPLE": tuple}
WOULD_DO = "torch.save(model.state_dict(), path) would do"
MALFORMED = (IndexError, KeyError, TypeError, AttributeError, OverflowError)
STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "UntypedStorage": "uint8",
}
KINDS = {*STORAGES.values(), "uint16", "uint32", "uint64"}


class Name(str):
    """A name that the pickle asked for."""


@dataclasses.dataclass(frozen=True, eq=False)
class Storage:
    """Where the numbers of a tensor lie; `view` is its part of another, if any."""

    kind: str
    key: str
    view: Any = None


@dataclasses.dataclass(frozen=True, eq=False)
class Described:
    """A tensor as the pickle describes it, before any of it is believed."""

    storage: Storage
    offset: Any
    size: Any
    stride: Any
    kind: str


def value_of(file: Any) -> Any:
    """The value of the one pickle that begins here; the file then stands behind it.

    The file must hold all that it gives: one of bytes in memory, or a mapped one.
    """
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    try:
        for _, (opcode, argument, _) in zip(range(MOST), pickletools.genops(file), strict=False):
            if opcode.name == "STOP":
                return stack.pop()
            _step(opcode.name, argument, stack, memo)
    except MALFORMED as error:
        raise ValueError(f"its pickle is malformed: {error}") from None
    raise ValueError(f"its pickle has more than {MOST} parts")


def _step(name: str, argument: Any, stack: list[Any], memo: dict[int, Any]) -> None:
    """What one opcode does to the stack."""
    match name:
        case "PROTO" | "FRAME":
            pass
        case "POP" | "BUILD":  # a state is the attributes of what needs none
            stack.pop()
        case _ if name in CONSTANTS:
            stack.append(CONSTANTS[name])
        case _ if name in EMPTY:
            stack.append(EMPTY[name]())
        case "PUT" | "BINPUT" | "LONG_BINPUT" | "MEMOIZE":
            memo[len(memo) if name == "MEMOIZE" else argument] = stack[-1]
        case "GET" | "BINGET" | "LONG_BINGET":
            stack.append(memo[argument])
        case "DUP":
            stack.append(stack[-1])
        case "POP_MARK":
            _run(stack)
        case "TUPLE" | "LIST" | "FROZENSET" | "DICT":
            values = _run(stack)
            stack.append({"TUPLE": tuple, "DICT": _dictionary}.get(name, list)(values))
        case "TUPLE1" | "TUPLE2" | "TUPLE3":
            size = int(name[-1])
            stack[-size:] = [tuple(stack[-size:])]
        case "APPEND" | "APPENDS" | "ADDITEMS":
            values = [stack.pop()] if name == "APPEND" else _run(stack)
            if isinstance(stack[-1], list):
                stack[-1].extend(values)
        case "SETITEM" | "SETITEMS":
            values = _two(stack) if name == "SETITEM" else _run(stack)
            if isinstance(stack[-1], dict):
                stack[-1].update(_dictionary(values))
        case "GLOBAL" | "STACK_GLOBAL":
            names = argument.split(" ", 1) if name == "GLOBAL" else _two(stack)
            stack.append(_known_name(*names))
        case "BINPERSID":
            stack.append(_storage(stack.pop()))
        case "REDUCE" | "NEWOBJ" | "NEWOBJ_EX":
            if name == "NEWOBJ_EX":
                stack.pop()  # arguments by keyword
            stack.append(_describe(*_two(stack)))
        case _ if argument is not None and not name.startswith(("EXT", "INST", "PERS")):
            stack.append(argument)  # a number, a text or bytes
        case _:
            raise ValueError(f"its pickle uses {name}, which state dicts do not")


def _run(stack: list[Any]) -> list[Any]:
    """The values since the last mark, taken off the stack with it."""
    return [*iter(stack.pop, MARK)][::-1]


def _two(stack: list[Any]) -> list[Any]:
    return [stack.pop(), stack.pop()][::-1]


def _dictionary(values: list[Any]) -> dict[Any, Any]:
    """Of keys and values in turn; keys that are no plain values name nothing, and go."""
    pairs = zip(values[::2], values[1::2], strict=True)
    return {key: value for key, value in pairs if isinstance(key, str | int)}


def _known_name(first: Any, last: Any) -> Name:
    """A name, if it is one of the few that are known."""
    text = f"{first}.{last}"
    if text in KNOWN:
        return Name(text)
    if first in ("torch", "torch.storage", "torch.cuda") and last in {*KINDS, *STORAGES}:
        return Name(last)
    if last in ("_rebuild_qtensor", "ScriptObject"):
        raise ValueError(f"its tensors are quantised ({text!a}); those of the float model would do")
    raise ValueError(
        f"its pickle asks for {text!a}, and nothing but tensors is read from one; {WOULD_DO}"
    )


def _describe(what: Any, arguments: Any) -> Any:
    """What a call would give, described; nothing is called."""
    if not isinstance(what, Name) or not isinstance(arguments, tuple):
        raise ValueError("its pickle is malformed: it calls what is no name")
    if what in DICTIONARIES:
        return {}
    if what in WRAPPED:
        return arguments[0]
    if what == FROM_TYPE:
        return _describe(arguments[0], arguments[2])
    if what in REBUILT:
        storage, offset, size, stride = arguments[:4]
        if not isinstance(storage, Storage):
            raise ValueError("its pickle describes a tensor without numbers")
        kind = arguments[6] if what.endswith("v3") else storage.kind
        if kind not in KINDS:
            raise ValueError("its pickle describes a tensor of an unknown kind")
        return Described(storage, offset, size, stride, kind)
    if what in INERT:
        return None
    raise ValueError(f"its pickle calls {what}, which is no call")


def _storage(reference: Any) -> Storage:
    if not isinstance(reference, tuple) or len(reference) < 5 or reference[0] != "storage":
        raise ValueError("its pickle refers to something that is no storage")
    kind = reference[1] if isinstance(reference[1], Name) else ""
    view = reference[5] if len(reference) > 5 else None
    if kind not in STORAGES or not isinstance(reference[2], str):
        raise ValueError("its pickle refers to a storage of an unknown kind")
    return Storage(STORAGES[kind], reference[2], view if isinstance(view, tuple) else None)
