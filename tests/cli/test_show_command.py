"""What a stored result says of itself, and what to cite."""

import json


def test_show_prints_the_table_and_the_document(everything, remanence):
    out, _ = everything
    table = remanence("show", "memorization", "--out", out)
    assert table.returncode == 0 and table.stderr == ""
    assert "refuted (quick)" in table.stdout and "0 wrong symbols" in table.stdout
    document = json.loads(remanence("show", "--json", "--out", out).stdout)
    assert len(document["studies"]) == 4


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
    document = json.loads(
        remanence("show", "memorization", "--out", out, "--json").stdout
    )
    assert document["provenance"]["memorization"]["fingerprint"] == known["fingerprint"]


def test_a_page_alone_is_written_on_request(everything, remanence, tmp_path):
    out, _ = everything
    page = tmp_path / "alone.html"
    run = remanence("show", "memorization", "--out", out, "--page", page)
    assert run.returncode == 0 and page.stat().st_size > 1_000_000
    refused = remanence("show", "all", "--out", out, "--page", page)
    assert refused.returncode == 2 and "one result, not all" in refused.stderr


def test_cite_prints_the_reference(remanence):
    run = remanence("cite", "memorization")
    assert run.returncode == 0 and "A document with an & and a <tag>." in run.stdout
    assert "memorization" in json.loads(remanence("cite", "--json").stdout)["studies"]
