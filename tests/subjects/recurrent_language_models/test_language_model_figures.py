"""The figures of recurrent language models show the order that their claims name."""

import numpy as np
import pytest
from read_figures import drawn_axes, verdict_and_evidence

from remanence.subjects.recurrent_language_models import figures as modern


def made_up_models(rng, effect):
    """Windows and timescales of two kinds and an LSTM on two texts, moved by a factor."""
    for source in ("letters", "words"):
        for kind, factor in (("mamba", effect), ("mingru", effect), ("lstm", 1.0)):
            windows = np.round(50 * factor * rng.uniform(0.5, 2, size=9))
            times = rng.lognormal(2, 1, size=200)
            after = factor * times * rng.lognormal(0, 0.05, size=200)
            gates = {} if kind == "lstm" else {
                "before": {"timescales": times}, "after": {"timescales": after}
            }  # fmt: skip
            yield {
                "source": source, "kind": kind, "seed": 0, "name": f"{kind} {source}",
                "diverged": False, "windows": windows, "longest": 1000, **gates,
            }  # fmt: skip


@pytest.mark.parametrize("effect", [0.2, 1.0, 4.0])
def test_a_window_that_is_longer_is_drawn_to_the_right(effect):
    models = list(made_up_models(np.random.default_rng(4), effect))
    verdict, _ = verdict_and_evidence("005.7", {"models": models})
    (axes,) = drawn_axes(modern.windows_figure(models).draw)
    names = [label.get_text() for label in axes.get_yticklabels()]
    at = {names[int(line.get_ydata()[0])]: line.get_xdata()[0]
          for line in axes.lines if line.get_marker() == "|"}  # fmt: skip
    longer = [at[name] > at[f"lstm {name.split()[1]}"] for name in names if "lstm" not in name]
    assert verdict == {0.2: "refuted", 1.0: "differs", 4.0: "holds"}[effect]
    assert verdict == "differs" or all(longer) == any(longer) == (verdict == "holds")


@pytest.mark.parametrize("effect", [0.5, 1.0, 2.0])
def test_timescales_that_lengthen_are_drawn_above(effect):
    models = list(made_up_models(np.random.default_rng(5), effect))
    verdict, _ = verdict_and_evidence("005.4", {"models": models})
    above = []
    for axes in drawn_axes(modern.timescales_figure(models).draw):
        mark = next(line for line in axes.lines if len(line.get_xdata()) == 2).get_xdata()[0]
        lines = {line.get_label(): line for line in axes.lines if len(line.get_xdata()) > 2}
        at = np.argmin(np.abs(lines["mamba after"].get_xdata() - mark))
        height = {name: line.get_ydata()[at] for name, line in lines.items()}
        above += [height[f"{k} after"] > height[f"{k} before"] for k in ("mamba", "mingru")]
    assert verdict == {0.5: "refuted", 1.0: "differs", 2.0: "holds"}[effect]
    assert verdict == "differs" or all(above) == any(above) == (verdict == "holds")


@pytest.mark.parametrize("lie", [0, 30])
def test_restarts_within_their_bounds_are_drawn_so(lie):
    rng = np.random.default_rng(10)
    stack = rng.integers(20, 200, size=24).astype(float)
    bounds = np.stack([0.6 * stack, stack, 1.5 * stack], axis=1)
    bounds[: lie // 2, 1] *= 3
    models = [{"kind": "mamba", "diverged": False, "after": {}, "stack_bounds": bounds}]
    verdict, evidence = verdict_and_evidence("005.3", {"models": models})
    (axes,) = drawn_axes(modern.stack_figure(models).draw)
    ends = np.array([segment[:, 1] for segment in axes.collections[0].get_segments()])
    (dots,) = (line for line in axes.lines if line.get_label() == "mamba")
    within = (ends[:, 0] <= dots.get_ydata()) & (dots.get_ydata() <= ends[:, 1])
    assert within.sum() == evidence["holds"]
    assert verdict == ("holds" if within.all() else "refuted")


@pytest.mark.parametrize("lost", [-0.1, 0.0, 0.1])
def test_models_that_fail_at_length_are_drawn_right_of_zero(lost):
    models = [
        {"name": f"mamba {i}", "kind": "mamba", "diverged": False, "after": {"unforgotten": 0.05},
         "lost_at_length": lost + 0.01 * i, "lost_error": 0.02}
        for i in (-1, 0, 1)
    ]  # fmt: skip
    verdict, evidence = verdict_and_evidence("005.5", {"models": models})
    (axes,) = drawn_axes(modern.losses_figure(models).draw)
    drawn = [container[0].get_xdata()[0] for container in axes.containers]
    assert np.mean(drawn) == pytest.approx(evidence["rise"], abs=1e-5)
    assert verdict == {-0.1: "refuted", 0.0: "open", 0.1: "holds"}[lost]
    assert (min(drawn) > 0) == (verdict == "holds") and (max(drawn) < 0) == (verdict == "refuted")
