"""The order of the folders is the story; imports may only look back along it."""

import ast
import pathlib

import pytest

import remanence


STORY = (
    "__init__",
    "_types",
    "_cores",
    "_escape",
    "_fast_compile",
    "_natural_sort",
    "_precision",
    "_stop",
    "_atomic_write",
    *remanence.FOLDERS,
    "__main__",
)
PACKAGE = pathlib.Path(__file__).parents[1] / "src" / "remanence"
FILES = sorted(PACKAGE.rglob("*.py"))


def chapters(source: str, depth: int):
    """Chapters that a file `depth` folders down imports, at the top or inside functions."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(level=0, module=str(module)) if module.startswith("remanence."):
                yield module.split(".")[1]
            case ast.ImportFrom(level=0, module="remanence", names=names):
                yield from (alias.name for alias in names)
            case ast.Import(names=names):
                yield from (n.name.split(".")[1] for n in names if n.name.startswith("remanence."))
            case ast.ImportFrom(level=up, module=module, names=names) if up == depth + 1:
                yield from [module.split(".")[0]] if module else (n.name for n in names)


def chapter(path: pathlib.Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_only_look_back(path):
    here = chapter(path)
    assert here in STORY, f"{here} has no place in the story"
    depth = len(path.relative_to(PACKAGE).parts) - 1
    for name in chapters(path.read_text(), depth):
        if name in STORY:
            back = STORY.index(name) < STORY.index(here)
            assert back or name == here, f"{path.name} in {here} looks ahead to {name}"


def test_a_planted_backward_import_is_seen():
    planted = "def f():\n    from ..subjects import study\n    return study\n"
    assert list(chapters(planted, depth=1)) == ["subjects"]
    assert STORY.index("subjects") > STORY.index("cells")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_file_unpickles_or_flips_a_flag(path):
    source = path.read_text()
    for word in ("pickle.load", "allow_pickle=True", "torch.load", "jax.config.update"):
        allowed = word == "jax.config.update" and chapter(path) in ("cli", "web", "sweeps")
        # What a sweep sends its workers is a message, never a file.
        messengers = ("worker.py",)
        allowed |= word == "pickle.load" and chapter(path) == "sweeps" and path.name in messengers
        assert allowed or word not in source, f"{word} in {path.name}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_file_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text())), f"{path.name} opens without a word"
