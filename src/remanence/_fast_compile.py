"""Compiler options for programs that run no longer than they compile."""

FAST_COMPILE = {"xla_backend_optimization_level": 1}
"""LLVM at its first level: a third to a half of the compile time; scans ran no slower."""
