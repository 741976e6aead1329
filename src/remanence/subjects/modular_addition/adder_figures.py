"""The learned adder beside the written one: subspaces, spectra, ablation curves."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from .behaviour_figures import Findings, PLACE_NAMES
from .weights_figures import name_of


COMPARED = ("W_E", "h3", "W_fc")


def exact_drawn(of: Findings):
    """Margins of written adders, and the cosines of the principal angles."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for i, waves in enumerate(of.margins.waves.values):
        label = "with doubled waves" if waves == "doubled" else "single waves"
        at = of.margins.sel(waves=waves)
        left.plot(at.frequencies, at.margin, color=f"C{i}", marker="o", label=label)
    left.set(xlabel="frequencies", ylabel="margin", title=f"written, P = {of.task.modulus}")
    left.set_ylim(bottom=0)
    left.legend(frameon=False)
    for i, (name, cosines) in enumerate(of.alike["cosines"].items()):
        right.plot(
            1 + np.arange(len(cosines)), cosines, color=f"C{i}", marker="o", label=name_of(name)
        )
    right.set(
        ylim=(0, 1.05),
        xlabel="principal direction",
        ylabel="cosine",
        title="learned against written",
    )
    right.legend(frameon=False)
    return figure


def beside_drawn(of: Findings):
    """Spectra above, ablation curves below: learned and written."""
    figure = plt.figure(figsize=(11, 5.2), layout="constrained")
    top, bottom = figure.subfigures(2, 1)  # pyright: ignore[reportGeneralTypeIssues]
    data = beside_data(of)
    width = max(0.4, data.sizes["frequency"] / 80)  # a bar that can be seen
    for axis, node in zip(top.subplots(1, len(COMPARED), sharey=True), COMPARED, strict=True):
        at = data.sel(node=node)
        axis.bar(
            at.frequency - width / 2,
            at.share.sel(adder="learned"),
            width,
            color="C0",
            label="learned",
        )
        axis.bar(
            at.frequency + width / 2,
            at.share.sel(adder="written"),
            width,
            color="C1",
            label="written",
        )
        axis.set(title=name_of(node), xlabel="frequency k")
    top.axes[0].set_ylabel("share of energy")
    top.axes[0].legend(frameon=False)
    panels = bottom.subplots(1, len(PLACE_NAMES), sharey=True)
    for axis, (place, name) in zip(panels, PLACE_NAMES.items(), strict=True):
        for i, adder in enumerate(("learned", "written")):
            curve = data.accuracy.sel(place=place, adder=adder)
            axis.plot(data.removed, curve, color=f"C{i}", marker="o")
        axis.set(title=name, xlabel="key frequencies removed", xticks=data.removed)
    bottom.axes[0].set_ylabel("accuracy, all pairs")
    return figure


def beside_data(of: Findings) -> xr.Dataset:
    """Shares by frequency and mean accuracies by number removed, of both adders."""
    both = (of.found[0], of.twin)
    shares = [[d.nodes[node].shares for node in COMPARED] for d in both]
    curves = [[of.alike["ablation"][place][i] for place in PLACE_NAMES] for i in (0, 1)]
    return xr.Dataset(
        {
            "share": (("adder", "node", "frequency"), np.array(shares)),
            "accuracy": (("adder", "place", "removed"), np.array(curves)),
        },
        coords={
            "adder": ["learned", "written"],
            "node": list(COMPARED),
            "place": list(PLACE_NAMES),
            "frequency": 1 + np.arange(of.task.period // 2),
            "removed": np.arange(len(of.found[0].key) + 1),
        },
    )
