"""What a sweep costs beside its arithmetic: against a plain loop, and on Dask workers.

    python benchmarks/sweeps.py [--long] [--json]

The peer is the loop one writes first: a compiled lane called once a lane. Both give
the same numbers (checked first; batching may move the last bit). Chunks of small lanes
are then swept on all cores, by processes beside, and on one: the same bits. Without
`--json` the constants of the cost model in `docs/howto/cluster.md` are measured too, as
minima over repeats.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from remanence import _cores, sweeps, train


UNITS = 24


def lane(point, key, data):
    """A short orbit of a random network."""
    W = point["gain"] * jr.normal(key, (UNITS, UNITS)) / UNITS**0.5
    h = jax.lax.fori_loop(0, 300, lambda _, h: jnp.tanh(W @ h), data)
    return {"norm": jnp.linalg.norm(h)}


def empty(point, key, data):
    """Nothing to do: what is left is the engine."""
    return {"y": point["x"]}


def training(point, key, data):
    """A small network trained for 200 steps to repeat the input of two steps ago."""
    W_key, w_key, train_key = jr.split(key, 3)
    net = jr.normal(W_key, (UNITS, UNITS)) / UNITS**0.5, jr.normal(w_key, (UNITS,)) / 5

    def loss(net, xs, key):
        W, w = net
        step = lambda h, x: (jnp.tanh(W @ h + x),) * 2
        hs = jax.lax.scan(step, jnp.zeros(UNITS), xs)[1]
        return jnp.mean((hs[2:] @ w - xs[:-2]) ** 2)

    rate = optax.adam(1e-2 * point["gain"])
    _, history = train.trained(net, loss, rate, steps=200, key=train_key, data=data, every=20)
    return {"loss": history["loss"]}


def axes(lanes):
    """Gains and seeds, `lanes` in all."""
    return {"gain": np.linspace(0.5, 1.5, 8), "seed": range(lanes // 8)}


def loop(lanes):
    """The peer: one call a lane."""
    one = jax.jit(lambda point, key, data: lane(point, key, data))  # compiled anew
    data = jnp.ones(UNITS)
    return [
        float(one({"gain": np.float32(g)}, jr.fold_in(jr.key(0), seed), data)["norm"])
        for g in axes(lanes)["gain"]
        for seed in axes(lanes)["seed"]
    ]


def seconds(function, clock=time.perf_counter):
    """How long one call takes."""
    began = clock()
    function()
    return clock() - began


def work(function):
    """What one call costs this process in seconds of a core, whoever else is busy."""
    return seconds(function, time.process_time)


def against_the_loop(lanes, repeats):
    """A sweep and the loop, in turn."""
    ours = lambda: sweeps.sweep(lane, axes(lanes), chunk=32, data=jnp.ones(UNITS))
    np.testing.assert_allclose(ours().norm.values.ravel(), loop(lanes), rtol=1e-3)
    pairs = [(work(ours), work(lambda: loop(lanes))) for _ in range(repeats)]
    ratios = [peer / mine for mine, peer in pairs]
    return {
        "task": "sweep against a loop of compiled lanes, seconds of a core with compilation",
        "size": f"{lanes} lanes of {UNITS} units, 300 steps",
        "ours": statistics.median(mine for mine, _ in pairs),
        "peer": statistics.median(peer for _, peer in pairs),
        "ratio": statistics.median(ratios),
        "spread": [min(ratios), max(ratios)],
        "target": 1.0,
        "met": statistics.median(ratios) >= 1.0,
    }


def long_orbit(point, key, data):
    """An orbit that takes a sixth of a second."""
    W = point["gain"] * jr.normal(key, (UNITS, UNITS)) / UNITS**0.5
    h = jax.lax.fori_loop(0, 3_000_000, lambda _, h: jnp.tanh(W @ h), data)
    return {"norm": jnp.linalg.norm(h)}


def all_cores(lanes, repeats):
    """A sweep of small lanes on all cores, started processes and all, and on one."""
    swept = lambda **options: sweeps.sweep(
        long_orbit, axes(lanes), chunk=1, data=jnp.ones(UNITS), **options
    )
    pairs = []
    for _ in range(repeats):
        found = {}
        mine = seconds(lambda found=found: found.update(all=swept()))
        peer = seconds(lambda found=found: found.update(one=swept(cores=1)))
        if not found["all"].identical(found["one"]):
            raise SystemExit("all cores and one core differ")
        pairs.append((mine, peer))
    ratios = [peer / mine for mine, peer in pairs]
    return {
        "task": "sweep of small lanes on all cores, by the wall with starting processes",
        "size": f"{lanes} lanes of {UNITS} units, 3,000,000 steps, {len(_cores.cores())} cores",
        "peer_name": "the same sweep on one core",
        "ours": min(mine for mine, _ in pairs),
        "peer": min(peer for _, peer in pairs),
        "ratio": statistics.median(ratios),
        "spread": [min(ratios), max(ratios)],
        "target": 1.0,
        "met": statistics.median(ratios) >= 1.0,
    }


def constants(long):
    """The constants of the cost model, in seconds."""
    count = 400 if long else 100
    many = {"x": np.arange(count, dtype=float)}
    found = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        sweeps.opened_store(f"{folder}/store", {}) as store,
    ):
        part = {"x": np.zeros(256, np.float32)}
        times = [seconds(lambda i=i: store.put(f"p{i}", part)) for i in range(50)]
        found["store a chunk (1 kB)"] = min(times)
        big = {"x": np.zeros(2**18, np.float32)}
        times = [seconds(lambda i=i: store.put(f"q{i}", big)) for i in range(9)]
        found["store a chunk (1 MB)"] = min(times)
        times = [seconds(lambda i=i: store.get(f"p{i}")) for i in range(50)]
        found["read a chunk back (1 kB)"] = min(times)
    one = {"x": [1.0]}
    start = min(work(lambda: sweeps.sweep(empty, one)) for _ in range(3))
    found["trace and compile an empty program"] = start
    here = min(work(lambda: sweeps.sweep(empty, many, chunk=1)) for _ in range(3))
    found["dispatch a chunk in process"] = (here - start) / count
    try:
        import distributed
    except ImportError:
        sys.stderr.write("Dask is not installed, so its constants are left out\n")
        return found
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        spent = lambda: sum(client.run(time.process_time).values())
        before = spent()
        sweeps.sweep(empty, many, chunk=1, on=client)
        found["first sweep on fresh workers, both workers"] = spent() - before
        # The scheduler runs in this process, so its work is counted with the client's.
        once = min(work(lambda: sweeps.sweep(empty, one, on=client)) for _ in range(3))
        before = spent()
        there = work(lambda: sweeps.sweep(empty, many, chunk=1, on=client))
        found["an empty chunk, client and scheduler"] = (there - once) / count
        found["an empty chunk, its worker"] = (spent() - before) / count
        wall = seconds(lambda: sweeps.sweep(empty, many, chunk=1, on=client)) / count
        found["an empty chunk, wall clock with two workers"] = wall
        for name, what, data in (
            ("an orbit", lane, jnp.ones(UNITS)),
            ("a training", training, jnp.sin(jnp.arange(50.0) ** 2)),
        ):
            for chunk in (16, 128):
                found |= of_lanes(name, what, data, chunk, client, spent)
    return found


def of_lanes(name, what, data, chunk, client, spent):
    """Compiling, a lane, and a lane's bytes on disk, by the work of the workers.

    Five chunks more than one cost what chunks cost; the rest of one is compiling.
    """

    def cost(chunks):
        with tempfile.TemporaryDirectory() as folder:
            swept = {"gain": [1.0], "seed": range(chunk * chunks)}
            began = spent()
            sweeps.sweep(what, swept, chunk=chunk, data=data, on=client, folder=folder)
            spent_there = spent() - began
            sizes = [p.stat().st_size for p in pathlib.Path(folder).glob("chunk-*")]
            return spent_there, sum(sizes) / (chunk * chunks)

    one, size = cost(1)
    six, _ = cost(6)
    a_chunk = (six - one) / 5
    label = f"{name}, chunks of {chunk}"
    return {
        f"{label}: compiling": one - a_chunk,
        f"{label}: a lane": a_chunk / chunk,
        f"{label}: bytes a lane": size,
    }


def main():
    """Print the rows and the constants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    sizes = (256, 4096) if chosen.long else (1024,)
    rows = [against_the_loop(lanes, 5 if chosen.long else 3) for lanes in sizes]
    rows += [all_cores(320 if chosen.long else 96, 2)]
    if chosen.json:
        print(json.dumps(rows))
        return
    for row in rows:
        low, high = row["spread"]
        print(
            f"{row['task']}, {row['size']}: {row['ours']:.3f} s against "
            f"{row['peer']:.3f} s, ratio {row['ratio']:.2f} ({low:.2f} to {high:.2f}), "
            f"target {row['target']}: {'met' if row['met'] else 'not met'}"
        )
    for name, value in constants(chosen.long).items():
        bytes_ = name.endswith("bytes a lane")
        print(f"{name}: {value:.0f}" if bytes_ else f"{name}: {1e3 * value:.2f} ms")


if __name__ == "__main__":
    main()
