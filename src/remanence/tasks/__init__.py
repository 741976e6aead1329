"""What is to be remembered."""

from .adding import adding as adding
from .download import data_file as data_file
from .modular import Modular as Modular
from .pixels import Pixels as Pixels, pixels as pixels
from .series import sunspots as sunspots, windows as windows
from .words import (
    END as END,
    necklaces as necklaces,
    START as START,
    Word as Word,
    word as word,
)
