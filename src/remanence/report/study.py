"""A study: its `run` takes a configuration and a `Bench` and gives an `Outcome`, from which all follows."""

import dataclasses
import inspect
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

from .claims import Claim


@dataclasses.dataclass(frozen=True)
class Figure:
    """A picture with its caption and the numbers that are in it."""

    name: str
    title: str
    caption: str
    draw: Callable[[], Any]
    """Returns a new matplotlib Figure, with the colours of text, axes and background as they are."""
    data: Any = None  # an xarray Dataset, or named columns


def figure(name: str, title: str, caption: str) -> Callable[[Callable], Callable[..., Figure]]:
    """Turns a function that draws its data, and what else it is given, into one of their `Figure`."""
    return lambda draw: (
        lambda data, *given: Figure(name, title, caption, lambda: draw(data, *given), data)
    )


@dataclasses.dataclass(frozen=True)
class Bench:
    """What a run is given: where to keep its parts, its seed, who to tell."""

    folder: pathlib.Path
    seed: int = 0
    profile: str = "quick"
    tell: Callable[[str], None] = lambda sentence: None  # takes each stage
    quiet: bool = True
    time_limit: float | None = None
    on: str | None = None  # where sweeps run: on this machine, or a Dask scheduler's address


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run gives back: named datasets, figures, and what each experiment found, by name."""

    data: Mapping[str, Any]
    figures: tuple[Figure, ...]
    results: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Headline:
    """The finding that stands for a study: one large number and one sentence."""

    claim: str  # the id of the one whose evidence fills in the rest, and whose figure is shown
    number: str  # "{recalled} of {tried}"
    sentence: str  # "strings are spelled by {units} units."
    panel: int = 0  # of the figure, drawn small for the index


@dataclasses.dataclass(frozen=True, kw_only=True)
class Study:
    """One document: its claims, its profiles, and how it is run."""

    name: str
    document: str
    title: str
    reference: str
    claims: tuple[Claim, ...]
    profiles: Mapping[str, Any]  # `quick` and `full`: frozen dataclasses with all of a run
    run: Callable[[Any, Bench], Outcome]
    cost: Mapping[str, str]  # of each profile on two cores, in words
    # Redoes one named cell of a published table, if the study has one.
    cell: Callable[[Mapping[str, str], Bench], Mapping[str, Any]] | None = None
    headline: Headline | None = None  # else the finding of its first measured claim with a figure

    @property
    def about(self) -> str:
        """What the module of its run says of the subject, equations between dollars."""
        return inspect.getdoc(inspect.getmodule(self.run)) or ""
