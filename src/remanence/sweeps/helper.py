"""A process beside a sweep that computes chunks of compiled programs, and nothing else.

It is told programs as machine code, so it traces and compiles nothing and its bits are
those of the process that compiled them. Messages are pickles between two processes of
one sweep, a length before each; none is ever read from a file.
"""

import os
import pickle
import queue
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any, IO


LENGTH = struct.Struct(">Q")
KEPT = 2


def put(stream: IO[bytes], message: Any) -> None:
    """Write one message."""
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def taken(stream: IO[bytes]) -> Any:
    """Read one message; `EOFError` where the other side has ended."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return pickle.loads(content)


def _listen(orders: queue.Queue) -> None:
    """Every order as it comes; when the sweep has ended, however it did, so do we."""
    while True:
        try:
            orders.put(taken(sys.stdin.buffer))
        except (EOFError, OSError):
            os._exit(0)


def _loaded(code: Any) -> Callable:
    """A program from its machine code, ready to be called."""
    import jax
    import jax.numpy as jnp
    from jax.experimental.serialize_executable import deserialize_and_load

    # Lowering any factorisation tells jaxlib where LAPACK is; machine code takes it
    # for told.
    jax.jit(jnp.linalg.cholesky).lower(jnp.eye(2))
    return deserialize_and_load(*code)


def serve() -> None:
    """Answer orders until the other side ends: programs are kept, chunks computed."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a lane prints must not be taken for an answer
    orders: queue.Queue = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    import jax

    programs: dict[int, Callable] = {}
    data: Any = None
    while True:
        what, *told = orders.get()
        if what == "data":
            x64, data = told
            jax.config.update("jax_enable_x64", x64)
        elif what == "program":
            number, code = told
            programs[number] = _loaded(code)
            for older in list(programs)[:-KEPT]:
                del programs[older]
        else:
            number, points, keys = told
            put(answers, jax.device_get(programs[number](points, keys, data)))


if __name__ == "__main__":
    serve()
