r"""The one training loop, $\theta_{t+1} = \Pi(\theta_t - U(\nabla \ell(\theta_t; b_t, k_t)))$.

Step $t$ draws its batch $b_t$ and its randomness $k_t$ from `fold_in(key, t)`
alone, so where a run was stopped cannot be seen in its bits. Steps run in chunks
inside one compiled program whose last step is an argument: a shorter last chunk
is neither padded nor compiled again.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Array, Int, PyTree

from .._types import Key


class Recipe(eqx.Module):
    """What is minimised, on what, and how; see `fit`."""

    loss: Callable
    optimizer: optax.GradientTransformation
    batch: Callable | None
    metrics: Callable | None
    project: Callable | None


class Progress(eqx.Module):
    """A training between two steps; `diverged_at` is -1 while all is finite."""

    params: PyTree
    memory: PyTree
    step: Int[Array, ""]
    diverged_at: Int[Array, ""]


def trained(
    model: Any,
    loss: Callable,
    optimizer: optax.GradientTransformation,
    *,
    steps: int,
    key: Key,
    data: Any = None,
    batch: Callable | None = None,
    metrics: Callable | None = None,
    every: int = 100,
    project: Callable | None = None,
) -> tuple[Any, dict[str, Array]]:
    """The trained model and its history, as a pure function: `vmap` it over lanes.

    The arguments are those of `fit`. The history holds `loss` and each metric, one
    value a chunk of `every` steps, and `diverged_at` (a step, or -1). Lanes that
    diverge keep their last finite model while the others go on.
    """
    recipe = Recipe(loss, optimizer, batch, metrics, project)
    start, rest = before_training(model, recipe, steps=steps, every=every)
    data = as_jax(data)
    ends = jnp.asarray([*range(every, steps, every), steps], dtype=jnp.int32)
    row = lambda state, end: chunk(recipe, state, rest, data, key, end)
    end, rows = jax.lax.scan(row, start, ends)
    return eqx.combine(end.params, rest), rows | {"diverged_at": end.diverged_at}


def before_training(model: Any, recipe: Recipe, **counts: int) -> tuple[Progress, Any]:
    """A training before its first step, and what of the model is not trained."""
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")
    params, rest = eqx.partition(as_jax(model), eqx.is_inexact_array)
    if not jax.tree.leaves(params):
        raise ValueError("the model holds no floating-point array, so nothing to train")
    # Weak types would make the second chunk another program than the first.
    strong = lambda leaf: jnp.asarray(leaf, dtype=leaf.dtype)
    begun = recipe.optimizer.init(params)
    memory = jax.tree.map(lambda a: strong(a) if eqx.is_array(a) else a, begun)
    count = lambda value: jnp.asarray(value, dtype=jnp.int32)
    return Progress(jax.tree.map(strong, params), memory, count(0), count(-1)), rest


def chunk(
    recipe: Recipe, state: Progress, rest: Any, data: Any, key: Key, end: Int[Array, ""]
) -> tuple[Progress, dict[str, Array]]:
    """Steps up to `end`, or to divergence: the state, mean loss and metrics there."""
    optimizer = optax.with_extra_args_support(recipe.optimizer)
    loss = lambda params, drawn, key: recipe.loss(eqx.combine(params, rest), drawn, key)
    draw = recipe.batch or (lambda data, step, key: data)

    def step(carry):
        state, total, count = carry
        key_batch, key_loss = jr.split(jr.fold_in(key, state.step))
        drawn = draw(data, state.step, key_batch)
        objective = lambda params: loss(params, drawn, key_loss)
        value, gradient = jax.value_and_grad(objective)(state.params)
        # JAX's gradient of a complex parameter is the conjugate of the descent direction.
        gradient = jax.tree.map(jnp.conj, gradient)
        with jax.numpy_dtype_promotion("standard"):  # optax mixes floats and counts
            updates, memory = optimizer.update(
                gradient, state.memory, state.params, value=value, grad=gradient, value_fn=objective
            )
        params = eqx.apply_updates(state.params, updates)
        if recipe.project is not None:
            projected = recipe.project(eqx.combine(params, rest))
            params = eqx.filter(projected, eqx.is_inexact_array)
        leaves = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves((value, gradient, params))]
        finite = jnp.stack(leaves).all()
        keep = lambda new, old: jnp.where(finite, new, old)
        following = Progress(
            jax.tree.map(keep, params, state.params),
            jax.tree.map(keep, memory, state.memory),
            jnp.where(finite, state.step + 1, state.step),
            jnp.where(finite, state.diverged_at, state.step),
        )
        return following, total + value, count + 1

    going = lambda carry: (carry[0].step < end) & (carry[0].diverged_at < 0)
    one_loss = lambda params, data, key: loss(params, draw(data, state.step, key), key)
    shape = eqx.filter_eval_shape(one_loss, state.params, data, key)
    if shape.shape or not jnp.issubdtype(shape.dtype, jnp.floating):
        raise ValueError(f"loss must give one real number, got {shape.dtype}{list(shape.shape)}")
    zero = jnp.zeros((), shape.dtype)
    state, total, count = jax.lax.while_loop(going, step, (state, zero, zero))
    row = {"loss": total / count}  # NaN where no step was left to take
    if recipe.metrics is not None:
        measured = recipe.metrics(eqx.combine(state.params, rest), data)
        clash = {"loss", "diverged_at", "step"} & measured.keys()
        if clash:
            raise ValueError(f"a metric may not be called {clash.pop()!r}")
        row |= {name: jnp.asarray(value) for name, value in measured.items()}
    return state, row


def as_jax(tree: Any) -> Any:
    """The same pytree, its NumPy arrays as JAX arrays (which are trained and traced)."""
    as_array = lambda leaf: jnp.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf
    return jax.tree.map(as_array, tree)
