"""Follow: joints go to their keys by a critically damped law (METHODS §1)."""
