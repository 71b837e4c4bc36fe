"""Toys that try the seams of controllers and of shapes.

Controllers, on three levels: the reference, what drives can give, the run as a whole. They are copied into a copy of
the engine, where each is one file and one line in the registry, and one line a hook.

A shape: `wedge`, one file, and lines where it is listed and offered.
"""
