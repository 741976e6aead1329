"""Any network, one page."""

import sys
import types
from typing import Any

from .examine import checkup as checkup
from .record import Checkup as Checkup


class _Folder(types.ModuleType):
    """This folder and the function in it share a name: calling either does the same.

    Once the folder is imported, Python makes `remanence.checkup` the folder.
    """

    def __call__(self, *arguments: Any, **options: Any) -> Checkup:
        return checkup(*arguments, **options)


sys.modules[__name__].__class__ = _Folder
