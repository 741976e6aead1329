"""What a processor's vectors hold."""

import functools
from typing import NamedTuple

import llvmlite.binding as llvm


class Machine(NamedTuple):
    """A processor as LLVM names it, the bytes of a vector and how many vectors it holds."""

    name: str
    features: str
    vector: int
    registers: int


@functools.cache
def this_machine() -> Machine:
    """The processor that this runs on."""
    has = llvm.get_host_cpu_features()
    kinds = {"avx512f": (64, 32), "avx": (32, 16), "sse2": (16, 16)}
    # What has none of these is an ARM.
    vector = next((kind for name, kind in kinds.items() if has.get(name)), (16, 32))
    return Machine(llvm.get_host_cpu_name(), has.flatten(), *vector)
