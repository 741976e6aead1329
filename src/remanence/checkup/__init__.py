"""Any network, one page."""

from .examine import checkup as checkup
from .record import Checkup as Checkup
