"""What Miller and Hardt (2019) say, and what goes beyond it."""

from .certificates import CERTIFICATES
from .models import MODELS
from .theory import THEORY


CLAIMS = tuple(
    sorted(
        (*THEORY, *MODELS, *CERTIFICATES),
        key=lambda claim: int(claim.id.split(".")[1].split("-")[0]),
    )
)
