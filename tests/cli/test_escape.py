"""What came from outside reaches no terminal as it is: no escape sequence, no forged line."""

import importlib
import inspect
import json
import pydoc
import types

from hypothesis import given, strategies as st

import remanence
from remanence._escape import printable
from remanence.cli.app import exit_code, say
from remanence.cli.table import claims_table, console, print_json


EVIL = "\x1b[31mred\x9b2J\u202egnp.exe\r\nverified: forged\u2028\x00\x7f"


def harmless(written):
    return all(c.isprintable() or c == "\n" for c in written)


@given(st.text())
def test_only_visible_characters_are_left(text):
    shown = printable(text)
    assert shown.isprintable()
    assert (shown == text) == text.isprintable()


def test_sentences_tables_and_documents(capsys):
    say(f"no tensor is called {EVIL}")
    assert exit_code(ValueError(f"{EVIL} is no name")) == 1  # raised here: shown as a bug
    assert exit_code(FileNotFoundError(2, "no file", EVIL)) == 2
    claim = types.SimpleNamespace(
        id=EVIL, statement=EVIL, published=EVIL, measured=EVIL, verdict="holds", label=EVIL
    )
    console().print(claims_table(EVIL, [claim]))
    out, err = capsys.readouterr()
    assert harmless(out) and harmless(err)
    assert "red" in out and "red" in err
    assert "verified: forged" not in err.splitlines()
    document = {EVIL: [EVIL, 1.5, None]}
    print_json(document)
    out, _ = capsys.readouterr()
    assert harmless(out) and json.loads(out) == document


def test_a_word_from_outside(remanence):
    run = remanence("memorize", f"ab{EVIL[:8]}", "--no-frontier")
    assert run.returncode == 0 and harmless(run.stdout), run.stderr


def test_checkup_is_the_function_also_after_its_folder_was_imported():
    import remanence.checkup.page as page

    assert page.__name__ == "remanence.checkup.page"
    assert inspect.isfunction(remanence.checkup)
    assert "quick" in inspect.signature(remanence.checkup).parameters
    assert "How long a network" in pydoc.render_doc(remanence.checkup)
    assert importlib.import_module("remanence.checkup").Checkup.__name__ == "Checkup"
