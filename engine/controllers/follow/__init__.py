"""Follow: joints return to their keys by a damped spring law in closed form (METHODS §1)."""
