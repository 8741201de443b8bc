"""The language server, `modellint server`: documents and notebooks as they are edited, findings, fixes, hovers, hints.

Begin with `app.py`, then `editor.py` and `session.py`.
It imports `claims/`, `config/`, `edits/`, `finding.py`, `fix/`, `flow/shapes/`, `home.py`, `link/`, `link/recipes/`,
`linter.py`, `mapping/`, `modellint.py`, `notebook/`, `packs.py`, `pipeline/`, `reading/`, `reporters/`, `results/`,
`rule.py`, `source.py`, `version.py`.
"""
