"""Running simulations: at once, live, or in slices; compiling the engine in the background."""
