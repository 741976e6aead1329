"""A program as machine code, and the memory that it works on."""

import ctypes

import llvmlite.binding as llvm
import numpy as np

from .program import Program


PAGE = 4096


class Compiled:
    """`memory()` gives the buffers of a program, and a call works on them.

    Calls with memories of their own may go on at the same time; Python's other threads
    are not held up.
    """

    def __init__(self, program: Program):
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module = llvm.parse_assembly(program.finished())
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=program.machine.name, features=program.machine.features, opt=3
        )
        passes = llvm.create_pass_builder(
            target, llvm.create_pipeline_tuning_options(speed_level=2)
        )
        passes.getModulePassManager().run(module, passes)
        # The code lives as long as its engine.
        self._engine = llvm.create_mcjit_compiler(module, target)
        self._engine.finalize_object()
        scalar = ctypes.c_float if program.dtype == np.float32 else ctypes.c_double
        kinds = [ctypes.c_void_p, ctypes.c_int64, *[scalar] * len(program.numbers)]
        address = self._engine.get_function_address("program")
        self._call = ctypes.CFUNCTYPE(None, *kinds)(address)
        # Only what a call needs: the program itself is large.
        self._dtype, self._length = program.dtype, program.length
        self._numbers = tuple(program.numbers)
        self._places = {
            name: slice(start, start + program.buffers[name])
            for name, start in program.starts.items()
        }

    def memory(self) -> dict[str, np.ndarray]:
        """Zeros for every buffer, one piece from the beginning of a page on."""
        size = self._dtype.itemsize
        room = np.zeros(self._length + PAGE // size, dtype=self._dtype)
        room = room[-room.ctypes.data % PAGE // size :]
        return {name: room[place] for name, place in self._places.items()}

    def __call__(
        self, memory: dict[str, np.ndarray], *, steps: int = 1, **numbers: float
    ) -> None:
        """Go through the program on a `memory()` of it, from one step on."""
        if steps < 1:
            raise ValueError(f"a program takes at least one step, got {steps}")
        first = memory[next(iter(self._places))]
        told = [numbers[name] for name in self._numbers]
        self._call(first.ctypes.data, steps, *told)
