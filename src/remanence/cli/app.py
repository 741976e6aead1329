"""The command line's front: which commands there are, and how a run ends.

Exit codes: 0 done, 2 refused with a sentence, 130 interrupted, 1 a bug. Only the
module of the command that was asked for is imported, so that help needs no JAX.
"""

import importlib
import inspect
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from .. import __version__
from .._escape import printable


COMMANDS = {
    "memorize": (
        "Write a string into the smallest network that repeats it.",
        'remanence memorize "abracadabra"',
    ),
    "checkup": (
        "How long does a trained network remember, and is it stable? One page.",
        "remanence checkup model.pt --text corpus.txt",
    ),
    "reproduce": (
        "Run a study: its claims, measured beside what was published.",
        "remanence reproduce memorization --profile quick --out results",
    ),
    "show": (
        "The claims that are already in a results folder.",
        "remanence show memorization --out results",
    ),
    "cite": ("The references of a study.", "remanence cite stable-recurrence"),
    "serve": ("The lab in a browser, on this machine only.", "remanence serve"),
}
"""Each command with its sentence and an example; `cli/NAME.py`, or `web/serve.py`, has it."""


def _version(asked: bool) -> bool:
    if asked:
        typer.echo(f"remanence {__version__}")
        raise typer.Exit
    return asked


def _front(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """A laboratory for memory in recurrent networks."""


def application(wanted: str | None) -> typer.Typer:
    """The commands; only the wanted one is imported, the others are named."""
    app = typer.Typer(
        name="remanence",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        epilog="Start here:  remanence reproduce memorization",
    )
    app.callback()(_front)
    for name, (sentence, example) in COMMANDS.items():
        function = lambda: None
        if name == wanted:
            home = "remanence.web.serve" if name == "serve" else f"{__package__}.{name}"
            function = getattr(importlib.import_module(home), name)
            sentence = inspect.getdoc(function) or ""
        # Paragraphs wrap where the terminal ends, not where we did.
        words = "\n\n".join(" ".join(text.split()) for text in sentence.split("\n\n"))
        app.command(name, help=words, epilog=f"Example:  {example}")(function)
    return app


def is_refusal(error: BaseException) -> bool:
    """Is it the system's, or a ValueError raised by our own line? Else it is a bug."""
    if not isinstance(error, ValueError):
        return isinstance(error, OSError)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    name = frames[-1].f_globals.get("__name__", "") if frames else ""
    return name.split(".")[0] == "remanence"


def say(sentence: str) -> None:
    """One sentence on stderr."""
    sys.stderr.write(printable(" ".join(sentence.split())) + "\n")


def exit_code(error: BaseException) -> int:
    """Tell the user what happened, and how the process ends."""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        say("interrupted")
        return 130
    if hasattr(error, "format_message"):  # typer's own refusals of the arguments
        say(error.format_message())  # pyright: ignore[reportAttributeAccessIssue]
        return 2
    if isinstance(error, BrokenPipeError):
        # Whoever read us has had enough; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, OSError) and error.filename is not None:
        say(f"{error.strerror or error}: {error.filename}")
        return 2
    if is_refusal(error):
        say(str(error))
        return 2
    sys.stderr.write(printable("".join(traceback.format_exception(error)), keep="\n"))
    say(f"this is a bug in remanence {__version__}: please report the lines above")
    return 1


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    here = threading.current_thread() is threading.main_thread()
    if here and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # Scripts start `command &` with interrupts ignored; ours needs them to keep its parts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        # Arguments may hold bytes that are no text; they are then shown escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    wanted = next((word for word in words if not word.startswith("-")), None)
    try:
        app = application(wanted)
        result = app(args=words, prog_name="remanence", standalone_mode=False)
        sys.stdout.flush()
        code = result if isinstance(result, int) else 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException as error:
        code = exit_code(error)
    sys.exit(code)
