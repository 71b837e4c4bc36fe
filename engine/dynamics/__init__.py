"""Rigid bodies in reduced coordinates: kinematics, the articulated-body algorithm, momentum, tone."""
