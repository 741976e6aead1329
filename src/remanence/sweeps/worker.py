"""One chunk of lanes on a worker, here or in a cluster, and what decides its bits there.

The work travels as bytes and is opened once a worker, which keeps the programs it
compiled. Every task comes with the environment that is wanted: workers come and go, and
one with other code, versions or processor must not compute a single chunk.
"""

import collections
import contextlib
import hashlib
import sys
import threading
from typing import Any

import jax

from .._precision import as_numpy
from ..train.identity import environment, is_installed
from ..train.loop import as_jax
from .grid import Part
from .program import Arrays, Program, Work


Payload = tuple[bytes, bool, str]
"""The work as bytes, whether it is in double precision, and its digest."""


def pack(work: Work) -> Payload:
    """The work in bytes; functions of scripts travel whole, installed ones by name."""
    import cloudpickle

    module = sys.modules.get(getattr(work.lane, "__module__", None) or "")
    known = cloudpickle.list_registry_pickle_by_value()
    with contextlib.ExitStack() as scope:
        if module is not None and not is_installed(work.lane) and module.__name__ not in known:
            cloudpickle.register_pickle_by_value(module)
            scope.callback(cloudpickle.unregister_pickle_by_value, module)
        content = cloudpickle.dumps((type(work), vars(work) | {"data": as_numpy(work.data)}))
    return content, work.x64, hashlib.sha256(content).hexdigest()


def _unpack(payload: Payload) -> Work:
    import cloudpickle

    # A message of our own client, never a file. Opened in the scope, since a float64
    # array would arrive outside it as float32.
    with jax.enable_x64(payload[1]):
        kind, fields = cloudpickle.loads(payload[0])
        return kind(**fields | {"data": as_jax(fields["data"])})


def environment_there(payload: Payload) -> dict[str, Any]:
    """What decides the bits in this process, for the code of this work."""
    with jax.enable_x64(payload[1]):
        return environment(_unpack(payload).lane)


def difference(theirs: dict[str, Any], wanted: dict[str, Any]) -> str:
    """What is wrong with a worker, in words."""
    for name, version in wanted["versions"].items():
        if (there := theirs["versions"].get(name)) != version:
            return f"has {name} {there}, but {version} is wanted"
    names = [name for name in wanted if theirs.get(name) != wanted[name]]
    return f"has another {' and '.join(names)}, so its bits could differ"


_PROGRAMS: collections.OrderedDict[str, Program] = collections.OrderedDict()
_MOST = 8
_LOCK = threading.Lock()
_TURN = threading.Lock()
"""One chunk a process at a time, whatever threads a worker was given: two programs were
seen to wait for each other for ever (`pool`)."""


def _program(payload: Payload, number: int, wanted: dict[str, Any]) -> Program:
    """The program of a static point, made once a worker."""
    name = f"{payload[2]} {payload[1]} {number}"
    with _LOCK:
        if name not in _PROGRAMS:
            here = environment_there(payload)
            if here != wanted:
                raise ValueError(f"a worker {difference(here, wanted)}")
            _PROGRAMS[name] = _unpack(payload).program(number)
            if len(_PROGRAMS) > _MOST:
                _PROGRAMS.popitem(last=False)
        return _PROGRAMS[name]


def task(payload: Payload, part: Part, wanted: dict[str, Any]) -> Arrays:
    """One chunk, on a worker."""
    program = _program(payload, part.program, wanted)
    with _TURN:
        return program(part)
