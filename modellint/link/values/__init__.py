"""Facts about values that several rules share: which tables are looked up with what, kinds of values, and callers.

Begin with `indexed.py` (look-ups) and `kinds.py` (tensors, and how many dimensions they have).
It imports `flow/`, `graph/`, `knowledge/`, `link/`, `link/calls/`, `link/classes/`, `operators/`.
"""
