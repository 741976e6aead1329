"""Networks shared out over several devices, the last share filled up or not."""

SHARED = """
import jax, jax.numpy as jnp, numpy as np
from remanence.cells import Diagonal
from remanence.measure import exponents_of_each

assert jax.device_count() == 2
for radii in ([0.5, 0.25], [0.5, 0.25, 0.125]):
    each = jnp.array(radii)[:, None]
    cells = jax.vmap(Diagonal)(each, jnp.ones((len(radii), 1, 1)))
    found, _ = exponents_of_each(cells, np.ones((60, 1)), k=1)
    np.testing.assert_allclose(found[:, 0], np.log(radii), atol=1e-9)
"""


def test_each_device_takes_its_share(on_two_devices):
    on_two_devices(SHARED)
