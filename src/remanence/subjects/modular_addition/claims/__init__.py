"""What Rangamani (2025) says, and what is asked beyond it."""

from .beyond import BEYOND
from .circuit import CIRCUIT
from .frequencies import FREQUENCIES
from .recipes import RECIPES


CLAIMS = tuple(
    sorted((*FREQUENCIES, *CIRCUIT, *BEYOND, *RECIPES), key=lambda c: int(c.id.split(".")[1]))
)
