"""Broken and malicious files of every kind: `python hostile.py FILES SEED` in an empty folder.

A process of its own, since a library in C may end it. Each file is read or refused with a
sentence; whatever else happens ends the process. What Python opens outside the folder,
runs or removes meanwhile is counted. The last line says it all, as JSON.
"""

import io
import json
import pathlib
import pickle
import resource
import sys
import time
import zipfile

import h5py
import numpy as np
import onnx_cases
from fuzzed import changed
from safetensors.numpy import save

from remanence import formats
from remanence.formats.torch_file import MAGIC


HERE = pathlib.Path.cwd()
NEVER = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "shutil.",
    "subprocess.",
    "socket.",
    "exec",
    "ctypes.dlopen",
    "pickle.find_class",
)
WEIGHTS = {
    "rnn.weight_ih_l0": np.ones((8, 3), np.float32),
    "rnn.weight_hh_l0": np.ones((8, 2), np.float32),
    "head.weight": np.ones((3, 2), np.float32),
    "head.bias": np.ones(3, np.float32),
}


def plain(value) -> bytes:
    """One plain value in opcodes of protocol 2."""
    if isinstance(value, tuple):
        return b"(" + b"".join(map(plain, value)) + b"t"
    return pickle.dumps(value, 2)[2:-1]


def call(name: str, arguments: bytes) -> bytes:
    module, _, last = name.rpartition(".")
    return f"c{module}\n{last}\n".encode() + b"(" + arguments + b"tR"


def state_dict(tensors) -> bytes:
    """What torch pickles of a state dict, written without torch."""
    parts = []
    for number, (name, values) in enumerate(tensors.items()):
        strides = tuple(step // values.itemsize for step in values.strides)
        storage = plain("storage") + b"ctorch\nFloatStorage\n"
        storage += b"".join(map(plain, (str(number), "cpu", values.size)))
        arguments = b"(" + storage + b"tQ"
        arguments += b"".join(map(plain, (0, values.shape, strides, False)))
        arguments += call("collections.OrderedDict", b"")
        made = call("torch._utils._rebuild_tensor_v2", arguments)
        parts.append(plain(name) + made)
    return b"\x80\x02}(" + b"".join(parts) + b"u."


def torch_zip(content: bytes, **records) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("m/data.pkl", content)
        for name, numbers in records.items():
            archive.writestr(f"m/data/{name}", numbers)
    return file.getvalue()


def legacy(content: bytes) -> bytes:
    numbers = list(WEIGHTS.values())
    heads = b"".join(pickle.dumps(value, 2) for value in (MAGIC, 1001, {}))
    keys = pickle.dumps([str(i) for i in range(len(numbers))], 2)
    body = b"".join(v.size.to_bytes(8, "little") + v.tobytes() for v in numbers)
    return heads + content + keys + body


def seeds():
    """Whole files to start from, by their endings."""
    numbers = {str(i): v.tobytes() for i, v in enumerate(WEIGHTS.values())}
    sound = state_dict(WEIGHTS)
    yield ".safetensors", save(WEIGHTS)
    yield ".pt", torch_zip(sound, **numbers)
    yield ".pth", legacy(sound)
    for kind in ("LSTM", "GRU", "RNN"):
        onnx_cases.one("seed.onnx", kind, peepholes=kind == "LSTM", start=True)
        yield ".onnx", pathlib.Path("seed.onnx").read_bytes()
    for save_arrays in (np.savez, np.savez_compressed):
        save_arrays("seed.npz", **WEIGHTS)
        yield ".npz", pathlib.Path("seed.npz").read_bytes()
    layer = {"class_name": "LSTM", "config": {"name": "a", "return_sequences": True}}
    dense = {"class_name": "Dense", "config": {"name": "b", "activation": "linear"}}
    config = {"class_name": "Sequential", "config": {"layers": [layer, dense]}}
    arrays = {"kernel": (3, 8), "recurrent_kernel": (2, 8), "bias": (8,)}
    with h5py.File("seed.h5", "w") as file:
        file.attrs["model_config"] = json.dumps(config)
        for name, shape in arrays.items():
            file[f"model_weights/a/a/{name}:0"] = np.ones(shape, np.float32)
        file["model_weights/b/b/kernel:0"] = np.ones((2, 3), np.float32)
    yield ".h5", pathlib.Path("seed.h5").read_bytes()
    with h5py.File("seed.h5", "w") as file:
        for number, shape in enumerate(arrays.values()):
            file[f"layers/lstm/cell/vars/{number}"] = np.ones(shape, np.float32)
    with zipfile.ZipFile("seed.keras", "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", pathlib.Path("seed.h5").read_bytes())
    yield ".keras", pathlib.Path("seed.keras").read_bytes()


def hostile(rng, ending: str, whole: bytes) -> bytes:
    """A file with its bytes changed; of a zip or pickle, what stands inside."""
    if ending == ".pth" and rng.random() < 0.7:
        return legacy(_hostile_pickle(rng))
    if not whole.startswith(b"PK") or rng.random() < 0.3:
        return changed(rng, whole)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(file, "w") as new:
        chosen = old.namelist()[rng.integers(len(old.namelist()))]
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("data.pkl") and rng.random() < 0.7:
                content = _hostile_pickle(rng)
            elif name == chosen:
                content = changed(rng, content)
            new.writestr(name if rng.random() > 0.02 else f"../../{name}", content)
    return file.getvalue()


def _hostile_pickle(rng) -> bytes:
    """A state dict whose pickle calls something, or says something of its tensors."""
    sound = state_dict(WEIGHTS)
    names = (
        "os.system",
        "builtins.eval",
        "torch.load",
        "builtins.getattr",
        "__main__.X",
        "torch._utils._rebuild_qtensor",
        "torch.hub.load",
        "pickle.loads",
        "torch._tensor._rebuild_from_type_v2",
        "numpy.ndarray",
    )
    match rng.integers(4):
        case 0:
            name = names[rng.integers(len(names))]
            bad = call(name, plain("touch escaped") * int(rng.integers(3)))
            return b"\x80\x02}(" + plain("rnn.weight_ih_l0") + bad + b"u."
        case 1:
            numbers = [0, 1, 255, 2**31, 2**62, -1]
            old = plain((8, 3))
            drawn = tuple(numbers[i] for i in rng.integers(len(numbers), size=2))
            return sound.replace(old, plain(drawn), 1)
        case 2:
            at = int(rng.integers(2, len(sound)))
            opcodes = b"()]}.0123RbQcoiN\x85\x86\x87\x81\x93ajrqhtusl\x8a\x8b\x94\x95\x97"
            extra = bytes(rng.choice(list(opcodes), size=int(rng.integers(1, 9))))
            return sound[:at] + extra + sound[at:]
    return changed(rng, sound)


def main(files: str, seed: str) -> None:
    """Write and read so many files, and say what came of it."""
    rng = np.random.default_rng(int(seed))
    starts = list(seeds())
    for number, (ending, content) in enumerate(starts):
        path = HERE / f"sound-{number}{ending}"
        path.write_bytes(content)
        formats.load(path, quiet=True)  # and everything is imported now
    outside: list[str] = []

    def watch(event: str, arguments: tuple) -> None:
        if event.startswith(NEVER):
            outside.append(f"{event} {arguments!r}"[:200])
        if event == "open" and isinstance(arguments[0], str):
            path = pathlib.Path(arguments[0]).resolve()
            if not path.is_relative_to(HERE):
                outside.append(str(path))

    counts: dict[str, int] = {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slowest = 0.0
    sys.addaudithook(watch)
    for number in range(int(files)):  # to write over a file would wait for the disk
        ending, whole = starts[rng.integers(len(starts))]
        path = HERE / f"hostile-{number}{ending}"
        path.write_bytes(hostile(rng, ending, whole))
        start = time.perf_counter()
        try:
            formats.recurrent_modules(path)
            outcome = "read"
        except ValueError as error:
            outcome = "refused" if str(error) else "refused without a word"
        slowest = max(slowest, time.perf_counter() - start)
        counts[f"{ending} {outcome}"] = counts.get(f"{ending} {outcome}", 0) + 1
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    escaped = (HERE / "escaped").exists()
    said = {"counts": counts, "outside": outside[:5], "escaped": escaped}
    said |= {"grown MiB": round(grown), "slowest s": round(slowest, 2)}
    sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
