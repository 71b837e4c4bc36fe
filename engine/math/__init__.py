"""Vectors, quaternions and matrices."""
