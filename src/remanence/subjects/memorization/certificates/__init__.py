"""Proofs that a written memory is right, step by step or for ever, by its construction."""

from .certificate import attraction_certificate, exact_certificate
from .rotation_drift import drift_certificate, reading_certificate


CERTIFICATES = {
    "permutation": exact_certificate,
    "rational": exact_certificate,
    "tanh": attraction_certificate,
    "rotation": drift_certificate,
    "harmonic": drift_certificate,
    "once": reading_certificate,
}
"""From the weights and the word's labels; a shift map is proved from its word (`shift_certificate`)."""
