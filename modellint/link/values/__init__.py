"""What several rules ask about values of a file: which tables are looked up with what, what kind a value is, who calls.

Begin with `indexed.py` (look-ups) and `kinds.py` (tensors, and how many dimensions they have).
It imports `flow/`, `graph/`, `knowledge/`, `link/`, `link/calls/`, `link/classes/`, `operators/`.
"""
