"""The claim that an untaught block is as good as the path of taught blocks to it.

The rule first compared the mean test loss with the longest path squared times the
summed taught error, which hardly anything could break (largest ratio .03). It now asks
for every block by itself, in the spectral norm and from the worst taught block alone,
and wants the bound to be of use: some block must come near it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...report import Evidence, Statement, Verdict


NEAR = 0.05


def _bounded(e: Evidence) -> Verdict:
    if e["violations"] > 0:
        return "refuted"
    if e["blocks"] == 0:
        return "open"
    return "holds" if e["largest"] > NEAR else "differs"


STATEMENTS = (
    Statement(
        id="003.14",
        statement="For H = D an untaught block is no further from the identity than the path of taught blocks to it allows.",
        published="not in the document",
        rule=_bounded,
        measured=lambda e: (
            f"{e['violations']} violations in {e['blocks']} untaught blocks of {e['finished']} runs on {e['graphs']} connected graphs "
            f"({e['unfinished']} runs more did not reach their loss); distance from the identity over the bound: "
            + ", ".join(
                f"at most {x:.2f}, median {m:.2f} at a loss of {s:g}"
                for s, x, m in zip(
                    e["stops"], e["largest_by_stop"], e["median_by_stop"], strict=True
                )
            )
        ),
        example={
            "violations": 0,
            "blocks": 900,
            "finished": 20,
            "graphs": 10,
            "unfinished": 0,
            "largest": 0.6,
            "median": 0.2,
            "stops": [1e-3, 1e-6],
            "largest_by_stop": [0.6, 0.5],
            "median_by_stop": [0.2, 0.2],
        },
        contrary={
            "violations": 3,
            "blocks": 900,
            "finished": 20,
            "graphs": 10,
            "unfinished": 0,
            "largest": 1.3,
            "median": 0.4,
            "stops": [1e-3, 1e-6],
            "largest_by_stop": [1.3, 0.9],
            "median_by_stop": [0.4, 0.3],
        },
    ),
)


def evidence(data: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    """Every untaught block of the trainings on paths, against its own bound."""
    found = data["paths"]
    ratio, stop = found.ratio.values, found.stop.values
    stops = sorted(set(stop.tolist()), reverse=True)
    return {
        "003.14": {
            "blocks": int(ratio.size),
            # A ratio that is not a number keeps no bound.
            "violations": int((~(ratio <= 1)).sum()),
            "largest": float(ratio.max(initial=0.0)),
            "median": float(np.median(ratio)) if ratio.size else 0.0,
            "stops": stops,
            "largest_by_stop": [float(ratio[stop == s].max()) for s in stops],
            "median_by_stop": [float(np.median(ratio[stop == s])) for s in stops],
            "graphs": len(set(found.graph.values.tolist())),
            "finished": found.attrs["runs"] - found.attrs["unfinished"],
            "unfinished": found.attrs["unfinished"],
        }
    }
