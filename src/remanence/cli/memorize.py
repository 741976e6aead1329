"""`remanence memorize`: a string written into the smallest network that repeats it."""

from pathlib import Path
from typing import Any

from typer import Argument, Option


PROOF = ("kind", "sentence", "lead", "steps", "evidence")


def memorize(
    word: str | None = Argument(None, help="The string; not needed with --check."),
    method: str = Option(
        "auto", help="auto, rotation, permutation, harmonic, rational, shift, tanh or once."
    ),
    end: bool = Option(False, "--end", help="Stop after one reading."),
    start: bool = Option(False, "--start", help="Begin at zero, through <START>."),
    steps: int = Option(1_000_000, min=1, help="How long the frontier's networks are run."),
    save: Path | None = Option(None, help="Write the weights (safetensors)."),
    figure: Path | None = Option(None, help="Draw the walk and the frontier (.svg, .png or .pdf)."),
    check: Path | None = Option(None, help="Prove a saved memory again, from its file alone."),
    frontier: bool = Option(False, help="Also measure every other construction."),
    seed: int = Option(0, help="For drawn perturbations."),
    quiet: bool = Option(False, "--quiet", help="No progress."),
    as_json: bool = Option(False, "--json", help="One JSON document on stdout, no table."),
) -> None:
    """Write a string into the smallest network that repeats it, with the proof that it does.

    Prints the network and its certificate, how small any network could be and, with
    --frontier, every other construction with its dimension, precision, stability and
    tolerance of noise. Files hold memories of up to 2,048 units; those of tanh have the
    names of torch.nn.RNN.
    """
    from .table import console, print_json, visible

    out = console()
    say = lambda line: None if as_json else out.print(visible(line))
    if check is not None:
        if word is not None:
            raise ValueError("give a word or --check, not both")
        from ..subjects.memorization.certificates.file_check import check as checked

        found = checked(check)
        report = _named(found, "word", "method", "dimension") | {"file": str(check)}
        report |= {"certificate": _named(found.certificate, *PROOF), "verified": True}
        say_memory(report, "verified from its file", say)
    else:
        if word is None:
            raise ValueError("a word is needed, or --check FILE")
        if figure is not None and figure.suffix.lower() not in (".svg", ".png", ".pdf"):
            what = figure.suffix or figure.name
            raise ValueError(f"a figure is .svg, .png or .pdf, got {what!r}")
        for path in (save, figure):
            if path is not None and not path.absolute().parent.is_dir():
                raise ValueError(f"there is no folder {path.parent} to write {path.name} into")
        from ..subjects.memorization.memorize import memorize as memory_of

        memory = memory_of(word, method=method, end=end, start=start)
        names = ("method", "dimension", "margin", "exponent", "frequencies")
        report = _named(memory, *names) | {"word": word, "period": memory.word.period}
        report["certificate"] = _named(memory.certificate, *PROOF)
        report["says"] = str(memory.generate(2 * memory.word.period))
        say_memory(report, "written", say)
        report |= _bounds(word, end, len(memory.word.used), say)
        points = _frontier(word, end, steps, seed, quiet) if frontier else []
        report["frontier"] = [vars(point) for point in points]
        if points and not as_json:
            out.print(frontier_table(report["frontier"]))
        report |= _files(memory, points, save, figure)
        for name in ("saved", "figure"):
            if name in report:
                say(f"{name}: {report[name]}")
    if as_json:
        print_json(report)


def say_memory(report: dict[str, Any], verb: str, say: Any) -> None:
    """The network and its proof."""
    units = "unit" if report["dimension"] == 1 else "units"
    say(f"“{report['word']}” in {report['dimension']} {units} ({report['method']}), {verb}")
    say(report["certificate"]["sentence"])
    if "margin" in report:
        say(f"margin {report['margin']:.6g}, largest exponent {report['exponent']:.6g} nats/step")


def _bounds(word: str, end: bool, symbols: int, say: Any) -> dict[str, Any]:
    """How small any memory of the word could be, and how stable one unit."""
    from ..subjects.memorization.minimal.minimal_dimension import minimal_dimension

    least = minimal_dimension(word, end=end)
    more = "" if least.optimal else f"; at most {least.upper} are needed"
    say(f"no linear memory without feedback has fewer than {least.lower} dimensions (proved){more}")
    # At n + 1 the shift map serves, so that only the least |a| is sought.
    one: Any = minimal_dimension(word, end=end, stability=symbols + 1.0, time_limit=2.0)
    low, high = one.least
    serves = "every |a| just above it does (exact)" if one.exact else f"{high:.6g} does"
    serves = "a = 0 serves" if one.attained else f"no |a| up to {low:.6g} serves, {serves}"
    say(f"one unit with feedback, h' = a h + c: {serves}")
    bounds = {"lower": least.lower, "upper": least.upper, "optimal": least.optimal}
    unit = {"least": list(one.least), "exact": one.exact, "attained": one.attained}
    return {"minimal_dimension": bounds, "one_unit": unit}


def _frontier(word: str, end: bool, steps: int, seed: int, quiet: bool) -> list[Any]:
    from .._prepare_jax import prepare_jax

    prepare_jax()
    from ..subjects.memorization.frontier import frontier, METHODS
    from ..train.progress import progress_bar

    points, found = frontier(word, steps=steps, directions=64, seed=seed, end=end), []
    shown = {"total": len(METHODS), "unit": "networks", "quiet": quiet}
    with progress_bar("every construction", **shown) as reached:
        for done, point in enumerate(points, start=1):
            found += [point] if point is not None else []
            reached(done)
    return sorted(found, key=lambda p: (p.dimension, -p.exponent))


def frontier_table(rows: list[dict[str, Any]]) -> Any:
    """A column a construction."""
    from .table import plain_table

    short = lambda value: f"{value:.4g}" if isinstance(value, float) else str(value).lower()
    names = [name for name in rows[0] if name != "method"]
    table = [[name.replace("_", " "), *(short(row[name]) for row in rows)] for name in names]
    return plain_table([["", *(row["method"] for row in rows)], *table])


def _named(record: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _files(
    memory: Any, points: list[Any], save: Path | None, figure: Path | None
) -> dict[str, str]:
    """Write what was asked for, and say where it is."""
    done = {}
    if save is not None:
        memory.save(save)
        done["saved"] = str(save)
    if figure is not None:
        from .._prepare_jax import prepare_jax

        prepare_jax()
        import matplotlib.pyplot as plt

        from ..report.style import style
        from ..subjects.memorization.figures import frontier_figure, walk_figure

        title, word = f"{memory.method}, d = {memory.dimension}", memory.word
        drawings = {figure: walk_figure({title: memory}, "walk", title, "")}
        if points:
            beside = figure.with_name(f"{figure.stem}-frontier{figure.suffix}")
            drawings[beside] = frontier_figure("".join(word.join(word.indices)), points)
        with style("light"):
            for path, drawing in drawings.items():
                canvas = drawing.draw()
                canvas.savefig(path)
                plt.close(canvas)
        done["figure"] = str(figure)
    return done
