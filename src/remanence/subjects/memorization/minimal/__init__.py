"""The fewest units that hold a word, and proofs that fewer cannot."""
