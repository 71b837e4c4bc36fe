"""Tools for physics by hand: throw, nudge, pull, pose scripts, copy."""
