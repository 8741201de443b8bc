"""What runs in the child, maybe under an interpreter without modellint: standard library and torch only.

Begin with `probes.py`.
It imports `claims/`, `results/`, `source.py`.
"""
