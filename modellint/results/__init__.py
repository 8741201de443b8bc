"""What becomes of findings: silenced, known from before, merged, counted, and handed to where they are wanted.

Begin with `report.py`, which is the outcome of a run. How a report is written is said in `reporters/`.
It imports `config/`, `finding.py`, `frontends/`, `process.py`, `reading/`, `source.py`.
"""
