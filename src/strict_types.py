"""The checker that tests put on every signature: beartype, where an int is a float.

Named in `pyproject.toml`; it stands beside the package, since the package's own
modules are checked by it while they are imported.
"""

from beartype import beartype, BeartypeConf


checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
