"""Class models from any origin: bases, methods, arguments, attributes, and the objects made of the classes.

Begin with `models.py`; `definitions.py` reads class statements, `object_runs.py` runs objects to collect their stores.
It imports `claims/`, `edits/`, `finding.py`, `flow/`, `graph/`, `knowledge/`, `link/`, `link/calls/`, `link/values/`,
`operators/`, `source.py`.
"""
