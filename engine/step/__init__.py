"""One step of the dynamics, its stages, and the compiled loop over frames."""
