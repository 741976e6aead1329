r"""Which pairs must be taught before all are known: $W_o^k W_h W_i^l \to I$, watched."""

from typing import Any

import numpy as np


WORDS = 4
STEPS = 1500
RATE, MOMENTUM = 0.05, 0.9


def languages(T: list[list[int]], scale: float, seed: int) -> dict[str, Any]:
    """Connectivity of the taught pairs, and a small network trained on them."""
    from ..subjects.shared_representations.connectivity import components, connectivity
    from ..subjects.shared_representations.language_pairs import checked_pairs

    pairs = checked_pairs(np.asarray(T, dtype=float))
    if not 2 <= len(pairs) <= 8:
        raise ValueError(f"2 to 8 languages fit on the page, got {len(pairs)}")
    found = connectivity(pairs)
    count, outputs, inputs = components(pairs)
    steps, taught, untaught, errors = _trained(pairs, scale, seed)
    return {
        "components": count,
        "outputs": outputs.tolist(),
        "inputs": inputs.tolist(),
        "connected": bool(found.connected),
        "paths": np.where(np.isfinite(found.path_lengths), found.path_lengths, 0).tolist(),
        "steps": steps,
        "taught": taught,
        "untaught": untaught,
        "errors": errors.tolist(),
    }


def _trained(T: np.ndarray, scale: float, seed: int) -> tuple[list, list, list, np.ndarray]:
    """Descent that starts over with half the step if it diverges."""
    for halvings in range(6):
        history = _descent(T, scale, seed, RATE * 0.5**halvings)
        if np.isfinite(history[-1]).all():
            return history
    raise ValueError("the training diverged with every step size; choose a smaller scale")


def _descent(
    T: np.ndarray, scale: float, seed: int, rate: float
) -> tuple[list, list, list, np.ndarray]:
    """Gradient descent with momentum, in NumPy: the network is tiny."""
    L, D = len(T), WORDS
    rng = np.random.default_rng(seed)
    W_o, W_h, W_i = (scale * rng.normal(size=shape) for shape in ((L, D, D), (D, D), (L, D, D)))
    speeds = [np.zeros_like(W) for W in (W_o, W_h, W_i)]
    marks = set(np.geomspace(1, STEPS, 60).astype(int).tolist())
    steps, taught, untaught = [], [], []
    weight = L * T[:, :, None, None] / T.sum()
    errors = np.full((L, L), np.nan)
    turned = lambda W: np.swapaxes(W, -1, -2)
    for step in range(1, STEPS + 1):
        left, right = W_o @ W_h, W_h @ W_i
        gap = left[:, None] @ W_i[None] - np.eye(D)
        if step in marks:
            errors = np.square(gap).sum(axis=(2, 3)) / D
            steps.append(step)
            taught.append(float(errors[T == 1].mean()))
            untaught.append(float(errors[T == 0].mean()) if (T == 0).any() else None)
            if not np.max(errors) < 1e3:
                return [], [], [], np.full((L, L), np.nan)
        pull = weight * gap
        slopes = (
            (pull @ turned(right)[None]).sum(axis=1),
            (turned(W_o)[:, None] @ pull @ turned(W_i)[None]).sum(axis=(0, 1)),
            (turned(left)[:, None] @ pull).sum(axis=0),
        )
        for W, speed, slope in zip((W_o, W_h, W_i), speeds, slopes, strict=True):
            speed *= MOMENTUM
            speed -= rate * slope
            W += speed
    return steps, taught, untaught, errors
