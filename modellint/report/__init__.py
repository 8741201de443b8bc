"""The report: one web page with the findings of a run in their code, the models of the project, and their shapes.

Begin with `collected.py` (what is shown) and `page.py` (how).
It imports `finding.py`, `flow/shapes/`, `frontends/`, `graph/`, `link/`, `mapping/`, `reporters/`, `results/`,
`source.py`, `version.py`.
"""
