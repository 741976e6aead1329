"""What the document says, in its order: one object a claim."""

from .connectivity_threshold import CONNECTIVITY_THRESHOLD
from .published_figure import PUBLISHED_FIGURE
from .toy_and_theory import TOY_AND_THEORY


CLAIMS = tuple(
    sorted(
        CONNECTIVITY_THRESHOLD + PUBLISHED_FIGURE + TOY_AND_THEORY,
        key=lambda claim: int(claim.id.split(".")[1]),
    )
)
