"""One study run by the command line, here or in a worker process, or read back."""

import dataclasses
import pathlib
import sys
import time
import traceback
from collections.abc import Callable

from .._prepare_jax import prepare_jax
from .._stop import check_stop
from ..report import DamagedResult, fingerprint, Record, StoredResult
from ..subjects import configured, parts_folder, reproduce, stored_result, study
from ..sweeps import Unfinished
from ..sweeps.pool import send_message
from ..train.progress import progress_listener
from .app import is_refusal, say
from .stop_signals import stop_on_signals, TimeUp


STOPPED = (KeyboardInterrupt, TimeUp, Unfinished)
Tell = Callable[[str], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the user asked for."""

    profile: str
    out: pathlib.Path
    seed: int
    again: bool = False
    deadline: float | None = None
    on: str | None = None

    def time_left(self) -> float | None:
        """Seconds until the time is up, if it ever is."""
        if self.deadline is not None and self.deadline <= time.monotonic():
            raise TimeUp
        return None if self.deadline is None else self.deadline - time.monotonic()


def cached_result(name: str, wishes: Wishes, *, just_made: bool = False) -> StoredResult | None:
    """What a run of the same code, configuration and seed left; a damaged one is named."""
    try:
        found = stored_result(wishes.out / name)
    except DamagedResult as problem:
        say(f"{problem}; {name} is computed again")
        return None
    mark = fingerprint(name, configured(study(name), wishes.profile), wishes.seed)
    if found is None or found.provenance.get("fingerprint") != mark:
        return None
    # The same code gave another verdict: the file is not what the run wrote.
    if found.notes:
        say(f"{found.notes[0]}; {name} is computed again")
        return None
    # An earlier run under a time limit may have left things out.
    return found if just_made or found.provenance.get("time_limit") is None else None


def run_study(name: str, wishes: Wishes, tell: Tell, progress: Tell | None) -> Record:
    """Run one study; `progress` gets every step, `tell` every stage."""
    parts = parts_folder(wishes.out, study(name), wishes.profile, wishes.seed)
    left = " (going on where it was stopped)" if parts.exists() and not wishes.again else ""
    tell(f"{wishes.profile} profile, {study(name).cost.get(wishes.profile, 'unknown')}{left}")
    stage, shown = "", 0.0

    def stages(sentence: str) -> None:
        nonlocal stage
        check_stop()
        stage = sentence
        tell(sentence)

    def steps(title: str, done: int, total: int, unit: str) -> None:
        nonlocal shown
        if progress is not None and time.monotonic() - shown > 0.2:
            shown = time.monotonic()
            progress(f"{stage or title}: {done} of {total} {unit}")

    with progress_listener(steps):
        return reproduce(
            name,
            wishes.profile,
            seed=wishes.seed,
            out=wishes.out,
            tell=stages,
            quiet=False,
            time_limit=wishes.time_left(),
            on=wishes.on,
            again=wishes.again,
        )


def run_in_worker(name: str, wishes: Wishes, live: bool) -> tuple[int, str, str]:
    """One study in a worker: its exit code, its seconds or why it failed, and a bug's traceback."""
    prepare_jax(one_thread=wishes.profile == "quick")
    begun = time.monotonic()
    tell = lambda sentence: send_message((name, sentence))
    try:
        with stop_on_signals(wishes.time_left()):
            run_study(name, wishes, tell, tell if live else None)
    except STOPPED as stop:
        return 130, str(stop), ""
    except Exception as error:
        if is_refusal(error):
            return 2, str(error), ""
        return 1, f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error))
    finally:
        # Studies share next to no compiled programs; the next one gets the memory.
        if (jax := sys.modules.get("jax")) is not None:
            jax.clear_caches()
    return 0, f"{time.monotonic() - begun:.3f}", ""
