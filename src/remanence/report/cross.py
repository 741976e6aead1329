"""The earlier name of `cross_table.py`, for studies that still import it."""

from .cross_table import cross_table as cross_table, Row as Row
