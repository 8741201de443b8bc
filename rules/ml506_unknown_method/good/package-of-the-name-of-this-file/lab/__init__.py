"""Layers of fewer bits."""
