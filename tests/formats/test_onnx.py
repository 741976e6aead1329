"""ONNX operators against the reference evaluator, and what stands round them."""

import importlib
import itertools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import remanence as rm


onnx_cases = pytest.importorskip("onnx_cases")
onnx, helper = onnx_cases.onnx, onnx_cases.helper
reference = pytest.importorskip("onnx.reference")
CASES = [
    ("LSTM", {}),
    ("LSTM", {"bias": False}),
    ("LSTM", {"peepholes": True, "start": True}),
    ("LSTM", {"both": True, "peepholes": True}),
    ("LSTM", {"layout": 1, "start": True}),
    ("LSTM", {"direction": "reverse"}),
    ("GRU", {}),
    ("GRU", {"linear_before_reset": 1}),
    ("GRU", {"linear_before_reset": 1, "bias": False, "start": True}),
    ("GRU", {"both": True, "layout": 1}),
    ("GRU", {"direction": "reverse", "bias": False}),
    ("RNN", {}),
    ("RNN", {"both": True, "start": True}),
    ("RNN", {"activations": ["Affine"], "activation_alpha": [0.5], "activation_beta": [0.25]}),
]


def compared(path, kind, options, run):
    both = options.get("both", False)
    made = onnx_cases.one(path, kind, **options)
    found = rm.recurrent_modules(path)
    expected = run(made, onnx_cases.asked(options))
    got = onnx_cases.said(found, options, both)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5)
    return found


def by_reference(made, asked):
    return reference.ReferenceEvaluator(made).run(["Y"], asked)[0]


@pytest.mark.parametrize(("kind", "options"), CASES)
def test_operators_agree_with_the_reference(kind, options, tmp_path):
    found = compared(tmp_path / "m.onnx", kind, options, by_reference)
    assert {each.taken.kind for each in found.values()} == {kind}


FUNCTIONS = {
    "Sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "Tanh": np.tanh,
    "Relu": lambda z: np.maximum(z, 0),
    "LeakyRelu": lambda z, a=0.01: np.where(z >= 0, z, a * z),
    "ThresholdedRelu": lambda z, a=1.0: np.where(z > a, z, 0),
    "ScaledTanh": lambda z, a=1.0, b=1.0: a * np.tanh(b * z),
    "HardSigmoid": lambda z, a=0.2, b=0.5: np.clip(a * z + b, 0, 1),
    "Elu": lambda z, a=1.0: np.where(z >= 0, z, a * np.expm1(z)),
    "Softsign": lambda z: z / (1 + abs(z)),
    "Softplus": lambda z: np.log1p(np.exp(z)),
    "Affine": lambda z, a, b: a * z + b,
}


@pytest.mark.parametrize(
    ("kind", "names", "settings", "numbers"),
    [
        ("LSTM", ["HardSigmoid", "Softsign", "Relu"], {}, [(), (), ()]),
        (
            "LSTM",
            ["HardSigmoid", "ScaledTanh", "Elu"],
            {"activation_alpha": [0.3, 0.8, 0.5], "activation_beta": [0.4, 1.5]},
            [(0.3, 0.4), (0.8, 1.5), (0.5,)],
        ),
        ("LSTM", ["Sigmoid", "LeakyRelu", "Tanh"], {"clip": 0.3}, [(), (), ()]),
        ("GRU", ["Sigmoid", "Softplus"], {"clip": 0.5, "linear_before_reset": 1}, [(), ()]),
        (
            "GRU",
            ["HardSigmoid", "ThresholdedRelu"],
            {"activation_alpha": [0.25, 0.125]},
            [(0.25,), (0.125,)],
        ),
        (
            "GRU",
            ["Sigmoid", "Affine"],
            {"activation_alpha": [0.25], "activation_beta": [0.1]},
            [(), (0.25, 0.1)],
        ),
    ],
)
def test_activations_and_clip_where_the_reference_ignores_them(
    kind, names, settings, numbers, tmp_path
):
    # The reference evaluator knows sigmoid and tanh only; its steps with other functions.
    base = getattr(importlib.import_module(f"onnx.reference.ops.op_{kind.lower()}"), kind)
    bound = settings.get("clip", np.inf)

    def method(name, more):
        function = FUNCTIONS[name]
        return lambda self, z: function(np.clip(z, -bound, bound), *more)

    steps = zip("fgh", names, numbers, strict=False)
    methods = {letter: method(name, more) for letter, name, more in steps}
    changed = type(kind, (base,), {"op_domain": ""} | methods)

    def run(made, asked):
        return reference.ReferenceEvaluator(made, new_ops=[changed]).run(["Y"], asked)[0]

    compared(tmp_path / "m.onnx", kind, {"activations": names} | settings, run)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *(case for case in CASES if "layout" not in case[1]),  # it has none
        ("LSTM", {"input_forget": 1}),
        ("LSTM", {"clip": 0.2}),
        ("GRU", {"clip": 0.2}),
        ("LSTM", {"activations": ["HardSigmoid", "Softsign", "Relu"]}),
        ("GRU", {"activations": ["Sigmoid", "Softplus"], "linear_before_reset": 1}),
    ],
)
@pytest.mark.live
def test_operators_agree_with_the_runtime(kind, options, tmp_path):
    runtime = pytest.importorskip("onnxruntime")

    def run(made, asked):
        session = runtime.InferenceSession(made.SerializeToString())
        return session.run(["Y"], asked)[0]

    compared(tmp_path / "m.onnx", kind, options, run)


def test_coupled_gates_forget_what_they_do_not_write(tmp_path):
    made = onnx_cases.one(tmp_path / "m.onnx", "LSTM", input_forget=1, bias=False)
    cell = rm.load(tmp_path / "m.onnx", quiet=True).cell
    W = onnx.numpy_helper.to_array(made.graph.initializer[0])[0]
    z_i, _, _, z_c = np.split(W @ onnx_cases.XS[0], 4)
    i = FUNCTIONS["Sigmoid"](z_i)
    c = jnp.full(onnx_cases.UNITS, 0.5)
    after = cell((jnp.zeros_like(c), c), jnp.asarray(onnx_cases.XS[0]))[1]
    np.testing.assert_allclose(after, (1 - i) * 0.5 + i * np.tanh(z_c), atol=1e-6)


def test_weights_behind_operators_that_rearrange_them(tmp_path):
    weights = onnx_cases.initialisers("LSTM")
    make, axes = helper.make_node, np.array([0])
    W, R, B = weights["W"][0], weights["R"][0], weights["B"][0]
    stored = {
        "w_t": np.ascontiguousarray(W.T),
        "axes": axes,
        "r_low": R[:5],
        "r_high": R[5:],
        "wide": np.concatenate([np.zeros(3, np.float32), B]),
        "from": np.array([3]),
        "to": np.array([2**62]),
        "sizes": np.array([1, -1]),
    }
    nodes = [
        make("Transpose", ["w_t"], ["w"], perm=[1, 0]),
        make("Unsqueeze", ["w", "axes"], ["W"]),
        make("Concat", ["r_low", "r_high"], ["r"], axis=0),
        make("Identity", ["r"], ["r_"]),
        make("Unsqueeze", ["r_", "axes"], ["R"]),
        make("Slice", ["wide", "from", "to", "axes"], ["b"]),
        make("Reshape", ["b", "sizes"], ["B"]),
        onnx_cases.node("LSTM", weights),
    ]
    made = onnx_cases.model(nodes, stored)
    onnx.save(made, tmp_path / "m.onnx")
    got = np.asarray(rm.load(tmp_path / "m.onnx", quiet=True)(onnx_cases.XS))
    expected = by_reference(made, onnx_cases.asked({}))[:, 0, 0]
    np.testing.assert_allclose(got, expected, atol=1e-5)


def test_operators_inside_subgraphs_see_the_weights_outside(tmp_path):
    weights = onnx_cases.initialisers("GRU")
    inner = helper.make_graph(
        [onnx_cases.node("GRU", weights)],
        "inner",
        [],
        [helper.make_tensor_value_info("Y", onnx.TensorProto.FLOAT, None)],
    )
    other = helper.make_graph(
        [helper.make_node("Identity", ["X"], ["out"])],
        "other",
        [],
        [helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, None)],
    )
    branch = helper.make_node("If", ["which"], ["Z"], then_branch=inner, else_branch=other)
    info = helper.make_tensor_value_info
    inputs = [info("X", 1, None), info("which", onnx.TensorProto.BOOL, [])]
    made = onnx_cases.model([branch], weights, inputs=inputs, outputs=[info("Z", 1, None)])
    onnx.save(made, tmp_path / "m.onnx")
    net = rm.load(tmp_path / "m.onnx", quiet=True)
    asked = onnx_cases.asked({}) | {"which": np.array(True)}
    expected = reference.ReferenceEvaluator(made).run(["Z"], asked)[0]
    np.testing.assert_allclose(net(onnx_cases.XS), expected[:, 0, 0], atol=1e-5)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "layers", "ends"),
    list(itertools.product(["RNN", "LSTM", "GRU"], [1, 2], ["every", "last", "both"])),
)
def test_what_torch_exports_is_read_whole(kind, layers, ends, tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    both, last = ends == "both", ends == "last"

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(9, 3)
            self.rnn = getattr(torch.nn, kind)(
                3, 4, num_layers=layers, bidirectional=both, batch_first=True
            )
            self.head = torch.nn.Linear(8 if both else 4, 2)

        def forward(self, tokens):
            states = self.rnn(self.words(tokens))[0]
            return torch.softmax(self.head(states[:, -1] if last else states), -1)

    module = Model().eval()
    tokens = torch.tensor([[1, 5, 0, 8, 3]])
    path = tmp_path / "m.onnx"
    axes = {"tokens": {0: "batch", 1: "time"}}
    torch.onnx.export(
        module, (tokens,), path, dynamo=False, input_names=["tokens"], dynamic_axes=axes
    )
    found = rm.recurrent_modules(path)
    if both:
        xs = module.words.weight.detach().numpy()[tokens[0].numpy()]
        names = sorted(found)
        assert len(names) == 2 * layers
        for at in range(layers):
            back, forth = (found[name].net for name in names[2 * at : 2 * at + 2])
            xs = np.concatenate([forth(xs), back(xs[::-1])[::-1]], 1)
        expected = module.rnn(module.words(tokens))[0][0].detach().numpy()
        np.testing.assert_allclose(xs, expected, atol=1e-5)
        return
    (only,) = found.values()
    assert len(only.sizes) == 1 + layers
    assert "its Softmax left out" in str(only)
    logits = only.net(jnp.asarray(tokens[0].numpy()))
    expected = module(tokens)[0].detach().numpy()
    np.testing.assert_allclose(jax.nn.softmax(logits), expected, atol=1e-5)


def test_a_chain_along_another_axis_is_no_stack(tmp_path):
    weights = onnx_cases.initialisers("RNN")
    above = onnx_cases.initialisers("RNN", seed=2)
    above["W"] = above["W"][:, :, [0, 1, 2, 0]]
    make = helper.make_node
    upper = make("RNN", ["t", "W2", "R2"], ["Z"], name="upper", hidden_size=4)
    nodes = [
        onnx_cases.node("RNN", weights),
        make("Squeeze", ["Y", "one"], ["y"]),
        make("Transpose", ["y"], ["t"], perm=[1, 0, 2]),
        upper,
    ]
    stored = weights | {"W2": above["W"], "R2": above["R"], "one": np.array([1])}
    onnx.save(onnx_cases.model(nodes, stored), tmp_path / "m.onnx")
    assert list(rm.recurrent_modules(tmp_path / "m.onnx")) == ["layer", "upper"]
    nodes[2] = make("Identity", ["y"], ["t"])
    onnx.save(onnx_cases.model(nodes, stored), tmp_path / "m.onnx")
    (stack,) = rm.recurrent_modules(tmp_path / "m.onnx").values()
    assert stack.sizes == (3, 4, 4)


def edited(path, change, kind="LSTM", **options):
    made = onnx_cases.one(path, kind, **options)
    change(made)
    onnx.save(made, path)
    return path


def renamed(made):
    made.graph.node[0].op_type = "DynamicQuantizeLSTM"


def computed(made):
    made.graph.node[0].input[1] = "X"


def unrolled(made):
    made.graph.node[0].op_type = "MatMul"


def looped(made):
    made.graph.node[0].op_type = "Loop"


def circular(made):
    made.graph.node.append(helper.make_node("Identity", ["round"], ["round"]))
    made.graph.node[0].input[1] = "round"


def swelling(made):
    for i in range(60):
        name = "W" if i == 0 else f"w{i}"
        made.graph.node.append(helper.make_node("Concat", [name, name], [f"w{i + 1}"], axis=0))
    made.graph.node[0].input[1] = "w60"


def lying(made):
    made.graph.initializer[0].dims[1] = 1 << 40


def negative(made):
    made.graph.initializer[0].dims[1] = -1


def unknown(made):
    made.graph.initializer[0].data_type = 99


def wide(made):
    made.graph.initializer[1].dims[:] = [1, 8, 8]


def many(made):
    made.graph.node[0].attribute[0].i = 5


def wrong(made):
    (given,) = [i for i in made.graph.initializer if i.name == "B"]
    given.CopyFrom(onnx.numpy_helper.from_array(np.ones((1, 33), np.float32), "B"))


def nan(made):
    bad = np.full((1, 16, 3), np.nan, np.float32)
    made.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(bad, "W"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (renamed, "DynamicQuantizeLSTM is quantised"),
        (computed, "W of 'layer' is computed from what the model is given"),
        (unrolled, "no LSTM, GRU or RNN operator is in the graph"),
        (looped, "its Loop may be one"),
        (circular, "is computed from what the model is given"),
        (swelling, "more numbers than the file holds"),
        (lying, "claims more numbers than the file holds"),
        (negative, "claims more numbers than the file holds"),
        (unknown, "unknown kind"),
        (wide, "as many rows as each other"),
        (many, r"said to be \('LSTM', 5\), and its R is that of \('LSTM', 4\)"),
        (wrong, r"bias of 'layer' has shape \(17,\)"),
        (nan, "48 values that are NaN"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(change, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        rm.load(edited(tmp_path / "m.onnx", change), quiet=True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"activations": ["Tanh"]}, "has 1 activations, not 3"),
        ({"activations": ["Sigmoid", "Tanh", "Wave"]}, "unknown activation, 'Wave'"),
        ({"direction": "sideways"}, "one of forward, reverse, bidirectional, not 'sideways'"),
    ],
)
def test_attributes_that_mean_nothing_are_refused(settings, words, tmp_path):
    onnx_cases.one(tmp_path / "m.onnx", "LSTM", **settings)
    with pytest.raises(ValueError, match=words):
        rm.load(tmp_path / "m.onnx", quiet=True)


def test_weights_in_the_file_beside_are_read_and_nowhere_else(tmp_path):
    folder, path = tmp_path / "models", tmp_path / "models" / "m.onnx"
    folder.mkdir()
    made = onnx_cases.one(path, "GRU")
    expected = rm.load(path, quiet=True)(onnx_cases.XS)
    onnx.save(made, path, save_as_external_data=True, location="m.data", size_threshold=0)
    got = rm.load(path, quiet=True)(onnx_cases.XS)
    np.testing.assert_array_equal(got, expected)
    content = (folder / "m.data").read_bytes()
    (tmp_path / "outside.data").write_bytes(content)
    (folder / "link.data").symlink_to(tmp_path / "outside.data")
    outside = ("../outside.data", str(tmp_path / "outside.data"), "link.data", "", "..")
    for location, words in (
        *((name, "its weights lie in") for name in outside),
        ("absent.data", "no file beside it"),
        ("m.onnx", "reaches beyond"),
    ):
        made = onnx.load(path, load_external_data=False)
        for tensor in made.graph.initializer:
            del tensor.external_data[:]
            tensor.external_data.add(key="location", value=location)
            tensor.external_data.add(key="offset", value="100000")
        (folder / "bad.onnx").write_bytes(made.SerializeToString())
        with pytest.raises(ValueError, match=words):
            rm.load(folder / "bad.onnx", quiet=True)


def test_a_broken_file_and_a_missing_library_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(ValueError, match="not a whole ONNX file"):
        rm.load(path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ValueError, match=r"`pip install '.\[onnx\]'` would do"):
        rm.load(path)
