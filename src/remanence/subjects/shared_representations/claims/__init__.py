"""What the document says: each claim in the file whose name ends in its number."""

from .figure_one_3_4_13 import FIGURE_ONE
from .theory_8_9_10 import THEORY
from .threshold_1_2_12_14 import THRESHOLD
from .toy_5_6_7_11 import TOY


CLAIMS = tuple(
    sorted(THRESHOLD + FIGURE_ONE + TOY + THEORY, key=lambda claim: int(claim.id.split(".")[1]))
)
