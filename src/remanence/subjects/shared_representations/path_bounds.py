"""The bound along paths, block by block, on networks with H = D."""

import numpy as np
import xarray as xr
from jaxtyping import Float

from ...report import Bench
from .config import Config
from .connectivity import connectivity, path_bound
from .gated_linear import GatedLinear
from .language_pairs import published_pairs
from .random_graphs import graph_cell
from .training_cells import trained


COLUMNS = ("graph", "stop", "path_length", "ratio")


def bound_ratios(
    net: GatedLinear, T: Float[np.ndarray, "outputs inputs"]
) -> Float[np.ndarray, "outputs inputs"]:
    r"""$\|A_{kl} - I\|_2$ of each untaught block over its bound; NaN for taught ones."""
    P, Q = np.asarray(net.W_o, float), np.asarray(net.W_i, float)
    blocks = np.einsum("kdh,lhe->klde", P @ np.asarray(net.W_h, float), Q)
    gap = np.linalg.norm(blocks - np.eye(blocks.shape[-1]), ord=2, axis=(2, 3))
    bound = path_bound(connectivity(T), float(gap[T == 1].max()))
    return np.where(T == 1, np.nan, gap / bound)


def connected_seed(fraction: float, first: int, *, languages: int) -> int:
    """The first seed, from `first` on, whose graph is connected."""
    draw = lambda seed: published_pairs(fraction, seed=seed, languages=languages)
    return next(s for s in range(first, first + 1_000) if connectivity(draw(s)).connected)


def ratios_to_path_bound(config: Config, bench: Bench) -> xr.Dataset:
    """Connected graphs, each followed down to every stop: a row an untaught block.

    An early stop leaves large errors, where the bound is far from linear.
    """
    fractions = np.round(np.linspace(0.211, 0.411, config.path_graphs), 4).tolist()
    cells = [
        graph_cell(
            config,
            fraction,
            config.graph_scales[-1],
            connected_seed(fraction, 60_000 + 1_000 * i, languages=config.languages),
        )
        for i, fraction in enumerate(fractions)
    ]
    rows, unfinished = [np.empty((0, len(COLUMNS)))], 0
    where = {"on": bench.on, "folder": bench.folder}
    for stop in config.path_stops:
        fits = trained(cells, stop=stop, limit=config.graph_limit, width=16, **where)
        for i, fit in sorted(fits, key=lambda found: found[0]):
            if fit.ending != "converged":
                unfinished += 1
                continue
            T = cells[i].run().T
            length, ratio = connectivity(T).path_lengths, bound_ratios(fit.net, T)
            k, l = np.nonzero(T == 0)
            same = np.full(len(k), stop)
            rows.append(np.stack([0 * same + i, same, length[k, l], ratio[k, l]], 1))
    columns = zip(COLUMNS, np.concatenate(rows).T, strict=True)
    return xr.Dataset(
        {name: ("block", values) for name, values in columns},
        attrs={"unfinished": unfinished, "runs": len(cells) * len(config.path_stops)},
    )
