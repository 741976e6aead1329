"""Constructions: each writes one word into the weights of a network."""
