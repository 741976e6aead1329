"""Weights written down."""
