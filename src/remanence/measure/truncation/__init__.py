"""Windows and errors of truncation: from a certificate, and measured."""

from .error import truncation_error as truncation_error, TruncationError as TruncationError
from .gradient import gradient_bound as gradient_bound
from .window import truncation_bound as truncation_bound, truncation_window as truncation_window
