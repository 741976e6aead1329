"""Recurrent maps: pure functions `(h, x) -> h'` on a pytree state."""

from .affine import Elman, Linear
from .base import (
    AbstractCell,
    DiagonalForm,
    dimension,
    GRUForm,
    input_size,
    jacobian,
    log_volume,
    LoopForm,
    LSTMForm,
    output,
    pushforward,
    StackForm,
)
from .delta_rule import DeltaRule, GatedDelta, RWKV7
from .diagonal import Diagonal
from .gru import GeneralGRU, GRU
from .layers import Blocks
from .linear_attention import GLA, MLSTM, RetNet, RWKV4, RWKV6
from .linear_recurrence import Heads, LinearRecurrence
from .lstm import GeneralLSTM, LSTM, SLSTM
from .residual import Residual, WeaklyCoupled
from .selective import Mamba, Mamba2, MinGRU, MinLSTM, RGLRU
from .stack import Stack, Started
