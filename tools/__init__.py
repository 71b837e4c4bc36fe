"""What `dev.py` works with. Standard library only, from Python 3.9 on."""
