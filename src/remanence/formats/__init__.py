"""Networks in and out."""

from .files import load, load_and_tell, recurrent_modules, RecurrentModule
from .recording import record, Recorded
from .saving import save
from .torch import from_torch, model_networks, to_torch
