"""What a processor's vectors hold."""

import functools
import platform
from typing import NamedTuple

import llvmlite.binding as llvm


class Machine(NamedTuple):
    """A processor as LLVM names it, the bytes of a vector and how many vectors it holds.

    `fused` says whether it multiplies and adds in one instruction.
    """

    name: str
    features: str
    vector: int
    registers: int
    fused: bool = True


@functools.cache
def this_machine() -> Machine:
    """The processor that this runs on."""
    has = llvm.get_host_cpu_features()
    kinds = {"avx512f": (64, 32), "avx": (32, 16)}
    vector = next((kind for name, kind in kinds.items() if has.get(name)), (16, 16))
    arm = platform.machine().lower() in ("arm64", "aarch64")
    if arm:
        vector = (16, 32)
    fused = arm or bool(has.get("fma"))
    return Machine(llvm.get_host_cpu_name(), has.flatten(), *vector, fused)
