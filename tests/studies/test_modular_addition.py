"""The study end to end on a table of eleven, and the parts that draw."""

import dataclasses
import io
import sys

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr

from remanence.construct import adder
from remanence.report import Bench, judged
from remanence.studies import study
from remanence.studies.modular_addition.ablations import pair_table
from remanence.studies.modular_addition.config import Config, Recipe
from remanence.studies.modular_addition.dissection import dissected, growing
from remanence.studies.modular_addition.film import animated, film_figure


mpl.use("Agg")


def test_a_written_adder_is_dissected_as_it_was_written():
    built = adder(17, (1, 4, 6), doubled=False)
    found = dissected(built.net, built.task)
    assert found.key == (1, 4, 6)
    assert found.accuracy == 1.0
    for node in ("W_E", "h1", "W_fc"):
        assert found.nodes[node].frequencies == (1, 4, 6)
    assert found.ranks["W_E"].rank == found.ranks["W_hh"].rank == 6
    assert found.ranks["W_fc"].rank == 6
    assert set(found.vectors[1]) == {1, 4, 6}


def test_pairs_removed_from_the_logits_are_pairs_removed_from_the_weights():
    from remanence.measure.ablation import ablated_accuracy

    for operation in ("+", "×"):
        built = adder(11, operation=operation)
        table = pair_table(built.net, built.task)
        for gone in ((1,), (1, 3), (2, 5)):
            ours = float(table.sel(frequency=gone[0], other=gone[-1]))
            plain = ablated_accuracy(built.net, built.task, gone, at="unembedding")
            # Answers that are tied once their waves are gone may fall either way.
            assert ours == pytest.approx(plain, abs=0.1)


def test_subsets_grow_from_none_to_all():
    sizes = growing((1, 2, 3, 4), most=3, seed=0)
    assert sizes[0] == [()] and sizes[-1] == [(1, 2, 3, 4)]
    assert [len(s) for s in sizes] == [1, 3, 3, 3, 1]


def test_each_frame_of_the_film_is_visible_in_its_turn():
    svg = '<g id="frame-0-W_E"><g id="frame-1-W_E"><g id="frame-2-W_E"><g id="axes">'
    moving = animated(svg, 3)
    assert moving.count("<animate") == 3
    assert 'values="visible;hidden" keyTimes="0.00000;0.33333"' in moving
    assert 'values="hidden;visible;hidden" keyTimes="0.00000;0.33333;0.66667"' in moving
    assert 'values="hidden;visible" keyTimes="0.00000;0.66667"' in moving
    assert '<g id="frame-2-W_E" visibility="visible">' in moving


def test_the_film_moves_in_svg_and_stands_still_in_png():
    one = xr.Dataset(
        {
            "energy": (("step", "tensor", "frequency"), np.ones((3, 2, 5))),
            "held_out": ("step", [0.0, 0.5, 1.0]),
        },
        coords={"step": [1, 2, 3], "tensor": ["W_E", "W_fc"]},
    )
    figure, buffer = film_figure(one), io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    assert (
        buffer.getvalue().count(b"<animate") == 9
    )  # three frames: two spectra, a text
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    assert buffer.getvalue()[:4] == b"\x89PNG"


TINY = Recipe(
    modulus=11,
    steps=400,
    every=50,
    units=32,
    embedding=16,
    fraction=0.9,
    learning_rate=1e-2,
    weight_decay=1.0,
)


def test_the_whole_study_on_a_table_of_eleven(tmp_path, monkeypatch):
    chosen = study("modular-addition")
    monkeypatch.setattr(
        sys.modules[chosen.run.__module__], "WRITTEN", (3, 12)
    )  # each modulus compiles anew
    config = Config(
        main=TINY,
        seeds=(0,),
        others=TINY,
        cells=(),
        operations=(),
        sweep=dataclasses.replace(TINY, steps=20, every=20),
        fractions=(0.9,),
        decays=(1.0,),
        widths=(8,),
        sweep_seeds=1,
        subsets=2,
        exponent_steps=60,
    )
    told = []
    outcome = chosen.run(config, Bench(folder=tmp_path, tell=told.append))
    ids = {statement.id for statement in chosen.statements}
    assert set(outcome.evidence) == ids and len(told) > 5
    for statement in chosen.statements:
        claim = judged(
            statement,
            outcome.evidence[statement.id],
            document="002",
            command="",
            profile="quick",
        )
        assert claim.measured
    assert outcome.evidence["002.1"]["accuracy"][0] > 0.9
    assert outcome.evidence["002.11"]["tried"][0]["right"] == 1.0
    assert outcome.data["cross"].sizes["network"] == 2
    names = [figure.name for figure in outcome.figures]
    assert len(names) == len(set(names)) == 10
