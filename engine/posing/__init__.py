"""Pull Pose: pull a body by a point, with joints and pins."""
