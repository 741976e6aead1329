"""What the document says: each claim in the file whose name ends in its number."""

from .figure_one_3_4_13 import FIGURE_ONE
from .threshold_1_2_12_14 import THRESHOLD
from .toy_and_theory_5_to_11 import TOY_AND_THEORY


CLAIMS = (*THRESHOLD, *FIGURE_ONE, *TOY_AND_THEORY)
CLAIMS = tuple(sorted(CLAIMS, key=lambda claim: int(claim.id.split(".")[1])))
