"""Layers that hear voices."""
