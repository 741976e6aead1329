"""Small ONNX models of one recurrent operator, with any of its attributes."""

import numpy as np
import pytest


onnx = pytest.importorskip("onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper
INPUTS, UNITS, STEPS = 3, 4, 6
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
XS = np.random.default_rng(0).normal(size=(STEPS, INPUTS)).astype(np.float32)


def initialisers(kind, *, both=False, bias=True, peepholes=False, start=False, seed=1):
    """The weights of an operator by the names of its inputs."""
    rng = np.random.default_rng(seed)
    sides, gates = 1 + both, GATES[kind] * UNITS
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32) / 2
    found = {"W": draw(sides, gates, INPUTS), "R": draw(sides, gates, UNITS)}
    if bias:
        found["B"] = draw(sides, 2 * gates)
    if start:
        found["initial_h"] = draw(sides, 1, UNITS)
        if kind == "LSTM":
            found["initial_c"] = draw(sides, 1, UNITS)
    if peepholes:
        found["P"] = draw(sides, 3 * UNITS)
    return found


def node(kind, weights, **settings):
    order = ["X", "W", "R", "B", "", "initial_h", "initial_c", "P"]
    given = [n if n in weights or n == "X" else "" for n in order]
    while given[-1] == "":
        given.pop()
    return helper.make_node(kind, given, ["Y", "Y_h"], name="layer", hidden_size=UNITS, **settings)


def model(nodes, weights, *, inputs=None, outputs=None, opset=14):
    kinds = onnx.TensorProto
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        inputs or [info("X", kinds.FLOAT, None)],
        outputs or [info("Y", kinds.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def one(path, kind, *, both=False, **options):
    """A model of one operator, written to a file, and its weights."""
    parts = ("bias", "peepholes", "start")
    chosen = {name: options.pop(name) for name in parts if name in options}
    weights = initialisers(kind, both=both, **chosen)
    if both:
        options["direction"] = "bidirectional"
    if options.get("layout"):
        swap = ("initial_h", "initial_c")
        weights |= {n: v.swapaxes(0, 1) for n, v in weights.items() if n in swap}
    made = model([node(kind, weights, **options)], weights)
    onnx.save(made, path)
    return made


def said(found, options, both):
    """What the networks of a file say, arranged as the operator's Y."""
    if both:
        forward = found["layer.forward"].net(XS)
        backward = found["layer.backward"].net(XS[::-1])[::-1]
        y = np.stack([forward, backward], 1)[:, :, None]
    elif options.get("direction") == "reverse":
        y = np.asarray(found["layer"].net(XS[::-1]))[::-1, None, None]
    else:
        y = np.asarray(found["layer"].net(XS))[:, None, None]
    return y.transpose(2, 0, 1, 3) if options.get("layout") else y


def asked(options):
    return {"X": XS[None] if options.get("layout") else XS[:, None]}
