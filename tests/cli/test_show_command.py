"""What a stored result says of itself, and what to cite."""

import html
import json
import pathlib
import shlex
import shutil

import pytest
from command import ended

from remanence.report.stored_result import digest
from remanence.subjects import STUDIES


def test_show_prints_the_table_and_the_document(everything, remanence):
    out, _ = everything
    table = remanence("show", "memorization", "--out", out)
    assert table.returncode == 0 and table.stderr == ""
    assert "refuted (quick)" in table.stdout and "0 wrong symbols" in table.stdout
    document = json.loads(remanence("show", "--json", "--out", out).stdout)
    assert len(document["studies"]) == len(STUDIES) - 1  # one failed


def test_show_says_where_a_result_comes_from_and_how_to_redo_it(everything, remanence):
    out, _ = everything
    by_name = remanence("show", "memorization", "--out", out)
    by_folder = remanence("show", out / "memorization")
    assert by_name.stdout == by_folder.stdout
    said = " ".join(by_name.stdout.split())
    known = json.loads((out / "memorization" / "provenance.json").read_text())
    for words in (
        "word abracadabra",  # the configuration
        f"jax {known['versions']['jax']}",
        "measurements float64",
        known["processor"],
        known["code"][:20],
        "remanence reproduce memorization --profile quick --seed 0 --out",
    ):
        assert words in said
    document = json.loads(remanence("show", "memorization", "--out", out, "--json").stdout)
    assert document["provenance"]["memorization"]["fingerprint"] == known["fingerprint"]


def test_the_page_says_it_too(everything):
    folder = everything[0] / "memorization"
    known = json.loads((folder / "provenance.json").read_text())
    text = (folder / "index.html").read_text()
    made = text[text.index("How this was made") :]
    for word in (known["processor"], known["code"], "measurements float64"):
        assert html.escape(word) in made
    assert known["sweeps"] == "on this machine"


def test_the_command_to_redo_it_is_one_that_a_shell_takes(
    everything, remanence, tmp_path, monkeypatch
):
    out, _ = everything
    home = tmp_path / "my runs; x"
    shutil.copytree(out / "memorization", home / "memorization")
    redo = remanence("show", home / "memorization").stdout.strip().splitlines()[-1]
    words = shlex.split(redo)
    assert words[0] == "remanence" and words[-3:] == ["--out", str(home), "--again"]
    before = (home / "memorization" / "provenance.json").stat().st_mtime_ns
    assert remanence(*words[1:]).returncode == 0
    assert (home / "memorization" / "provenance.json").stat().st_mtime_ns > before
    # From inside the folder, its parent is not the folder itself.
    monkeypatch.chdir(home / "memorization")
    inside = remanence("show", ".").stdout
    assert f"--out {shlex.quote(str(home.resolve()))} --again" in inside


def test_a_verdict_that_its_rule_does_not_give_is_said_and_not_shown(
    everything, remanence, tmp_path
):
    folder = shutil.copytree(everything[0] / "memorization", tmp_path / "memorization")
    claims, listed = folder / "claims.json", folder / "provenance.json"
    claims.write_text(claims.read_text().replace('"verdict": "refuted"', '"verdict": "holds"'))
    provenance = json.loads(listed.read_text())
    provenance["files"]["claims.json"] = digest(claims)
    listed.write_text(json.dumps(provenance))
    run = remanence("show", folder, "--json")
    assert "000.3 is stored as 'holds', and its rule gives 'refuted'" in run.stderr
    (study,) = json.loads(run.stdout)["studies"]
    assert [claim["verdict"] for claim in study["claims"]][2] == "refuted"
    # It does not stand for a run either.
    again = remanence("reproduce", "memorization", "--out", tmp_path)
    assert again.returncode == 0 and "memorization is computed again" in again.stderr


def test_cite_prints_bibtex(remanence):
    run = remanence("cite", "stable-recurrence")
    assert run.returncode == 0
    assert run.stdout.count("@misc{") == 2 and "Miller, John and Hardt" in run.stdout
    found = json.loads(remanence("cite", "--json").stdout)["studies"]
    assert set(found) == set(STUDIES)
    assert found["stable-recurrence"].startswith("Miller and Hardt (2019), Stable")
    assert found["shared-representations"].startswith("Saxe et al. (2022)")


@pytest.mark.parametrize("name", STUDIES)
def test_the_full_results_of_the_repository_are_shown(name, capfd):
    folder = pathlib.Path(__file__).parents[2] / "docs" / "results" / name
    run = ended(capfd, "show", folder)
    stored = json.loads((folder / "claims.json").read_text())
    assert run.returncode == 0 and f"({stored['profile']}, seed 0)" in run.stdout
    assert all(claim["id"] in run.stdout for claim in stored["claims"])
    assert run.stdout.rstrip().endswith(stored["claims"][0]["command"])  # how it is made anew
    known = (folder / "provenance.json").exists()
    assert known != ("nothing is stored about it" in run.stdout)
