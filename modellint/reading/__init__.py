"""Reading from the disk: discovery of the files to check, and the one door that all files are read through.

Begin with `files.py`, which remembers what was looked at, then `discovery.py`.
It imports `config/`, `graph/`, `notebook/`, `source.py`.
"""
