"""Networks in and out."""

from .files import (
    load as load,
    load_and_tell as load_and_tell,
    recurrent_modules as recurrent_modules,
    RecurrentModule as RecurrentModule,
)
from .recording import record as record, Recorded as Recorded
from .saving import save as save
from .torch import from_torch as from_torch, model_networks as model_networks, to_torch as to_torch
