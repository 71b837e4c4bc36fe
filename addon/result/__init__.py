"""From the Result to the result armature, takes and curves."""
