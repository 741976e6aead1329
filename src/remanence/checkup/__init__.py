"""Any network, one page."""

from .examine import checkup as checkup
from .monitor import lightning_callback as lightning_callback, monitor as monitor
from .record import Checkup as Checkup, Checkups as Checkups


# `remanence.checkup` is the function, also for `import remanence.checkup.page as page`,
# which looks for the file there: so the function has the folder's attributes.
globals().update(vars(checkup))
checkup.__dict__ = globals()
