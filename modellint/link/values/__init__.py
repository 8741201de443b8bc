"""What several rules ask about values of a file: which tables are looked up with what, how large they are, who calls.

Begin with `indexed.py` (look-ups) and `held.py` (tables and how large they are).
It imports `flow/`, `graph/`, `knowledge/`, `link/`, `link/calls/`, `link/classes/`, `operators/`.
"""
