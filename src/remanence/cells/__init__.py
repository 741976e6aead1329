"""Recurrent maps: pure functions `(h, x) -> h'` on a pytree state."""

from .base import (
    AbstractCell as AbstractCell,
    dimension as dimension,
    input_size as input_size,
    jacobian as jacobian,
    log_volume as log_volume,
    output as output,
    pushforward as pushforward,
)
from .blocks import Blocks as Blocks
from .contraction_form import (
    DiagonalForm as DiagonalForm,
    GRUForm as GRUForm,
    LoopForm as LoopForm,
    LSTMForm as LSTMForm,
    StackForm as StackForm,
)
from .delta_rule import DeltaRule as DeltaRule, GatedDelta as GatedDelta, RWKV7 as RWKV7
from .diagonal import Diagonal as Diagonal
from .elman import Elman as Elman
from .gru import GeneralGRU as GeneralGRU, GRU as GRU
from .heads import Heads as Heads
from .linear import Linear as Linear
from .linear_attention import (
    GLA as GLA,
    MLSTM as MLSTM,
    RetNet as RetNet,
    RWKV4 as RWKV4,
    RWKV6 as RWKV6,
)
from .linear_recurrence import LinearRecurrence as LinearRecurrence
from .lstm import GeneralLSTM as GeneralLSTM, LSTM as LSTM
from .residual import Residual as Residual, WeaklyCoupled as WeaklyCoupled
from .selective import (
    Mamba as Mamba,
    Mamba2 as Mamba2,
    MinGRU as MinGRU,
    MinLSTM as MinLSTM,
    RGLRU as RGLRU,
)
from .slstm import SLSTM as SLSTM
from .stack import Stack as Stack
from .started import Started as Started
