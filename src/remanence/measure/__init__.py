"""Weights understood."""
