"""What Miller and Hardt (2019) say, and what goes beyond it."""

from .models import MODELS
from .theory import THEORY


CLAIMS = tuple(sorted((*THEORY, *MODELS), key=lambda c: int(c.id.split(".")[1].split("-")[0])))
