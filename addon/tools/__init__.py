"""What an animator does with physics by hand: throw, nudge, pull, pose scripts, copy."""
