"""Shared by several controllers: strength, recovery after a blow, guided roots."""
