"""Proofs that a written memory is right, step by step or for ever."""
