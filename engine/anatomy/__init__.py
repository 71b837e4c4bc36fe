"""Anatomy: names and roles of bones, the choice of bodies, sizes, masses, joint limits, strengths."""
