"""What the notes say, sentence by sentence, their mistakes included; then our answers."""

from .answers import ANSWERS
from .notes import NOTES


CLAIMS = (*NOTES, *ANSWERS)
