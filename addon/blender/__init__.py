"""Thin wrappers of Blender: actions, NLA, channels, sampling. No physics."""
