"""Where shapes touch: broad phase, narrow phase, time of impact."""
