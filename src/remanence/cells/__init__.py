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
from .contraction_form import (
    DiagonalForm as DiagonalForm,
    GRUForm as GRUForm,
    LoopForm as LoopForm,
    LSTMForm as LSTMForm,
    NonlinearResidualForm as NonlinearResidualForm,
    StackForm as StackForm,
)
from .diagonal import Diagonal as Diagonal
from .elman import Elman as Elman
from .gated_residual import WeaklyCoupled as WeaklyCoupled
from .general_gru import GeneralGRU as GeneralGRU
from .general_lstm import GeneralLSTM as GeneralLSTM
from .gru import GRU as GRU
from .linear import Linear as Linear
from .lstm import LSTM as LSTM
from .nonlinear_residual import NonlinearResidual as NonlinearResidual
from .residual import Residual as Residual
from .stack import Stack as Stack
from .started import Started as Started
