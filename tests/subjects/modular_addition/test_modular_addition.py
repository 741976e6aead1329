"""The study end to end on a table of eleven, and the parts that draw."""

import dataclasses
import io
import sys

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr

from remanence.measure.fourier import spectrum
from remanence.report import Bench, judge
from remanence.report.tables import csv_tables
from remanence.subjects import study
from remanence.subjects.modular_addition.ablations import ablations, growing
from remanence.subjects.modular_addition.claims.beyond import negative
from remanence.subjects.modular_addition.claims.recipes import depends
from remanence.subjects.modular_addition.config import Config, Recipe
from remanence.subjects.modular_addition.dissection import dissect, profile
from remanence.subjects.modular_addition.dynamics import pad_network
from remanence.subjects.modular_addition.exact_adder import adder
from remanence.subjects.modular_addition.frequency_counts import narrowed
from remanence.subjects.modular_addition.task import Modular
from remanence.subjects.modular_addition.training_animation import animated, animation_figure
from remanence.subjects.modular_addition.weights_figures import merged_labels


mpl.use("Agg")


def test_a_written_adder_is_dissected_as_it_was_written():
    built = adder(17, (1, 4, 6), doubled=False)
    found = dissect(built.net, built.task)
    assert found.key == (1, 4, 6)
    assert found.accuracy == 1.0
    for node in ("W_E", "h1", "W_fc"):
        assert found.nodes[node].frequencies == (1, 4, 6)
    assert found.ranks["W_E"].rank == found.ranks["W_hh"].rank == 6
    assert found.ranks["W_fc"].rank == 6
    assert set(found.vectors[1]) == {1, 4, 6}


def test_every_pair_is_removed_and_each_alone_on_the_diagonal():
    from remanence.subjects.modular_addition.ablation import ablated_accuracy

    built = adder(11, (1, 3))
    cuts = ablations(built.net, built.task, (1, 3), subsets=2, seed=0, pairs=("embedding", "h2"))
    assert cuts.pairs is not None and cuts.pairs.shape == (2, 5, 5)
    assert set(cuts.single) == {"embedding", "h1", "h2", "h3", "unembedding"}
    for place in ("embedding", "h2"):
        for gone in ((1,), (1, 3), (2, 5)):
            ours = float(cuts.pairs.sel(place=place, frequency=gone[0], other=gone[-1]))
            plain = ablated_accuracy(built.net, built.task, gone, at=place)
            # Answers that are tied once their waves are gone may fall either way.
            assert ours == pytest.approx(plain, abs=0.1)
            assert ours == float(cuts.pairs.sel(place=place, frequency=gone[-1], other=gone[0]))
    assert [len(size) for size in cuts.growing["h1"]] == [1, 2, 1]
    assert cuts.growing["h1"][0] == [1.0] and cuts.control[0] == [1.0]


def test_a_narrowed_network_trains_as_narrow():
    """Units that start at zero stay there, so a width is a number and not a shape."""
    import jax
    import jax.numpy as jnp
    import jax.random as jr

    from remanence.subjects.modular_addition.all_pairs import pairs_of
    from remanence.subjects.modular_addition.fit_modular import modular_network, table_loss
    from remanence.subjects.modular_addition.task import Modular

    task = Modular(7)
    net = narrowed(modular_network(task, embedding=4, units=6, key=jr.key(0)), 4)
    seen = task.training_pairs(0.8, key=jr.key(1))
    data = (pairs_of(seen, task.answers), jnp.asarray(seen))
    arrays = net_arrays(net)

    @jax.jit
    def stepped(arrays):
        slope = jax.grad(lambda a: table_loss(with_arrays(net, a), data, None))(arrays)
        return jax.tree.map(lambda a, g: 0.99 * a - 0.1 * g, arrays, slope)

    for _ in range(5):
        arrays = stepped(arrays)
    W_h, W_x, W_y = arrays
    assert not np.any(W_h[4:]) and not np.any(W_h[:, 4:])
    assert not np.any(W_x[4:]) and not np.any(W_y[:, 4:])
    assert np.all(np.abs(W_h[:4, :4]) > 0)


def test_a_widened_network_gives_the_same_answers():
    import jax.random as jr

    from remanence.subjects.modular_addition.ablation import modular_logits
    from remanence.subjects.modular_addition.fit_modular import modular_network

    built = adder(11, (1, 3))
    large = modular_network(built.task, embedding=20, units=24, key=jr.key(0))
    wide = pad_network(built.net, like=large)
    assert wide.cell.W_x.shape == large.cell.W_x.shape
    np.testing.assert_allclose(
        modular_logits(wide, built.task), modular_logits(built.net, built.task)
    )
    small = modular_network(built.task, embedding=2, units=4, key=jr.key(0))
    assert pad_network(built.net, like=small).cell.W_x.shape == built.net.cell.W_x.shape


def net_arrays(net):
    return net.cell.W_h, net.cell.W_x, net.W_y


def with_arrays(net, arrays):
    import equinox as eqx

    return eqx.tree_at(net_arrays, net, arrays)


def test_subsets_grow_from_none_to_all():
    sizes = growing((1, 2, 3, 4), most=3, seed=0)
    assert sizes[0] == [()] and sizes[-1] == [(1, 2, 3, 4)]
    assert [len(s) for s in sizes] == [1, 3, 3, 3, 1]


def test_frequencies_too_near_for_two_labels_share_one():
    shares = np.full(21, 0.01)
    shares[[14, 15, 20]] = 0.2, 0.3, 0.25
    labels = merged_labels((21, 15, 16), shares)
    assert labels == [(15.5, 0.3, "15, 16"), (21.0, 0.25, "21")]
    assert merged_labels((), shares) == []
    # A low bar far from the others keeps its own label, at its own height.
    assert merged_labels((3, 16), shares)[0] == (3.0, 0.01, "3")


def test_each_frame_is_visible_in_its_turn():
    svg = '<g id="frame-0-W_E"><g id="frame-1-W_E"><g id="frame-2-W_E"><g id="axes">'
    moving = animated(svg, 3)
    assert moving.count("<animate") == 3
    assert 'values="visible;hidden" keyTimes="0.00000;0.33333"' in moving
    assert 'values="hidden;visible;hidden" keyTimes="0.00000;0.33333;0.66667"' in moving
    assert 'values="hidden;visible" keyTimes="0.00000;0.66667"' in moving
    assert '<g id="frame-2-W_E" visibility="visible">' in moving


def test_the_animation_moves_in_svg_and_stands_still_in_png():
    one = xr.Dataset(
        {
            "energy": (("step", "tensor", "frequency"), np.ones((3, 2, 5))),
            "held_out": ("step", [0.0, 0.5, 1.0]),
        },
        coords={"step": [1, 2, 3], "tensor": ["W_E", "W_fc"]},
    )
    figure, buffer = animation_figure(one), io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    assert buffer.getvalue().count(b"<animate") == 9  # three frames: two spectra, a text
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
        sys.modules[chosen.run.__module__], "MODULI", (3, 12)
    )  # each modulus compiles anew
    config = Config(
        main=TINY,
        seeds=(0,),
        others=TINY,
        cells=(),
        operations=(),
        sweep=dataclasses.replace(TINY, steps=20, every=20, units=8),
        fractions=(0.9,),
        decays=(1.0,),
        widths=(8,),
        sweep_seeds=1,
        chunk=1,
        subsets=2,
        exponent_steps=60,
    )
    told = []
    outcome = chosen.run(config, Bench(folder=tmp_path, tell=told.append))
    evidence = {c.id: c.evidence_in(outcome.results) for c in chosen.claims}
    shown = {figure.name for figure in outcome.figures}
    for claim in chosen.claims:
        found = evidence[claim.id]
        assert found is not None, claim.id
        row = judge(claim, found, document="002", command="", profile="quick")
        assert row.measured and (not claim.figure or claim.figure in shown)
    assert len(told) > 5
    assert evidence["002.1"]["accuracy"][0] > 0.9
    assert evidence["002.11"]["tried"][0]["right"] == 1.0
    assert outcome.data["cross"].sizes["network"] == 2
    names = [figure.name for figure in outcome.figures]
    assert len(names) == len(set(names)) == 11
    moving = next(f for f in outcome.figures if f.name == "training-animated")
    assert {"step-tensor-frequency", "step"} <= set(csv_tables(moving.data))


def test_a_network_that_was_not_measured_and_one_axis_of_three_are_no_proof():
    stderr = [0.01, None]
    assert negative({"exponents": [-0.4, None], "stderr": stderr}) == "open"
    assert negative({"exponents": [-0.4, -0.5], "stderr": [0.01, 0.01]}) == "holds"
    error = {"fraction": 0.1, "decay": 0.1, "width": 0.1}
    one = {"fraction": 0.0, "decay": 1.5, "width": 0.0}
    assert depends({"span": one, "error": error}) == "differs"
    # Within the spread of seeds nothing has moved.
    wide = {"span": dict.fromkeys(error, 1.5), "error": dict.fromkeys(error, 1.0)}
    assert depends(wide) == "refuted"


def test_the_second_state_is_judged_for_every_b():
    """A frequency whose phase turns with b is gone from the mean over b, not from the rule."""
    P, task = 17, Modular(17)
    a, b = np.mgrid[:P, :P]
    turning = np.stack(
        [np.cos(2 * np.pi * 3 * (a + b) / P), np.sin(2 * np.pi * 3 * (a + b) / P)], -1
    )
    assert np.abs(turning.mean(1)).max() < 1e-12
    flat = profile(turning, task, "h2")
    energy = spectrum(flat)
    assert energy[3] / energy[1:].sum() > 0.999
