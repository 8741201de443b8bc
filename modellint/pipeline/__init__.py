"""From files to findings: each file through frontends, links and rules, in this process or in others, or remembered.

Begin with `analyser.py`, which takes one file; `workers.py` shares files out, `cache.py` remembers results, and
`linter.py` in the folder above calls them all.
It imports `claims/`, `config/`, `dialects/`, `dialects/lightning_cli/`, `finding.py`, `flow/`, `flow/shapes/`,
`folders/`, `frontends/`, `graph/`, `link/`, `link/calls/`, `link/classes/`, `link/recipes/`, `link/values/`,
`notebook/`, `operators/`, `packs.py`, `process.py`, `reading/`, `results/`, `rule.py`, `source.py`, `version.py`.
"""
