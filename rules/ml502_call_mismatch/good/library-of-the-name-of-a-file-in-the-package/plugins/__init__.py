"""Programs that are run by their paths."""
