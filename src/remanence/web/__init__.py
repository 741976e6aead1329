"""The lab in a browser."""
