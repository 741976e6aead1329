"""The order of the folders is the order of imports, and what every file keeps to.

An import is also one inside a function, and a module's name in a string.
"""

import ast
import graphlib
import pathlib
import re

import pytest

import remanence


PACKAGE = pathlib.Path(remanence.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
ORDER = (
    "__init__",
    *sorted(path.stem for path in PACKAGE.glob("_[a-z]*.py")),
    *remanence.FOLDERS,
    "__main__",
)
LONGEST = 250
"""Lines of a file."""
each_file = pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))


def module_name(path: pathlib.Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def imports(source: str, package: str):
    """The modules that a file of `package` names, anywhere and in any way."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(level=up, module=module, names=names):
                home = package.split(".")[: len(package.split(".")) - up + 1] if up else []
                base = ".".join([*home, *([module] if module else [])])
                yield from (f"{base}.{name.name}" for name in names)
            case ast.Constant(value=str(text)) if re.fullmatch(r"remanence(\.\w+)+", text):
                if text != package:  # where its data files are
                    yield text
            case ast.Call(func=function, args=[ast.Constant(value=str(text)), *_]):
                if "import" in ast.unparse(function) and text.startswith("."):
                    up = len(text) - len(text.lstrip("."))
                    home = package.split(".")[: len(package.split(".")) - up + 1]
                    yield ".".join([*home, text.lstrip(".")])


def imported(path: pathlib.Path) -> set[str]:
    """The modules of this package that a file imports, also from inside functions."""
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    named = set()
    for module in imports(path.read_text(), package):
        while module.startswith("remanence.") and module not in MODULES:
            module = module.rpartition(".")[0]
        named.add(module)
    return (named & MODULES.keys()) - {name}


def folder(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@each_file
def test_imports_only_look_back(path):
    here = folder(module_name(path))
    assert here in ORDER, f"{here} is in no order"
    for module in imported(path):
        there = folder(module)
        back = ORDER.index(there) < ORDER.index(here) or there == here
        # Private modules stand beside each other; cycles among them are seen below.
        assert back or (here[0] == there[0] == "_"), f"{path.name} looks ahead to {module}"


def test_nothing_general_knows_a_subject():
    general = remanence.FOLDERS[: remanence.FOLDERS.index("subjects")]
    for module, path in MODULES.items():
        if folder(module) in general:
            assert not [m for m in imported(path) if folder(m) == "subjects"], module


def test_no_module_imports_itself_by_way_of_others():
    graph = {module: imported(path) for module, path in MODULES.items()}
    list(graphlib.TopologicalSorter(graph).static_order())


def test_planted_imports_are_seen():
    planted = (
        "import importlib\n"
        "def f():\n    from ..subjects import study\n    return study\n"
        "def g(name):\n    return importlib.import_module('remanence.web.serve')\n"
        "def h(name):\n    return importlib.import_module('.sweeps.pool', 'remanence')\n"
    )
    found = set(imports(planted, "remanence.cells"))
    assert {"remanence.subjects.study", "remanence.web.serve"} <= found
    assert any(name.endswith("sweeps.pool") for name in found)
    assert ORDER.index("subjects") > ORDER.index("cells")


def test_the_folders_are_those_of_the_disk():
    there = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] != "_"}
    assert there == {*remanence.FOLDERS}


@each_file
def test_no_file_unpickles_or_flips_a_flag(path):
    source = path.read_text()
    for word in ("pickle.load", "allow_pickle=True", "torch.load", "jax.config.update"):
        # What a sweep sends its workers is a message, never a file.
        message = word == "pickle.load" and module_name(path) == "remanence.sweeps.worker"
        assert message or word not in source, f"{word} in {path.name}"


@each_file
def test_every_file_says_what_it_is_and_is_short(path):
    source = path.read_text()
    assert ast.get_docstring(ast.parse(source)), f"{path.name} opens without a word"
    assert len(source.splitlines()) <= LONGEST, f"{path.name} has more than {LONGEST} lines"
