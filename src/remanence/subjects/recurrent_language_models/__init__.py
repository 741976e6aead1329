r"""Recurrent language models: replay windows and spectra of gated recurrences that were trained.

Halloran, Gulati and Roysdon (2024), arXiv:2406.00209; Chen et al. (2024), arXiv:2410.07145;
Ben-Kish et al. (2024), arXiv:2406.14528.
"""
