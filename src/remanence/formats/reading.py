"""What a caller specifies of a network that its file leaves open, and what was then taken."""

import dataclasses
from collections.abc import Callable
from typing import Any

from ..nets import Recurrent


@dataclasses.dataclass(frozen=True)
class Options:
    """None where the file, or else the shapes in it, shall say."""

    activation: str | None = None
    embedding: str | None = None
    readout: str | None = None
    positions: Any = None
    live: bool = False
    """Whether what is read is run and compared with what it came from."""

    def __post_init__(self):
        for name, known in (("activation", ("tanh", "relu")), ("positions", ("every", "last"))):
            value = getattr(self, name)
            if value is not None and value not in known:
                words = " or ".join(repr(word) for word in known)
                raise ValueError(f"{name} must be {words}, got {value!r}")

    def filled_from(self, metadata: dict[str, Any]) -> "Options":
        """The same, with a file's metadata where the caller specifies nothing."""
        names = ("activation", "embedding", "readout", "positions")
        open_ = [name for name in names if getattr(self, name) is None]
        return dataclasses.replace(self, **{name: metadata.get(name) for name in open_})


@dataclasses.dataclass(frozen=True)
class Taken:
    """What of a file a network was made from; `str()` is one line."""

    kind: str
    name: str
    embedding: str = ""
    readout: str = ""
    positions: str = "every"
    remarks: dict[str, str] = dataclasses.field(default_factory=dict)
    """Why there is no "embedding" or "readout", and anything else worth a word."""
    unused: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = [f"{self.kind} {self.name or '(no name)'}"]
        words += [v for k, v in self.remarks.items() if k not in ("embedding", "readout")]
        for end in ("embedding", "readout"):
            why = f" ({self.remarks[end]})" if end in self.remarks else ""
            words.append(f"{end} {getattr(self, end) or 'none'}{why}")
        every = self.positions == "every"
        words.append("read at every step" if every else "read at the end")
        if self.unused:
            words.append(f"not used: {', '.join(self.unused)}")
        return ", ".join(words)


Reading = Callable[[Options], tuple[Recurrent, Taken]]
"""One network of a file, built when it is wanted."""
