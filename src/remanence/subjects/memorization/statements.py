"""What is claimed: the document's sentences, then our answers."""

from .answers import ANSWERS
from .sentences import SENTENCES


STATEMENTS = (*SENTENCES, *ANSWERS)
