"""Plain input and output data: Model, Motion, Keys, Scene, Result."""
