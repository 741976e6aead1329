"""What Dubinin and Effenberger (2024) say, and the questions that they leave."""

from .accuracy import ACCURACY
from .kinds import KINDS
from .spectrum import SPECTRUM


CLAIMS = (*SPECTRUM, *ACCURACY, *KINDS)
