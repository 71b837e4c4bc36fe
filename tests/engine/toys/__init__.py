"""Toy controllers that try the seam on its three levels: the reference, what drives can give, the run as a whole.

They are copied into a copy of the engine, where each is one file and one line in the registry, and one line a hook.
"""
