"""Edits of text: how rules write them, and how they are applied to a file with the proof that nothing else changed."""
