"""One folder or file a document; each is imported only when it is asked for."""

import importlib

from ..report import Study


STUDIES = {
    "memorization": "memorization",
    "fading-memory": "fading_memory",
    "modular-addition": "modular_addition",
    "shared-representations": "shared_representations",
    "stable-recurrence": "stable_recurrence",
}
"""The name of a study and its module, in the order of the documents."""


def study(name: str) -> Study:
    """The study of that name."""
    if name not in STUDIES:
        raise ValueError(f"no study is called {name!r}; there are {', '.join(STUDIES)}")
    return importlib.import_module(f".{STUDIES[name]}", __name__).STUDY
