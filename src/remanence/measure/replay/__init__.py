"""How many of the last inputs suffice, measured at every position."""

from .record import ReplayWindow as ReplayWindow, WindowCost as WindowCost
from .runs import WORK as WORK
from .token_record import TokenReplay as TokenReplay
from .window import replay_window as replay_window
