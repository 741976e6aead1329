"""Weights learned."""
