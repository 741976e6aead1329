"""`remanence memorize`: a string written into the smallest network that repeats it."""

import contextlib
import math
import pathlib
from typing import Annotated, Any

import typer

from .memory_said import say_memory


LARGEST = 256
"""Beyond this many units a construction is left out of the frontier."""


def memorize(
    word: Annotated[str | None, typer.Argument(help="The string; not needed with --check.")] = None,
    method: Annotated[
        str,
        typer.Option(help="auto, rotation, permutation, harmonic, rational, shift, tanh or once."),
    ] = "auto",
    end: Annotated[bool, typer.Option("--end", help="Stop after one reading.")] = False,
    start: Annotated[bool, typer.Option("--start", help="Begin at zero, through <START>.")] = False,
    steps: Annotated[
        int, typer.Option(help="How long the frontier's networks are run.", min=1)
    ] = 1_000_000,
    save: Annotated[
        pathlib.Path | None, typer.Option(help="Write the weights (safetensors).")
    ] = None,
    figure: Annotated[
        pathlib.Path | None,
        typer.Option(help="Draw the walk and the frontier (.svg, .png or .pdf)."),
    ] = None,
    check: Annotated[
        pathlib.Path | None, typer.Option(help="Prove a saved memory again, from its file alone.")
    ] = None,
    frontier: Annotated[bool, typer.Option(help="Also measure every other construction.")] = True,
    seed: Annotated[int, typer.Option(help="For drawn perturbations.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on stdout, no table.")
    ] = False,
) -> None:
    """Write a string into the smallest network that repeats it, with the proof that it does.

    Prints the network, its certificate, and the frontier: every other construction
    with its dimension, precision, stability and tolerance of noise. Weights of tanh
    memories (up to 2,048 units) have the names of torch.nn.RNN.
    """
    from .._prepare_jax import prepare_jax

    if check is not None:
        if word is not None:
            raise ValueError("give a word or --check, not both")
        say_memory(_checked(check), as_json)
        return
    if word is None:
        raise ValueError("a word is needed, or --check FILE")
    prepare_jax()
    from ..subjects.memorization.memorize import memorize as memorized
    from ..subjects.memorization.minimal.minimal_dimension import minimal_dimension
    from ..subjects.memorization.saved import standard, TORCH_UNITS

    memory = memorized(word, method=method, end=end, start=start)
    least = minimal_dimension(word, end=end)
    report = _described(memory, word) | {
        "minimal_dimension": {"lower": least.lower, "upper": least.upper, "optimal": least.optimal}
    }
    # At n + 1 the shift map serves, so that only the least |a| is sought.
    heard: Any = minimal_dimension(
        word, end=end, stability=len(memory.word.used) + 1.0, time_limit=2.0
    )
    report["one_unit"] = {
        "least": list(heard.least),
        "exact": heard.exact,
        "attained": heard.attained,
    }
    points = _frontier(word, end, steps, seed, quiet) if frontier else []
    report["frontier"] = [_plain(vars(p)) for p in points]
    if save is not None:
        memory.save(save)
        report["saved"] = str(save)
        if memory.method == "tanh" and not standard(memory):
            report["note"] = (
                f"beyond {TORCH_UNITS:,} units the file keeps the cycle as a rule: "
                "--check reads it, torch does not"
            )
    if figure is not None:
        _drawn(memory, points, word, figure)
        report["figure"] = str(figure)
    say_memory(report, as_json)


def _frontier(word: str, end: bool, steps: int, seed: int, quiet: bool) -> list[Any]:
    from ..subjects.memorization.frontier import METHODS, point
    from ..subjects.memorization.memorize import memorize as memorized
    from ..train.progress import progress_bar

    found = []
    with progress_bar(
        "every construction", total=len(METHODS), unit="networks", quiet=quiet
    ) as reached:
        for done, name in enumerate(METHODS, start=1):
            # Not every word fits a polygon, and long ones are too large to run so long.
            with contextlib.suppress(ValueError):
                one = memorized(word, method=name, end=end)
                if one.dimension <= LARGEST:
                    found.append(point(one, steps=steps, directions=64, seed=seed))
            reached(done)
    return sorted(found, key=lambda p: (p.dimension, -p.exponent))


def _described(memory: Any, word: str) -> dict[str, Any]:
    return {
        "word": word,
        "period": memory.word.period,
        "method": memory.method,
        "dimension": memory.dimension,
        "margin": _finite(memory.margin),
        "exponent": _finite(memory.exponent),
        "frequencies": list(memory.frequencies),
        "certificate": {
            "kind": memory.certificate.kind,
            "sentence": memory.certificate.sentence,
            "lead": _finite(memory.certificate.lead),
            "steps": _plain(dict(memory.certificate.steps)),
            "evidence": _plain(dict(memory.certificate.evidence)),
        },
        "says": str(memory.generate(2 * memory.word.period)),
    }


def _checked(path: pathlib.Path) -> dict[str, Any]:
    from ..subjects.memorization.certificates.file_check import check

    found = check(path)
    return {
        "file": str(path),
        "word": found.word,
        "method": found.method,
        "dimension": found.dimension,
        "certificate": {
            "kind": found.certificate.kind,
            "sentence": found.certificate.sentence,
            "lead": _finite(found.certificate.lead),
            "steps": _plain(dict(found.certificate.steps)),
        },
        "verified": True,
    }


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _finite(value) for name, value in values.items()}


def _drawn(memory: Any, points: list[Any], word: str, path: pathlib.Path) -> None:
    import matplotlib.pyplot as plt

    from ..report.style import style
    from ..subjects.memorization.config import Config
    from ..subjects.memorization.cost_figures import frontier_figure
    from ..subjects.memorization.walk_figures import walk_figure

    if path.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise ValueError(f"a figure is .svg, .png or .pdf, got {path.suffix or path.name!r}")
    with style("light"):
        chosen = frontier_figure(Config(word=word), points) if points else None
        canvas = walk_figure(memory).draw()
        canvas.savefig(path)
        plt.close(canvas)
        if chosen is not None:
            second = path.with_name(f"{path.stem}-frontier{path.suffix}")
            canvas = chosen.draw()
            canvas.savefig(second)
            plt.close(canvas)
