"""Recurrent maps: pure functions `(h, x) -> h'` on a pytree state."""

from .affine import Elman as Elman, Linear as Linear
from .base import (
    AbstractCell as AbstractCell,
    DiagonalForm as DiagonalForm,
    dimension as dimension,
    GRUForm as GRUForm,
    input_size as input_size,
    jacobian as jacobian,
    log_volume as log_volume,
    LoopForm as LoopForm,
    LSTMForm as LSTMForm,
    output as output,
    pushforward as pushforward,
    StackForm as StackForm,
)
from .delta_rule import DeltaRule as DeltaRule, GatedDelta as GatedDelta, RWKV7 as RWKV7
from .diagonal import Diagonal as Diagonal
from .gru import GeneralGRU as GeneralGRU, GRU as GRU
from .layers import Blocks as Blocks
from .linear_attention import (
    GLA as GLA,
    MLSTM as MLSTM,
    RetNet as RetNet,
    RWKV4 as RWKV4,
    RWKV6 as RWKV6,
)
from .linear_recurrence import Heads as Heads, LinearRecurrence as LinearRecurrence
from .lstm import GeneralLSTM as GeneralLSTM, LSTM as LSTM, SLSTM as SLSTM
from .residual import Residual as Residual, WeaklyCoupled as WeaklyCoupled
from .selective import (
    Mamba as Mamba,
    Mamba2 as Mamba2,
    MinGRU as MinGRU,
    MinLSTM as MinLSTM,
    RGLRU as RGLRU,
)
from .stack import Stack as Stack, Started as Started
