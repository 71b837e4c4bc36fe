"""Plain data in and out: Model, Motion, Keys, Scene, Result."""
