"""Call targets that are certain from names and classes alone, and the code that may replace them at run time.

Begin with `reached.py`; `doubts.py` looks for code that replaces a target while a program runs.
It imports `graph/`, `knowledge/`, `link/`, `link/classes/`, `link/values/`, `operators/`.
"""
