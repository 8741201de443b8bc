"""Recipes and their scripts: HyperPyYAML's objects, the scripts that load them, layers used, moved, trained and saved.

Begin with `evaluation.py` (the objects of a recipe) and `pairing.py` (its script); `reach.py` runs the script, and
`moved.py` finds the layers that follow `modules=` to the device.
It imports `dialects/`, `finding.py`, `flow/`, `flow/queries/`, `frontends/`, `graph/`, `knowledge/`, `link/`,
`link/calls/`, `link/classes/`, `operators/`, `reading/`, `source.py`.
"""
