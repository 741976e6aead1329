"""Any network, one page."""
