"""What is on the disk: which files are checked, and the one door that they are read through.

Begin with `files.py`, which remembers what was looked at, then `discovery.py`.
It imports `config/`, `graph/`, `notebook/`, `source.py`.
"""
