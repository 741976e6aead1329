"""What Rangamani (2025) says and what is asked beyond: each claim in the file with its number."""

from .ablation_5_7_8_15 import ABLATION
from .beyond_9_10_11_12_13_14 import BEYOND
from .frequencies_1_3_4 import FREQUENCIES
from .ranks_2_6 import RANKS


CLAIMS = tuple(
    sorted((*FREQUENCIES, *RANKS, *ABLATION, *BEYOND), key=lambda c: int(c.id.split(".")[1]))
)
