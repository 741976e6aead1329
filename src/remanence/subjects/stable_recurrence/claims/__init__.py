"""What Miller and Hardt (2019) say, and what goes beyond it."""

from .certificates import CERTIFICATES
from .models import MODELS
from .theory import THEORY


_number = lambda claim: int(claim.id.split(".")[1].split("-")[0])
CLAIMS = tuple(sorted((*THEORY, *MODELS, *CERTIFICATES), key=_number))
