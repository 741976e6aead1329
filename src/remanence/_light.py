"""The same under its earlier name, until the last file that asks for it has moved."""

from ._fast_compile import FAST_COMPILE as LIGHT


__all__ = ["LIGHT"]
