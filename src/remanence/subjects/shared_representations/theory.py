"""Experiments 6 and 8: random matrices, and the note's equivalences."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import xarray as xr

from ..._precision import double
from .gated_linear import GatedLinear, relabelled
from .language_pairs import nested_pairs, word_permutations


def random_spectrum(size: int, seed: int) -> xr.Dataset:
    """Outlier and bulk edge of a Bernoulli matrix over its density."""
    density = np.array([0.1, 0.2, 0.3, 0.5, 0.7])
    rng = np.random.default_rng(seed)
    values = np.stack(
        [
            np.linalg.svd(
                (rng.random((size, size)) < p).astype(float), compute_uv=False
            )
            for p in density
        ]
    )
    return xr.Dataset(
        {
            "singular_values": (("density", "order"), values),
            "outlier_law": ("density", density * size),
            "edge_law": ("density", 2 * np.sqrt(size * density * (1 - density))),
            "document_edge": ("density", 2 * np.sqrt(density * (1 - density))),
        },
        {"density": density},
    )


def _loss(
    net: GatedLinear, T: jax.Array, Pi: jax.Array, inputs: jax.Array
) -> jax.Array:
    """½ mean over taught pairs and inputs of the squared error, word by word.

    `inputs` are the meanings that are heard, spoken in each pair's own dictionary.
    """
    heard = jnp.einsum("lij,nj->lni", Pi, inputs)
    said = jnp.einsum("klde,lne->klnd", net.products(), heard)
    meant = jnp.einsum("kij,nj->kni", Pi, inputs)
    error = jnp.sum((said - meant[:, None]) ** 2, axis=-1).mean(-1)
    return 0.5 * jnp.sum(T * error) / jnp.sum(T)


def equivalences(seed: int, *, steps: int = 60) -> dict[str, float]:
    """Train plain, with other dictionaries, and on Gaussian inputs; compare the paths.

    The Gaussian inputs are a sample whitened to have exactly the moments of
    N(0, I/D), so that the comparison is not blurred by sampling.
    """
    L, D, H, count = 4, 5, 6, 65
    key_T, key_words = jr.split(jr.key(seed))
    words = word_permutations(L, D, key=key_words)
    rng = np.random.default_rng(seed)
    net = GatedLinear(
        0.4 * rng.normal(size=(L, D, H)),
        0.4 * rng.normal(size=(H, H)),
        0.4 * rng.normal(size=(L, H, D)),
    )
    with double():
        T = jnp.asarray(nested_pairs(L, 0.5, key=key_T))
        same = np.stack([np.eye(D)] * L)
        other = np.eye(D)[np.argsort(words, axis=1)]
        # Every word as often as another, and as many as there are Gaussian inputs:
        # one program trains all three.
        onehot = np.tile(np.eye(D), (count // D, 1))
        x = rng.normal(size=(count, D))
        white = x @ np.linalg.inv(np.linalg.cholesky(x.T @ x / count)).T / D**0.5

        @jax.jit
        def path(net: GatedLinear, Pi: jax.Array, inputs: jax.Array):
            def step(net: GatedLinear, _):
                loss, g = jax.value_and_grad(_loss)(net, T, Pi, inputs)
                return jax.tree.map(lambda a, b: a - 0.3 * b, net, g), loss

            return jax.lax.scan(step, net, None, length=steps)

        end, plain = path(net, same, onehot)
        end_spoken, spoken = path(relabelled(net, words), other, onehot)
        end_gaussian, gaussian = path(net, same, white)
        gap = lambda a, b: max(
            float(np.abs(np.asarray(p) - np.asarray(q)).max())
            for p, q in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
        )
        return {
            "loss_gap_dictionaries": float(
                np.abs(np.asarray(plain) - np.asarray(spoken)).max()
            ),
            "weight_gap_dictionaries": gap(relabelled(end, words), end_spoken),
            "loss_gap_gaussian": float(
                np.abs(np.asarray(plain) - np.asarray(gaussian)).max()
            ),
            "weight_gap_gaussian": gap(end, end_gaussian),
            "loss_fell_to": float(plain[-1] / plain[0]),
        }
