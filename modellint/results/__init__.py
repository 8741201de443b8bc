"""From findings to a report: suppressions, baseline, merging, counts, and outputs.

Begin with `report.py`, which is the outcome of a run. How a report is written is said in `reporters/`.
It imports `config/`, `finding.py`, `frontends/`, `process.py`, `reading/`, `source.py`.
"""
