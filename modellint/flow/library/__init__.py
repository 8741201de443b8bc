"""Operations of Python: what builtins, operators and methods of its types make of values, and of torch's containers.

Begin with `functions.py`, the table of functions; `containers.py` has containers and the table of their methods,
`operations.py` operators, and `constants.py` Python's own results for known numbers and strings. Those are exact in
every run. How many entries a container has is known in a run that counts: others leave out what cannot matter.
It imports `flow/`, `graph/`, `knowledge/`, `link/classes/`, `operators/`.
"""
