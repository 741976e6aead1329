r"""Stable recurrence: when a recurrent model need not be recurrent.

Miller and Hardt (2019), Stable recurrent models, ICLR, arXiv:1805.10369.
"""
