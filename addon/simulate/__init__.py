"""Running simulations: one, live, in slices, and the compiler beside them."""
