"""Vectors and quaternions, without meaning."""
