"""Pull Pose: a body is pulled by a point, joints and pins hold."""
