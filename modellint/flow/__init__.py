"""Running definitions on paper: what their values may be, what their objects hold, in which order things happen.

Begin with `domain.py` (values), `heap.py` (objects) and `interp.py` (what an operation does); `calls.py` and
`objects.py` say what calls and attributes come to. What a run knows beside Python are theories (`theory.py` has their
protocol): sizes, devices, training, look-ups, counting and so on (`tensors.py`, `devices.py`, `training.py`,
`lookups.py`, `turns.py`); `runs.py` starts a run with some, in the order in which they are asked. `built.py` and
`life.py` ask one object, `queries.py` is what rules ask; `summaries.py` and `gate.py` tell what is worth a run.
Theories of rule packs are asked behind a guard (`brought.py`).
It imports `graph/`, `knowledge/`, `link/`, `link/classes/`, `link/values/`, `operators/`, `reading/`, `source.py`.
"""
