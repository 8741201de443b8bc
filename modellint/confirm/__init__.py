"""Proving findings by building the model: without weights, data or a GPU, and always in a child process.

Begin with `confirmer.py`, then `plan.py`, `child.py` and `guarded.py`.
It imports `claims/`, `config/`, `confirm/guard/`, `finding.py`, `frontends/`, `graph/`, `link/`, `link/recipes/`,
`notebook/`, `packs.py`, `pipeline/`, `probes.py`, `reading/`, `reporters/`, `results/`, `rule.py`, `source.py`,
`version.py`.
"""
