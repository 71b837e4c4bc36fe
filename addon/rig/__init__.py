"""What the rig says of its bones: roles, skin, ends, joint limits."""
