"""Compiling with numba: decorators of kernels, their cache on disk, tables as pointers."""
