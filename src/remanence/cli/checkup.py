"""`remanence checkup`: how long a trained network remembers, on one page."""

import os
import pathlib
import sys
from typing import Annotated, Any

import typer


def checkup(
    model: Annotated[
        pathlib.Path,
        typer.Argument(
            metavar="MODEL", help="A .safetensors file, or a folder of checkpoints."
        ),
    ],
    inputs: Annotated[
        pathlib.Path | None,
        typer.Option(help="Inputs, time x width (or tokens), as a .npy file."),
    ] = None,
    lengths: Annotated[
        pathlib.Path | None,
        typer.Option(help="How long each of several padded inputs is: a .npy file."),
    ] = None,
    text: Annotated[
        pathlib.Path | None, typer.Option(help="A text, for a network with tokens.")
    ] = None,
    noise: Annotated[
        bool, typer.Option("--noise", help="Independent noise (without a file, too).")
    ] = False,
    steps: Annotated[
        int, typer.Option(help="Steps of noise, or of the text, to hear.")
    ] = 1000,
    error: Annotated[
        float, typer.Option(help="The output error that windows are held to.")
    ] = 1e-3,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few exponents, no long searches.")
    ] = False,
    out: Annotated[
        pathlib.Path | None,
        typer.Option("--out", "--save", help="Write the page (.html) or .json here."),
    ] = None,
    compare: Annotated[
        list[pathlib.Path] | None,
        typer.Option(help="Another model, or a folder of checkpoints, side by side."),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(help='A gate: "window<=128"; exit code 3 if it does not hold.'),
    ] = None,
    truncate_to: Annotated[
        pathlib.Path | None,
        typer.Option(help="Write the truncated network for torch (.py and weights)."),
    ] = None,
    layout: Annotated[
        str, typer.Option(help="Names and gate order: torch, keras or flax.")
    ] = "torch",
    activation: Annotated[
        str | None, typer.Option(help="tanh or relu, where the file does not say.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(help="The recurrent module, where there are several.")
    ] = None,
    embedding: Annotated[
        str | None, typer.Option(help='The embedding\'s matrix by name; "": none.')
    ] = None,
    readout: Annotated[
        str | None, typer.Option(help='The readout\'s matrix by name; "": none.')
    ] = None,
    positions: Annotated[
        str | None, typer.Option(help="Read out at every step, or at the last.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the noise.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on stdout.")
    ] = False,
) -> None:
    """How long does a trained network remember, and is it stable? One page.

    The verdict comes first. With --require the exit code is 3 when a requirement
    does not hold; any figure of the report can be required.
    """
    # Before anything imports JAX: else its cache of programs is not found, and every
    # checkup compiles anew. LAPACK's threads wait for each other at these sizes.
    from .start import prepare_jax

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    prepare_jax()
    from ..checkup.gate import parsed

    if seed < 0 or steps < 20:
        raise ValueError("--seed must not be negative and --steps at least 20")
    if sum((inputs is not None, text is not None, noise)) > 1:
        raise ValueError("give one of --inputs, --text and --noise")
    if lengths is not None and inputs is None:
        raise ValueError("--lengths go with --inputs, and there are none")
    for requirement in require or ():
        parsed(requirement)
    if out is not None and out.suffix not in (".html", ".htm", ".json"):
        raise ValueError(f"--out takes an .html or .json file, got {out.name!r}")
    models = _models([*(compare or ()), model])

    from ..formats import load_and_tell

    found, net = [], None
    for path in models:
        net, taken = load_and_tell(
            path, layout=layout, activation=activation, prefix=prefix,
            embedding=embedding, readout=readout, positions=positions,
        )  # fmt: skip
        xs, heard = _heard(net, inputs, text, steps, seed)
        words = {"name": path.stem, "heard": heard, "taken": taken}
        ends = None if lengths is None else _heard(net, lengths, None, steps, seed)[0]
        found.append(_examined(net, xs, ends, words, error, quick, quiet))
    _deliver(found, net, out, as_json, quiet, truncate_to)
    _gate(found[-1], require or [])


def _models(given: list[pathlib.Path]) -> list[pathlib.Path]:
    """The files to examine, each once, the last one last; checkpoints by their numbers."""
    from .._order import counted

    models: dict[pathlib.Path, pathlib.Path] = {}
    for path in given:
        inside = [path]
        if path.is_dir():
            inside = sorted(path.glob("*.safetensors"), key=lambda p: counted(p.name))
            if not inside:
                raise FileNotFoundError(f"{path} holds no .safetensors file")
        for file in inside:
            if not file.exists():  # before the others have taken their minutes
                raise FileNotFoundError(f"there is no file {file}")
            models.pop(file.resolve(), None)
            models[file.resolve()] = file
    return list(models.values())


def _heard(net: Any, inputs: Any, text: Any, steps: int, seed: int):
    from ..checkup.heard import from_npy, from_text, noise

    if inputs is not None:
        return from_npy(inputs)
    if text is not None:
        return from_text(text, net, steps)
    return noise(net, steps, seed)


def _examined(net, xs, ends, words, error, quick, quiet):
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from ..checkup import checkup as examine

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),  # else it leaves an empty line
    ) as progress:
        task = progress.add_task(f"{words['name']}: reading", total=None)

        def tell(stage: str) -> None:
            progress.update(task, description=f"{words['name']}: {stage}", total=None)

        def step(done: int, last: int) -> None:
            progress.update(task, completed=done, total=last)

        return examine(
            net, xs, **words, lengths=ends, error=error, quick=quick, tell=tell,
            progress=step,
        )  # fmt: skip


def _deliver(found, net, out, as_json, quiet, truncate_to) -> None:
    import json

    from ..checkup.compare import compared
    from ..checkup.page import checkup_page
    from ..report import json_bytes, write_whole
    from .app import say

    last = found[-1]
    document = last.document
    if len(found) > 1:
        document = {"checkups": [each.document for each in found]}
    if out is not None:
        whole = out.suffix == ".json"
        write_whole(
            out, json_bytes(document) if whole else checkup_page(found).encode()
        )
        if not quiet:
            say(f"the {'document' if whole else 'page'} is {out}")
    if truncate_to is not None:
        from ..checkup.export import write_truncated

        write_truncated(net, last.figures["window"] or float("inf"), truncate_to)
        if not quiet:
            say(f"the truncated network is {truncate_to}, with its weights beside it")
    if as_json:
        plain = json.loads(json_bytes(document))
        sys.stdout.write(json.dumps(plain, indent=2, ensure_ascii=False) + "\n")
        return
    sys.stdout.write(last.summary + "\n")
    if len(found) > 1:
        _print_table(compared(found))


def _print_table(rows: list[list[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from .table import console

    table = Table(box=None)
    for name in rows[0]:
        table.add_column(Text(name))
    for row in rows[1:]:
        table.add_row(*(Text(cell) for cell in row))
    console().print()
    console().print(table)


def _gate(found: Any, requirements: list[str]) -> None:
    from ..checkup.gate import unmet
    from .app import say

    failures = [s for r in requirements if (s := unmet(r, found.figures)) is not None]
    for sentence in failures:
        say(sentence)
    if failures:
        raise typer.Exit(3)
