"""Text to facts: Python of all versions by `ast`, recipes by YAML nodes. Syntax trees end here, except in edits.

Begin with `python.py` and `recipe.py`; `flow.py` lowers bodies, `syntax.py` is the one way from text to a tree.
It imports `graph/`, `source.py`.
"""
