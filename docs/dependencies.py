"""What each dependency of pyproject.toml weighs on disk, as a table in Markdown.

    python docs/dependencies.py [EXTRA ...]     the core, or the extras named

"alone" is the size of its own files; "saved without it" adds what nothing else needs.
"""

import pathlib
import re
import sys
import tomllib
from importlib.metadata import distribution, PackageNotFoundError


PROJECT = pathlib.Path(__file__).parents[1] / "pyproject.toml"


def name_of(requirement: str) -> str:
    """The normalised name in front of a requirement's version and markers."""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def installed_sizes(requirements: list[str]) -> dict[str, float]:
    """The MB of everything that is installed for these requirements, by name."""
    sizes: dict[str, float] = {}
    waiting = [name_of(r) for r in requirements]
    while waiting:
        name = waiting.pop()
        try:
            found = distribution(name)
        except PackageNotFoundError:  # needed on other systems only
            continue
        if name in sizes:
            continue
        paths = [pathlib.Path(str(found.locate_file(f))) for f in found.files or ()]
        sizes[name] = sum(p.stat().st_size for p in paths if p.is_file()) / 1e6
        waiting += [name_of(r) for r in found.requires or () if "extra ==" not in r]
    return sizes


def main(extras: list[str]) -> None:
    """Print the table."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    optional = project["optional-dependencies"]
    chosen = [r for e in extras for r in optional[e]] or project["dependencies"]
    whole = installed_sizes(chosen)
    lines = ["| dependency | alone, MB | saved without it, MB |", "|---|---|---|"]
    for name in map(name_of, chosen):
        rest = installed_sizes([r for r in chosen if name_of(r) != name])
        saved = sum(size for other, size in whole.items() if other not in rest)
        lines.append(f"| {name} | {whole[name]:.1f} | {saved:.1f} |")
    large = sorted(whole.items(), key=lambda item: -item[1])[:6]
    lines.append(f"\n{len(whole)} packages, {sum(whole.values()):.0f} MB. The largest:")
    lines.append(", ".join(f"{name} {size:.0f}" for name, size in large))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
