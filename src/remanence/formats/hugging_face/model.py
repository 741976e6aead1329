"""What a family's reader takes a model from: named tensors and a configuration, both checked."""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...cells import Blocks
from ...cells.parts import Convolution, Dense, exact_gelu, GatedMLP, Norm
from ...nets import Recurrent
from ..recurrent_cell import PLAIN
from ..safetensors import real, Tensors


GELUS = {"gelu_pytorch_tanh": jax.nn.gelu, "gelu_new": jax.nn.gelu, "gelu": exact_gelu}
ACTIVATIONS: dict[str, Callable] = {name: PLAIN[name] for name in ("silu", "swish", "relu")} | GELUS


@dataclasses.dataclass(frozen=True)
class Source:
    """The tensors under a prefix, and the configuration that goes with them."""

    tensors: Tensors
    config: dict[str, Any]
    prefix: str = ""

    def under(self, name: str) -> "Source":
        """The same, one level further down."""
        return dataclasses.replace(self, prefix=f"{self.prefix}{name}.")

    def has(self, name: str) -> bool:
        return self.prefix + name in self.tensors

    def numbered(self, stem: str, count: int) -> "list[Source]":
        """`stem.0`, `stem.1`, ..., refused unless the weights hold so many."""
        start = f"{self.prefix}{stem}."
        inside = [name.removeprefix(start) for name in self.tensors if name.startswith(start)]
        held = len({name.partition(".")[0] for name in inside})
        if held != count:
            raise ValueError(f"config.json has {count} layers, and the weights hold {held}")
        return [self.under(f"{stem}.{i}") for i in range(count)]

    def array(self, name: str, dimensions: int | None = None) -> jax.Array:
        """The tensor of that name, refused if it is missing or of other dimensions."""
        if not self.has(name):
            raise ValueError(f"the weights hold no {self.prefix}{name}")
        title = self.prefix + name
        found = real(title, np.asarray(self.tensors[title]))
        if dimensions not in (None, found.ndim):
            raise ValueError(f"{title} has {found.ndim} dimensions; {dimensions} would do")
        return jnp.asarray(found)

    def setting(self, key: str, default: Any, fits: Callable[[Any], bool], would: str) -> Any:
        """A value of the configuration, refused unless it fits."""
        value = self.config.get(key, default)
        if not fits(value):
            raise ValueError(f"config.json has {key} = {value!r:.60}; {would} would do")
        return value

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number of the configuration, from 1 on."""
        return self.setting(key, default, lambda v: type(v) is int and v > 0, "a whole number")

    def number(self, key: str, default: float) -> float:
        """A real number of the configuration."""
        real = lambda v: isinstance(v, int | float) and abs(v) < 1e30
        return float(self.setting(key, default, real, "a number"))

    def activation(self, key: str, default: str) -> Callable:
        """The function that the configuration names."""
        known = lambda v: isinstance(v, str) and v in ACTIVATIONS
        return ACTIVATIONS[self.setting(key, default, known, ", ".join(ACTIVATIONS))]

    def bias(self, name: str) -> jax.Array | None:
        """The bias that goes with a weight, if there is one."""
        return self.array(f"{name}.bias", 1) if self.has(f"{name}.bias") else None

    def norm(self, name: str, eps: float, *, centred=False, groups=1, one=0.0) -> Norm:
        """A norm whose weight is stored as what is added to `one`."""
        weight = self.array(f"{name}.weight", 1) + one
        return Norm(weight, self.bias(name), eps, centred, groups)

    def dense(self, name: str) -> Dense:
        """A linear layer."""
        return Dense(self.array(f"{name}.weight", 2), self.bias(name))

    def convolution(self, name: str) -> Convolution:
        """A convolution of each channel for itself."""
        weight = self.array(f"{name}.weight", 3)
        if weight.shape[1] != 1:
            raise ValueError(f"{self.prefix}{name} mixes channels; one a channel would do")
        return Convolution(weight[:, 0], self.bias(name))

    def head(self, name: str, embedding: jax.Array, *, tied: bool = False) -> jax.Array:
        """The readout; the embedding, where there is none and the configuration says so."""
        if not self.has(name) and not self.config.get("tie_word_embeddings", tied):
            raise ValueError(
                f"the weights hold no {name}, and config.json does not tie it to the embedding; "
                "a model with its head would do"
            )
        return self.array(name, 2) if self.has(name) else embedding

    def mlp(self, name: str, norm: Norm | None, activation: Callable) -> GatedMLP:
        """A gated perceptron under Llama's names."""
        gate, up, down = (self.dense(f"{name}.{p}_proj") for p in ("gate", "up", "down"))
        return GatedMLP(norm, gate, up, down, activation)


def rows(layer: Dense, *parts: slice | np.ndarray) -> list[Dense]:
    """Some rows of a linear layer, each part as a layer of its own."""
    return [Dense(layer.W[part], None if layer.b is None else layer.b[part]) for part in parts]


def join_rows(*layers: Dense) -> Dense:
    """Linear layers of one input, one above the other."""
    W = jnp.concatenate([layer.W for layer in layers])
    if all(layer.b is None for layer in layers):
        return Dense(W)
    biases = [jnp.zeros(len(each.W)) if each.b is None else each.b for each in layers]
    return Dense(W, jnp.concatenate(biases).astype(W.dtype))


class SoftCappedHead(eqx.Module):
    """Logits that stay within a cap, c tanh(W y / c)."""

    W: jax.Array
    cap: float = eqx.field(static=True)

    def __call__(self, y: jax.Array) -> jax.Array:
        return self.cap * jnp.tanh(self.W @ y / self.cap)


@dataclasses.dataclass(frozen=True)
class Family:
    """Where a family of models keeps its parts, and how one of its layers is read."""

    layer: Callable[[Source, int], Any]
    body: str
    layers: str
    embedding: str
    norm: str
    eps: tuple[str, float]
    """The configuration's name for what is added in norms, and its default."""
    one: float = 0.0
    cap: tuple[str, float] | None = None
    """The configuration's name for the cap of the logits, and its default."""
    scaled: bool = False
    """Whether embeddings are multiplied by the root of their width."""
    tied: bool = False
    """Whether the embedding is the head where the configuration does not say."""

    def __call__(self, source: Source) -> Recurrent:
        """The whole model."""
        inside = source.has(f"{self.body}.{self.embedding}.weight")
        body = source.under(self.body) if inside else source
        own = "num_blocks" in source.config and source.config.get("num_hidden_layers") is None
        count = source.whole("num_blocks" if own else "num_hidden_layers")
        sources = body.numbered(self.layers, count)
        layers = [self.layer(layer, i) for i, layer in enumerate(sources)]
        rows = body.array(f"{self.embedding}.weight", 2)
        # transformers keeps the factor in bfloat16.
        scale = float(jnp.asarray(rows.shape[1] ** 0.5, jnp.bfloat16)) if self.scaled else 1.0
        return language_model(
            layers,
            body.norm(self.norm, source.number(*self.eps), one=self.one),
            rows * scale,
            source.head("lm_head.weight", rows, tied=self.tied),
            cap=None if self.cap is None else source.number(*self.cap),
        )


def language_model(
    layers: list[Any],
    norm: Norm,
    embedding: jax.Array,
    head: jax.Array,
    *,
    cap: float | None = None,
    spare: int = 0,
) -> Recurrent:
    """The whole model, refused unless its weights take a step."""
    body = Blocks(tuple(layers), norm, embedding.shape[1], spare)
    soft = None if cap is None else SoftCappedHead(head, cap)
    net = Recurrent(body, head if soft is None else None, embedding=embedding, head=soft)
    logits = eqx.filter_eval_shape(net, jnp.zeros(2, jnp.int32))
    if logits.shape != (2, len(embedding)):
        raise ValueError(f"the head gives {logits.shape[-1]} numbers for {len(embedding)} tokens")
    return net
