r"""Two substitutions that leave the loss as it is: dictionaries and Gaussian words.

With $A_{kl} = W_o^kW_hW_i^l$ and any inputs with $\mathbb E\,xx^\top = I/D$, one-hot words or
$N(0, I/D)$, the loss of a pair is $\frac12\mathbb E\|A_{kl}x - x\|^2 =
\frac{1}{2D}\|A_{kl} - I\|^2$. And $\|\Pi_kA_{kl}\Pi_l^\top - \Pi_k\Pi_l^\top\| =
\|A_{kl} - I\|$, so renaming the words of every language changes no loss either. Equal
losses for all weights have equal gradients, hence equal trainings.
"""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from ..._precision import as_double, double
from .gated_linear import GatedLinear, relabelled
from .language_pairs import nested_pairs, word_permutations


def _loss(net: GatedLinear, T: jax.Array, Pi: jax.Array, meanings: jax.Array):
    """½ mean over taught pairs and inputs of the squared error, word by word."""
    inputs = jnp.einsum("lij,nj->lni", Pi, meanings)
    outputs = jnp.einsum("klde,lne->klnd", net.products(), inputs)
    error = jnp.sum((outputs - inputs[:, None]) ** 2, axis=-1).mean(-1)
    return 0.5 * jnp.sum(T * error) / jnp.sum(T)


def equivalence_gaps(seed: int, *, whiten: bool = True) -> dict[str, float]:
    """How far loss and gradient of a drawn network move under each substitution.

    The Gaussian inputs are a sample whitened to have exactly the moments of N(0, I/D);
    without that the gap is that of sampling.
    """
    L, D, H, count = 4, 5, 6, 65
    key_T, key_words, key_net = jr.split(jr.key(seed), 3)
    words = word_permutations(L, D, key=key_words)
    x = np.random.default_rng(seed).normal(size=(count, D)) / D**0.5
    if whiten:
        x = x @ np.linalg.inv(np.linalg.cholesky(D * x.T @ x / count)).T
    net = GatedLinear.init(languages=L, words=D, units=H, scale=0.4, key=key_net)
    with double():
        net, T = as_double(net), jnp.asarray(nested_pairs(L, 0.5, key=key_T))
        eye = jnp.eye(D)
        same, other = jnp.stack([eye] * L), eye[np.argsort(words, axis=1)]
        onehot = jnp.tile(eye, (count // D, 1))
        priced = jax.jit(jax.value_and_grad(_loss))
        loss, slope = priced(net, T, same, onehot)
        renamed = priced(relabelled(net, words), T, other, onehot)
        gaussian = priced(net, T, same, jnp.asarray(x))
        largest = lambda a, b: max(
            float(jnp.abs(p - q).max())
            for p, q in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
        )
        return {
            "loss_gap_dictionaries": largest(loss, renamed[0]),
            "gradient_gap_dictionaries": largest(relabelled(slope, words), renamed[1]),
            "loss_gap_gaussian": largest(loss, gaussian[0]),
            "gradient_gap_gaussian": largest(slope, gaussian[1]),
        }
