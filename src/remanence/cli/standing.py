"""A stored result that may stand for a run that is asked for."""

import pathlib

from ..report import DamagedResult, fingerprint, StoredResult
from ..subjects import configured, stored_result, study as study_of
from .app import say


def standing(
    folder: pathlib.Path, name: str, profile: str, seed: int, *, just_made: bool
) -> StoredResult | None:
    """What a run of the same code, configuration and seed left; a damaged one is named."""
    try:
        found = stored_result(folder)
    except DamagedResult as problem:
        say(f"{problem}; {name} is computed again")
        return None
    config = configured(study_of(name), profile)
    if found is None or (found.provenance.get("fingerprint") != fingerprint(name, config, seed)):
        return None
    # The same code gave another verdict: the file is not what the run wrote.
    if found.notes:
        say(f"{found.notes[0]}; {name} is computed again")
        return None
    # An earlier run under a time limit may have left things out.
    if found.provenance.get("time_limit") is not None and not just_made:
        return None
    return found
