"""Without a window: the command line."""
