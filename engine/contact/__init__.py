"""Constraint rows of contacts, ties and limits, and their solution."""
