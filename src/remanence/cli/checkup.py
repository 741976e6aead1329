"""`remanence checkup`: how long a trained network remembers, on one page."""

import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer import Argument, Exit, Option

from .app import say


PAGE = Path("checkup.html")


def checkup(
    model: Path = Argument(
        metavar="MODEL", help="Weights (.safetensors, .pt, .npz, .onnx, .h5, .keras), or a folder."
    ),
    inputs: Path | None = Option(None, help="Inputs, time x width (or tokens), as a .npy file."),
    lengths: Path | None = Option(None, help="How long each of several padded inputs is (.npy)."),
    text: Path | None = Option(None, help="A text, for a network with tokens."),
    vocab: Path | None = Option(None, help="Which characters tokens are: .json or a whole text."),
    noise: bool = Option(False, "--noise", help="White noise, where no file is given too."),
    steps: str | None = Option(None, help="How many steps, or all; 1000 of noise or a text."),
    error: float = Option(1e-3, help="The output error that windows are held to."),
    quick: bool = Option(False, "--quick", help="A few exponents, no long searches."),
    out: Path | None = Option(None, "--out", "--save", help="Write this .html or .json instead."),
    page: bool = Option(True, help="Write a page at all."),
    compare: list[Path] | None = Option(None, help="Another model, or a folder of checkpoints."),
    require: list[str] | None = Option(None, help='A gate: "window<=128"; else exit code 3.'),
    truncate_to: Path | None = Option(None, help="Write the truncated network for torch (.py)."),
    activation: str | None = Option(None, help="tanh or relu, where the file does not say."),
    prefix: str | None = Option(None, help="One of several recurrent networks; else each."),
    embedding: str | None = Option(None, help='The embedding\'s matrix by name; "": none.'),
    readout: str | None = Option(None, help='The readout\'s matrix by name; "": none.'),
    positions: str | None = Option(None, help="Read out at every step, or at the last."),
    seed: int = Option(0, help="Seed of the noise."),
    quiet: bool = Option(False, "--quiet", help="No progress."),
    as_json: bool = Option(False, "--json", help="One JSON document on stdout."),
) -> None:
    """How long does a trained network remember, and is it stable? One page.

    The verdict comes first, and the page is checkup.html. With --require the exit code
    is 3 when a requirement does not hold; any figure of the report can be required, of
    named inputs: --inputs, --text or --noise.
    """
    # Before anything imports JAX: else its cache of programs is not found, and every
    # checkup compiles anew. LAPACK's threads wait for each other at these sizes.
    from .._prepare_jax import prepare_jax

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    prepare_jax()
    from ..checkup import outputs
    from ..checkup.figures import failure, parse_requirement
    from ..checkup.language_model import is_language_model
    from ..checkup.sources import model_files, networks_in, Sources

    if text is not None and vocab is None and (model / "tokenizer.json").is_file():
        vocab = model / "tokenizer.json"  # a Hugging Face folder brings its own
    sources = Sources(
        inputs=inputs, lengths=lengths, text=text, vocab=vocab, noise=noise, steps=steps, seed=seed
    )
    if not 0 < error < math.inf:
        raise ValueError(f"--error must be a positive number, got {error}")
    for requirement in require or ():
        parse_requirement(requirement)
    if require:
        sources.refuse_unnamed()
    models = model_files([*(compare or ()), model])
    target = (out or PAGE) if page or out is not None else None
    outputs.refuse_bad_outputs(
        target, truncate_to, [*models, *sources.paths], named=out is not None
    )
    stems = [path.stem for path in models]
    loaded = []
    ends = {"embedding": embedding, "readout": readout, "positions": positions}
    named = {"inputs": inputs, "text": text, "require": require, "truncate-to": truncate_to} | ends
    alone = [f"--{option}" for option, value in named.items() if value]
    for path in models:
        for part, net, weights in networks_in(path, prefix, alone, activation=activation, **ends):
            given, lasts = sources.read(net)
            if require and given.partial:
                raise ValueError(
                    f"--require would hold on {given.words} only; --steps "
                    f"{len(given.values)} says that this is meant, --steps all takes the rest"
                )
            name = path.stem if stems.count(path.stem) == 1 else str(path)
            name = f"{name}: {part}" if part else name
            loaded.append((net, given, {"name": name, "weights": weights, "lengths": lasts}))
    last, given, _ = loaded[-1]
    if truncate_to is not None:
        outputs.module_for_torch(last)
    if len(loaded) > 1 and any(is_language_model(net) for net, *_ in loaded):
        raise ValueError("--compare goes with RNNs, LSTMs and GRUs; one language model would do")
    wishes = {"error": error, "quick": quick}
    found = [_examined(net, given, options | wishes, quiet) for net, given, options in loaded]
    _print(found, as_json)
    if target is not None:
        outputs.write_page(found, target)
        if not quiet:
            say(f"the {'document' if target.suffix == '.json' else 'page'} is {target}")
    if truncate_to is not None:
        outputs.write_truncated(last, found[-1].figures["window"] or math.inf, truncate_to)
        if not quiet:
            say(f"the truncated network is {truncate_to}, with its weights beside it")
    if given.white_noise and not noise and not quiet:
        say("this was white noise; --inputs or --text would measure on your own data")
    failures = [s for r in require or () if (s := failure(r, found[-1].figures)) is not None]
    for sentence in failures:
        say(f"{sentence} on {found[-1].inputs}")
    if failures:
        raise Exit(3)


def _examined(net: Any, given: Any, options: dict[str, Any], quiet: bool) -> Any:
    from ..checkup import checkup as examine
    from .progress import ProgressLines

    stage = ""
    with ProgressLines(quiet=quiet, say_seconds=False) as lines:

        def tell(sentence: str) -> None:
            nonlocal stage
            stage = sentence
            lines.tell(options["name"], sentence)

        def step(done: int, last: int) -> None:
            if lines.live:
                lines.tell(options["name"], f"{stage}: {done} of {last}")

        return examine(net, given, **options, tell=tell, progress=step)


def _print(found: Sequence[Any], as_json: bool) -> None:
    """What was measured, before anything is written: a full disk must not take it."""
    from ..checkup.figures import comparison_table
    from ..checkup.outputs import document

    if as_json:
        from .table import print_json

        print_json(document(found))
    elif sys.stdout.isatty():  # folded at words there, so that no number is cut
        from rich.text import Text

        from .table import console

        console().print(Text(found[-1].summary))
    else:
        sys.stdout.write(found[-1].summary + "\n")
    sys.stdout.flush()
    if len(found) > 1 and not as_json:
        from .table import console, plain_table

        console().print()
        console().print(plain_table(comparison_table(found)))
        sys.stdout.flush()
