"""The same under its earlier name, until the last file that asks for it has moved."""
