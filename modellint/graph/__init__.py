"""Facts about a model definition: values and events of code, classes and functions, sizes, nodes of recipes.

Begin with `value.py`, then `python.py`; `recipe.py` for YAML.
It imports `operators/`, `source.py`.
"""
