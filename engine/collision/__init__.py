"""Collision detection of shapes: broad phase, narrow phase, time of impact."""
