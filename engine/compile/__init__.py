"""numba: the decorators of kernels, their cache on disk, tables as one pointer."""
