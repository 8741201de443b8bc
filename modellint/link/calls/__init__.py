"""What calls written in a file reach for certain, by names and classes alone, and what may change that.

Begin with `reached.py`; `doubts.py` asks what may change the answer while a program runs.
It imports `graph/`, `knowledge/`, `link/`, `link/classes/`, `link/values/`, `operators/`.
"""
