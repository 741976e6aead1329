r"""Singular values of random pairs: an outlier at $pn$, a bulk below $2\sqrt{np(1-p)}$."""

import numpy as np
import xarray as xr


def random_spectrum(size: int, seed: int) -> xr.Dataset:
    """Outlier and bulk edge of a Bernoulli matrix over its density."""
    density = np.array([0.1, 0.2, 0.3, 0.5, 0.7])
    rng = np.random.default_rng(seed)
    drawn = [(rng.random((size, size)) < p).astype(float) for p in density]
    values = np.linalg.svd(np.stack(drawn), compute_uv=False)
    return xr.Dataset(
        {
            "singular_values": (("density", "order"), values),
            "outlier_law": ("density", density * size),
            "edge_law": ("density", 2 * np.sqrt(size * density * (1 - density))),
            "document_edge": ("density", 2 * np.sqrt(density * (1 - density))),
        },
        {"density": density},
    )
