"""xLSTM (the mLSTM of its large model) as transformers saves it."""

import jax

from ...cells import Heads, LinearRecurrence, MLSTM
from ...cells.layers import GatedLayer
from ...cells.parts import GatedMLP
from .model import join_rows, rows, Source


def xlstm_layer(block: Source, _: int) -> GatedLayer:
    """An mLSTM and a gated perceptron."""
    eps = block.number("norm_eps", 1e-6)
    unit, ffn = block.under("mlstm_layer"), block.under("ffn")
    H = block.whole("num_heads", 8)
    if unit.has("qkv_opreact.weight"):
        values = int(block.whole("hidden_size") * block.number("v_dim_factor", 1.0))
        fused, gates_in = unit.dense("qkv_opreact"), unit.dense("ifgate_preact")
        qkv, W_gate = rows(fused, slice(-values), slice(-values, None))
    else:
        qkv = join_rows(*(unit.dense(part) for part in "qkv"))
        gates_in = join_rows(unit.dense("igate_preact"), unit.dense("fgate_preact"))
        W_gate = unit.dense("ogate_preact")
        values = len(W_gate.W)
    keys = (len(qkv.W) - values) // 2
    heads = Heads(H, keys // H, values // H)
    gates = MLSTM(heads, block.number("gate_soft_cap", 15.0), block.number("eps", 1e-6))
    return GatedLayer(
        block.norm("norm_mlstm", eps),
        join_rows(qkv, gates_in),
        LinearRecurrence(gates),
        unit.dense("out_proj"),
        None,
        W_gate,
        unit.norm("multihead_norm", eps, centred=True, groups=H),
        _perceptron(block, ffn, eps),
        gate=jax.nn.sigmoid,
    )


def _perceptron(block: Source, ffn: Source, eps: float) -> GatedMLP:
    if ffn.has("proj_up_gate_z.weight"):
        both = ffn.dense("proj_up_gate_z")
        half = len(both.W) // 2
        gate, up = rows(both, slice(half), slice(half, None))
    else:
        gate, up = ffn.dense("proj_up_gate"), ffn.dense("proj_up")
    return GatedMLP(block.norm("norm_ffn", eps), gate, up, ffn.dense("proj_down"))
