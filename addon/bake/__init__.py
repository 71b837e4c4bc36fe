"""From the result to new keys."""
