"""Layers that see faces."""
