"""Running definitions on paper: what their values may be, what their objects hold, in which order things happen.

Begin with `domain.py` (values), `heap.py` (objects) and `interp.py` (what an operation does); `calls.py` and
`objects.py` say what calls and attributes come to. `queries.py` is what rules ask. `built.py` and `life.py` ask one
object, `lookups.py` a file. What follows sizes, devices or training stands beside that (`tensors.py`, `devices.py`,
`training.py`); `summaries.py` and `gate.py` tell what is worth a run.
It imports `graph/`, `knowledge/`, `link/`, `link/classes/`, `link/values/`, `operators/`, `reading/`, `source.py`.
"""
