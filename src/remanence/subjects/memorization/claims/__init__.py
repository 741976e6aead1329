"""What the notes say, sentence by sentence, their mistakes included; then our answers."""

from .answers import ANSWERS
from .dimension import DIMENSION
from .notes import NOTES


CLAIMS = (*NOTES, *sorted((*DIMENSION, *ANSWERS), key=lambda claim: int(claim.id[4:])))
