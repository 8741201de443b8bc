"""Operations of Python: what builtins, operators and methods of its types make of values, and of torch's containers.

Begin with `functions.py`, the table of functions; `containers.py` has what holds others, and the table of methods,
`operations.py` operators, and `constants.py` what Python itself makes of numbers and strings that are known. Those are
exact in every run. How many entries a container has is told in a run that counts: others leave out what cannot matter.
It imports `flow/`, `graph/`, `knowledge/`, `link/classes/`, `operators/`.
"""
