"""`remanence cite`: the references of a study, and of the instrument, as BibTeX."""

import sys

from typer import Argument, Option


def cite(
    study: str = Argument("all", metavar="[STUDY]", help="A study's name, or all."),
    as_json: bool = Option(False, "--json", help="One JSON document on stdout."),
) -> None:
    """The references of a study, and of remanence itself, as BibTeX."""
    from .. import __version__
    from ..subjects.references import Reference, REFERENCES
    from .table import print_json, studies_named

    names = studies_named(study)
    title = "remanence: the memory of recurrent networks, measured"
    venue = f"software, version {__version__}"
    own = Reference(key="remanence", authors="", year=2026, title=title, venue=venue)
    if as_json:
        references = {name: REFERENCES[name].text for name in names}
        print_json({"studies": references, "remanence": own.text})
        return
    entries = [REFERENCES[name].bibtex for name in names] + [own.bibtex]
    sys.stdout.write("\n\n".join(entries) + "\n")
