"""Shapes and meshes: what they hold, how they are fitted. Nothing moves here."""
