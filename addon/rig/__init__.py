"""Properties of a rig's bones: roles, skin, ends, joint limits."""
