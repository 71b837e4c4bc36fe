"""On Time: joints arrive at physical keys on their time (METHODS §2)."""
