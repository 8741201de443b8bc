"""Fixes: chosen, applied in memory, proved harmless, and written so that nothing else changes."""
