"""The unrolled network as a picture, each node with what its key frequencies hold."""

from typing import Any

import matplotlib.pyplot as plt

from .dissection import Dissection


def network_diagram(d: Dissection) -> Any:
    """Tokens below, states in the middle, the answer on the right."""
    figure, axis = plt.subplots(figsize=(9, 3.6), layout="constrained")
    share = {node: sum(found.shares[k - 1] for k in d.key) for node, found in d.nodes.items()}
    nodes = {
        "a": (1, 0, "a"),
        "b": (3, 0, "b"),
        "=": (5, 0, "="),
        "Ea": (1, 1, "$W_E$"),
        "Eb": (3, 1, "$W_E$"),
        "E=": (5, 1, "$W_E$"),
        "h0": (-0.6, 2, "$h_0 = 0$"),
        "h1": (1, 2, "$h_1$"),
        "h2": (3, 2, "$h_2$"),
        "h3": (5, 2, "$h_3$"),
        "fc": (6.8, 2, "$W_{fc}$"),
        "c": (8.4, 2, "a + b"),
    }
    if d.task.operation != "+":
        nodes["c"] = (8.4, 2, f"a {d.task.operation} b")
    arrows = [
        ("a", "Ea", ""),
        ("b", "Eb", ""),
        ("=", "E=", ""),
        ("Ea", "h1", "$W_{ih}$"),
        ("Eb", "h2", "$W_{ih}$"),
        ("E=", "h3", "$W_{ih}$"),
        ("h0", "h1", "$W_{hh}$"),
        ("h1", "h2", "$W_{hh}$"),
        ("h2", "h3", "$W_{hh}$"),
        ("h3", "fc", ""),
        ("fc", "c", ""),
    ]
    for start, end, label in arrows:
        (x, y, _), (u, v, _) = nodes[start], nodes[end]
        axis.annotate(
            "",
            (u, v),
            (x, y),
            arrowprops={"arrowstyle": "->", "shrinkA": 20, "shrinkB": 20, "color": "C7"},
        )
        if label:
            # Beside an upright arrow, above a level one.
            shift = (0.32, 0.0) if x == u else (0.0, 0.17)
            axis.text(
                (x + u) / 2 + shift[0], (y + v) / 2 + shift[1], label, ha="center", va="center"
            )
    held = {"Ea": "W_E", "Eb": "W_E", "h1": "h1", "h2": "h2", "h3": "h3", "fc": "W_fc"}
    for name, (x, y, label) in nodes.items():
        box = {"boxstyle": "round,pad=0.4", "facecolor": "none", "edgecolor": "C0"}
        axis.text(x, y, label, ha="center", va="center", bbox=box)
        if name in held:
            axis.text(
                x - 0.35 if y < 2 else x,
                y - 0.0 if y < 2 else y + 0.42,
                f"{100 * share[held[name]]:.0f} %",
                ha="right" if y < 2 else "center",
                va="center",
                color="C1",
            )
    axis.set(xlim=(-1.4, 9.2), ylim=(-0.5, 2.8))
    axis.axis("off")
    return figure
