"""Classes whatever they were learnt from: layers, state, and what a constructor registers."""
