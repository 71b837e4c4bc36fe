"""The settings that physics starts with: follows the keys without weight, and yields to what it meets"""
