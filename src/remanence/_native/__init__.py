"""Small products as machine code: loops that LLVM compiles for the processor at hand.

A library's product of two 32 x 32 matrices spends much of its time on being
general. A `Program` knows its sizes: each tile of a product stays in registers until it
is done, and thousands of steps pass without a word to Python.

Every number of a product is one chain of fused multiply-adds in the order of its sum,
whatever the tiles, so its bits are the same for every width of a processor's vectors
(processors of before 2013, which do not fuse, have others).
"""

from .compiled import Compiled as Compiled
from .machine import Machine as Machine
from .products import (
    product as product,
    transposed as transposed,
    wordwise as wordwise,
)
from .program import Grid as Grid, Program as Program
