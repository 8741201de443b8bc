"""Operations of Python: what builtins, operators and methods of its types make of values, and of torch's containers.

Begin with `functions.py`, the table of functions; `containers.py` has what holds others and its methods,
`constants.py` what Python itself makes of numbers and strings that are known, `operations.py` operators, and
`parameters.py` what any of these makes of a parameter. Numbers and strings are exact in every run; how many entries a
container has is told only in a run that counts: others leave out what does not matter to them.
It imports `flow/`, `graph/`, `knowledge/`, `link/classes/`, `operators/`.
"""
