"""Jupyter notebooks: their code as one Python module, and where each line of it stands.

Begin with `reading.py`, then `places.py`.
It imports `claims/`, `edits/`, `finding.py`, `frontends/`, `reading/`, `results/`, `source.py`.
"""
