"""Edits of text: how rules write them, and how they are applied to a file with the proof that nothing else changed.

Begin with `changes.py`, then `files.py`; `python.py` and `yaml.py` are what rules write edits with.
It imports `finding.py`, `frontends/`, `graph/`, `operators/`, `source.py`.
"""
