"""Facts about values that several rules share, told by names: kinds of values, members of classes, and callers.

Begin with `kinds.py` (tensors, and how many dimensions they have) and `callers.py`.
It imports `graph/`, `knowledge/`, `link/`, `link/calls/`, `link/classes/`, `operators/`.
"""
