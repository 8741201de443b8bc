"""The commands that `cli.py` lists: what each does once its command line is understood.

Begin with `checking.py`, which is `modellint check`; `project.py` and `rules.py` hold the small ones.
It imports `config/`, `confirm/`, `dialects/lightning_cli/`, `examples.py`, `finding.py`, `fix/`, `flow/`,
`flow/shapes/`, `frontends/`, `graph/`, `home.py`, `knowledge/`, `link/`, `link/recipes/`, `linter.py`, `notebook/`,
`packs.py`, `pipeline/`, `process.py`, `reading/`, `report/`, `reporters/`, `results/`, `rule.py`, `source.py`,
`version.py`.
"""
