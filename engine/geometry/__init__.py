"""Shapes and meshes: their data, masses and fits to points. Must not know motion."""
