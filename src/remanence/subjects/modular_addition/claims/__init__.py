"""What Rangamani (2025) says and what is asked beyond: each claim in the file with its number."""

from .ablation_5_7_8_15 import ABLATION
from .beyond_9_10_11_12_13_14 import BEYOND
from .weights_1_2_3_4_6 import WEIGHTS


CLAIMS = tuple(sorted((*WEIGHTS, *ABLATION, *BEYOND), key=lambda c: int(c.id.split(".")[1])))
