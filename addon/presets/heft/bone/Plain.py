"""As its character: all multipliers at 1"""
