"""The linked project: facts of many files, joined on demand, and the resolution of names across files.

Begin with `project.py`, then `names.py`. An analysis is had by `project.of(Analysis)`; the project knows none by
name.
It imports `frontends/`, `graph/`, `knowledge/`, `link/classes/`, `operators/`, `reading/`, `source.py`.
"""
