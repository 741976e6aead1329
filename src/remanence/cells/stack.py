r"""Several cells as one: layer $l$ hears what layer $l - 1$ says in the same step."""

from typing import Any

from jaxtyping import Array, Float

from .._types import Input, State
from .base import AbstractCell, input_size, output


class Stack(AbstractCell):
    """A deep recurrent network seen as one map; the state is a tuple of states."""

    cells: tuple[Any, ...]

    def __check_init__(self):
        if not self.cells:
            raise ValueError("a stack needs at least one cell, got none")
        for below, above in zip(self.cells, self.cells[1:], strict=False):
            says = output(below, below.initial_state()).size
            hears = input_size(above)
            if hears is not None and hears != says:
                raise ValueError(
                    f"a layer that hears {hears} numbers cannot follow one that says {says}"
                )

    def __call__(self, h: State, x: Input) -> State:
        following = []
        for cell, state in zip(self.cells, h, strict=True):
            state = cell(state, x)
            x = output(cell, state)
            following.append(state)
        return tuple(following)

    def output(self, h: State) -> Float[Array, " outputs"]:
        return output(self.cells[-1], h[-1])

    def initial_state(self) -> State:
        return tuple(cell.initial_state() for cell in self.cells)

    @property
    def input_size(self) -> int | None:
        return input_size(self.cells[0])
