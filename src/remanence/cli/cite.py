"""`remanence cite`: the references of a study, and of the instrument."""

import sys
from typing import Annotated

import typer


def cite(
    study: Annotated[
        str, typer.Argument(metavar="[STUDY]", help="A study's name, or all.")
    ] = "all",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on stdout.")
    ] = False,
) -> None:
    """The references of a study, and how to cite the instrument itself."""
    from .. import __version__
    from ..subjects import STUDIES, study as study_of
    from .table import print_json

    if study != "all" and study not in STUDIES:
        raise ValueError(
            f"no study is called {study!r}; there are {', '.join(STUDIES)}, and all"
        )
    names = list(STUDIES) if study == "all" else [study]
    references = {name: study_of(name).reference for name in names}
    own = f"remanence {__version__}: a laboratory for memory in recurrent networks."
    if as_json:
        document = {"studies": references, "remanence": own}
        print_json(document)
        return
    for name, reference in references.items():
        sys.stdout.write(f"{name}\n  {reference}\n")
    sys.stdout.write(f"remanence\n  {own}\n")
