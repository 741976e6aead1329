"""A live torch module is run and compared with the network that was read from it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import save_file

from remanence import formats


torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
nn = torch.nn


class Model(nn.Module):
    """Something, an LSTM, something."""

    def __init__(self, before=None, after=None, *, inputs=5, batch_first=True):
        super().__init__()
        torch.manual_seed(0)
        self.before = before or nn.Identity()
        self.lstm = nn.LSTM(inputs, 6, batch_first=batch_first)
        self.after = after or nn.Identity()

    def forward(self, xs):
        return self.after(self.lstm(self.before(xs))[0])


def mlp():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


def normed():
    norm = nn.LayerNorm(6)
    nn.init.normal_(norm.weight)
    return nn.Sequential(norm, nn.Linear(6, 3))


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 5)

    def forward(self, tokens):
        return 2 * self.embedding(tokens)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (Model(after=normed()), r"outputs differ .* by up to \d"),
        (Model(after=mlp()), r"returns \[1, 6, 3\] numbers .* gives \[1, 6, 8\]"),
        (Model(after=nn.Sequential(nn.Linear(6, 3), nn.LogSoftmax(-1))), "up to"),
        (Model(after=nn.Sequential(nn.ReLU(), nn.Linear(6, 3))), "up to"),
        (Model(after=nn.ReLU()), "up to"),
        (Model(before=Scaled()), "inputs of the recurrent module differ from the embedding by"),
        (Model(before=nn.LayerNorm(5)), "module differ from the inputs by up to"),
        (Model(before=nn.Linear(4, 5)), "example= with inputs that it takes"),
    ],
)
def test_a_module_that_computes_something_else_is_refused_with_its_size(module, words):
    with pytest.raises(ValueError, match=words):
        formats.from_torch(module)


class Classifier(Model):
    def forward(self, xs):
        return super().forward(xs)[:, -1], "something else"


class Logits(Model):
    def forward(self, xs):
        return {"hidden": None, "logits": super().forward(xs)}


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(5, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, xs):
        h, out = None, []
        for x in xs:
            h = self.cell(x, h)
            out.append(self.head(h))
        return torch.stack(out)


class Packed(Model):
    def forward(self, xs):
        lengths = torch.full((len(xs),), xs.shape[1])
        packed = nn.utils.rnn.pack_padded_sequence(xs, lengths, batch_first=True)
        states, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.after(states).transpose(1, 2)


@pytest.mark.parametrize(
    ("module", "options"),
    [
        (Model(after=nn.Linear(6, 3)), {}),
        (Model(after=nn.Linear(6, 3), batch_first=False), {}),
        (Model(nn.Embedding(9, 5), nn.Linear(6, 9)), {}),
        (Model(nn.Embedding(9, 5), nn.Linear(6, 9, bias=False)).double(), {}),
        (Classifier(after=nn.Linear(6, 3)), {"positions": "last"}),
        (Logits(after=nn.Linear(6, 3)), {}),
        (Steps(), {}),
        (Packed(after=nn.Linear(6, 3)), {}),
        (Model(nn.Conv1d(4, 10, 3), nn.Linear(6, 3), inputs=8), {"example": (4, 10)}),
        (Model(after=normed()), {"readout": ""}),
        (Model(nn.LayerNorm(5), nn.Linear(6, 3)), {"embedding": ""}),
    ],
)
def test_a_module_that_computes_the_same_is_read(module, options):
    if "example" in options:
        options |= {"example": torch.randn(options["example"])}
    net = formats.from_torch(module, **options)
    assert (net.W_y is None) == ("readout" in options)


@pytest.mark.parametrize("right", [True, False])
def test_a_head_of_ones_own_is_compared_too(right):
    module = Model(after=mlp())
    first, _, last = module.after
    head = eqx.nn.MLP(6, 3, 8, 1, key=jax.random.key(0))
    array = lambda tensor: jnp.asarray(tensor.detach().numpy())
    new = [array(t) for t in (first.weight, first.bias, last.weight, last.bias)]
    new[-1] = new[-1] if right else new[-1] + 0.5
    where = lambda h: [p for layer in h.layers for p in (layer.weight, layer.bias)]
    head = eqx.tree_at(where, head, new)
    if not right:
        with pytest.raises(ValueError, match=r"by up to 0\.5"):
            formats.from_torch(module, head=head)
        return
    net = formats.from_torch(module, head=head)
    xs = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    with torch.no_grad():
        expected = module(torch.from_numpy(xs)[None])[0].numpy()
    np.testing.assert_allclose(net(xs), expected, atol=1e-6)


def test_a_state_to_start_from_and_other_surprises_are_named():
    class Started(Model):
        def forward(self, xs):
            h = torch.ones(1, len(xs), 6)
            return self.after(self.lstm(xs, hx=(h, h))[0])

    with pytest.raises(ValueError, match="from a state other than zero"):
        formats.from_torch(Started())
    with pytest.raises(ValueError, match="positions='last' would do"):
        formats.from_torch(Classifier(after=nn.Linear(6, 3)))
    parts = nn.ModuleDict({"rnn": nn.GRU(5, 6), "out": nn.Linear(6, 3)})
    with pytest.raises(ValueError, match="does not run on one sequence"):
        formats.from_torch(parts)
    with pytest.raises(ValueError, match="a head takes the place"):
        formats.from_torch(Model(after=mlp()), readout="after.0", head=jnp.tanh)
    example = torch.randn(1, 4, 5)
    with pytest.raises(ValueError, match="was given no tokens"):
        formats.from_torch(Model(before=nn.Linear(5, 5, bias=False)), example=example)


def test_the_module_is_left_as_it_was():
    module = Model(after=nn.Sequential(nn.Dropout(0.5), normed()))
    module.lstm.eval()
    before = torch.get_rng_state()
    with pytest.raises(ValueError, match="up to"):
        formats.from_torch(module)
    assert module.training and module.after.training and not module.lstm.training
    assert not module.lstm._forward_hooks
    assert torch.equal(before, torch.get_rng_state())


def arrays(module):
    return {name: t.numpy() for name, t in module.state_dict().items()}


@pytest.mark.parametrize(
    ("module", "between", "named"),
    [
        (Model(after=normed()), "after.0.weight", "after.1"),
        (Model(after=mlp()), "after.2.weight", "after.0"),
        (Model(after=nn.Sequential(nn.PReLU(), nn.Linear(6, 3))), "after.0", "after.1"),
    ],
)
def test_of_a_file_no_readout_is_taken_that_something_may_act_beside(
    module, between, named, tmp_path
):
    path = tmp_path / "model.safetensors"
    save_file(arrays(module), path)
    net, taken = formats.load_and_tell(path)
    assert net.W_y is None
    assert f"readout none ({between}" in taken and f"readout='{named}'" in taken
    net, taken = formats.load_and_tell(path, readout=named)
    assert net.W_y is not None and f"readout {named}.weight," in taken


def test_of_a_file_no_embedding_is_taken_that_something_may_act_behind(tmp_path):
    path = tmp_path / "model.safetensors"
    before = nn.Sequential(nn.Embedding(9, 5), nn.LayerNorm(5))
    save_file(arrays(Model(before, nn.Linear(6, 9))), path)
    net, taken = formats.load_and_tell(path)
    assert net.embedding is None and net.W_y is not None
    assert "embedding none (before.1.weight may act beside before.0.weight" in taken


def test_another_recurrent_module_may_stand_between(tmp_path):
    path = tmp_path / "model.safetensors"
    parts = {"a": nn.LSTM(5, 6), "b": nn.LSTM(6, 6), "out": nn.Linear(6, 3)}
    save_file(arrays(nn.ModuleDict(parts)), path)
    net, taken = formats.load_and_tell(path, prefix="a")
    assert net.W_y is None and "b.weight_ih_l0 may act beside out.weight" in taken


def test_a_front_end_stands_between_nothing(tmp_path):
    path = tmp_path / "model.safetensors"
    before = nn.Sequential(nn.Conv1d(4, 7, 3), nn.BatchNorm1d(7), nn.Linear(8, 5))
    save_file(arrays(Model(before, nn.Linear(6, 3))), path)
    net, taken = formats.load_and_tell(path)
    assert net.W_y is not None and "not used: before.0.bias" in taken
