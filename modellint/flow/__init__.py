"""Symbolic runs of definitions: what their values may be, what their objects hold, in which order things happen.

Begin with `domain.py` (values), `heap.py` (objects) and `interp.py` (what an operation does); `calls.py` and
`objects.py` say what calls and attributes come to. What a run knows beside Python are theories (`theory.py` has their
protocol): sizes, devices, training, look-ups, counting and so on (`tensors.py`, `devices.py`, `training.py`,
`lookups.py`, `unrolled.py`); `runs.py` starts a run with some, in the order in which they are asked. `built.py` and
`object_run.py` ask one object, `queries.py` is what rules ask; `summaries.py` and `gate.py` tell what is worth a run.
Theories of rule packs are asked behind a guard (`pack_theories.py`); properties that rules give tensors are followed in
runs of their own (`properties.py`).
Words of the field: a *transfer function* says what an `Op` does (`interp.py`) or an operator by its row; an object is
known by its *allocation site* (`heap.py`), unless loops are *unrolled* (`unrolled.py`); what has to hold where code
runs is its *path condition*; `summaries.py` has *summaries* of functions, `memo.py` the *memo* of calls.
It imports `flow/library/`, `frontends/`, `graph/`, `knowledge/`, `link/`, `link/calls/`, `link/classes/`,
`link/values/`, `operators/`, `reading/`, `source.py`.
"""
