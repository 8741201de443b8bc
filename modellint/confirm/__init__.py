"""Proving findings by building the model: without weights, data or a GPU, and always in a child process."""
