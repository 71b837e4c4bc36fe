"""From rig and scene to the engine: Model, Motion, Scene, controller."""
