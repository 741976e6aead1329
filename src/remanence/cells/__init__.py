"""Recurrent maps: pure functions `(h, x) -> h'` on a pytree state."""

from .base import (
    AbstractCell,
    DiagonalForm,
    dimension,
    dual_pushforward,
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
from .elman import Elman
from .gru import GeneralGRU, GRU
from .layers import Blocks
from .linear import Linear
from .linear_attention import GLA, MLSTM, RetNet, RWKV4, RWKV6
from .linear_recurrence import Heads, LinearRecurrence
from .lstm import GeneralLSTM, LSTM
from .residual import Residual, WeaklyCoupled
from .selective import Mamba, Mamba2, MinGRU, MinLSTM, RGLRU
from .slstm import SLSTM
from .stack import Stack, Started
