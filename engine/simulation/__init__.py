"""Whole shots: characters joined, split into groups and limbs, continued from checkpoints."""
