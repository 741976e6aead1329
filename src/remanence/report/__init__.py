"""Claims, figures and pages."""

from .claims import (
    Claim as Claim,
    Evidence as Evidence,
    judged as judged,
    Statement as Statement,
    Verdict as Verdict,
)
from .study import Bench as Bench, Figure as Figure, Outcome as Outcome, Study as Study
