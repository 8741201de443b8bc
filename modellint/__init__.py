"""modellint: finds the mistakes in PyTorch model definitions that only surface at run time."""
