"""A study: one document made executable.

A study is a `Study` record whose `run` takes a configuration and a `Bench` and
returns an `Outcome`; everything else (claims, pages, files) follows from that.
"""

import dataclasses
import functools
import inspect
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

from .claims import Claim


@dataclasses.dataclass(frozen=True)
class Figure:
    """A picture with its caption and the numbers that are in it.

    `draw` takes no argument and returns a new matplotlib Figure; it is called
    inside a style (light, dark), so it must not set colours of text, axes or
    background itself. `data` is an xarray Dataset, or named columns.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Any]
    data: Any = None


def figure(name: str, title: str, caption: str) -> Callable[[Callable], Callable[..., Figure]]:
    """Turns a function that draws its data, and what else it is given, into one that makes the
    `Figure` of them."""
    return lambda draw: (
        lambda data, *given: Figure(
            name, title, caption, functools.partial(draw, data, *given), data
        )
    )


@dataclasses.dataclass(frozen=True)
class Bench:
    """What a run is given: where to keep its parts, its seed, who to tell."""

    folder: pathlib.Path
    seed: int = 0
    profile: str = "quick"
    tell: Callable[[str], None] = lambda sentence: None
    """Say one sentence of progress (a stage); sweeps and trainings show their own bars."""
    quiet: bool = True
    time_limit: float | None = None
    on: str | None = None
    """Where sweeps run: None on this machine, or the address of a Dask scheduler."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run gives back: its results by name, named datasets, figures."""

    data: Mapping[str, Any]
    figures: tuple[Figure, ...]
    results: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What each experiment found, by name; `Claim.evidence` takes its numbers from here."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Headline:
    """The finding that stands for a study: one large number and one sentence."""

    claim: str
    """The id of the claim whose evidence fills in the rest, and whose figure is shown."""
    number: str
    """Of a few characters: `"{recalled} of {tried}"`."""
    sentence: str
    """What the number says, as `"strings are spelled by {units} units."`"""
    panel: int = 0
    """The panel of the figure that is drawn small for the index."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Study:
    """One document: its claims, its profiles, and how it is run."""

    name: str
    document: str
    title: str
    reference: str
    claims: tuple[Claim, ...]
    profiles: Mapping[str, Any]
    """`quick` and `full`: frozen dataclasses that say everything the run depends on."""
    run: Callable[[Any, Bench], Outcome]
    cost: Mapping[str, str]
    """What each profile costs on two cores, said beforehand."""
    cell: Callable[[Mapping[str, str], Bench], Mapping[str, Any]] | None = None
    """Redo one named cell of a published table, if the study has one."""
    headline: Headline | None = None
    """Its main finding; without one, that of the first measured claim with a figure."""

    @property
    def about(self) -> str:
        """What the module of its run says of the subject, equations between dollars."""
        return inspect.getdoc(inspect.getmodule(self.run)) or ""
