"""The child's code, which may run under an interpreter without modellint: it needs the standard library and torch only.

Begin with `probes.py`.
It imports `claims/`, `results/`, `source.py`.
"""
