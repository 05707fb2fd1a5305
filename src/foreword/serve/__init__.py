"""Doors: bytes to the engine and back, no decisions."""
