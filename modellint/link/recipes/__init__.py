"""Recipes and their scripts: what HyperPyYAML makes of a recipe, who loads it, what is used, moved, trained and saved.

Begin with `evaluation.py` (what a recipe comes to) and `pairing.py` (its script); `reach.py` runs the script, and
`moved.py` tells which layers move along.
It imports `flow/`, `frontends/`, `graph/`, `knowledge/`, `link/`, `link/classes/`, `operators/`, `reading/`,
`similar.py`, `source.py`.
"""
