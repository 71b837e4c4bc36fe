"""What several controllers use: strength, recovery after a blow, guided roots."""
