"""The language server, `modellint server`: documents and notebooks as they are edited, findings, fixes, hovers, hints.

Begin with `app.py`, then `editor.py` and `session.py`.
It imports `claims/`, `config/`, `edits/`, `finding.py`, `fix/`, `flow/shapes/`, `graph/`, `home.py`, `link/`,
`link/recipes/`, `linter.py`, `mapping/`, `modellint.py`, `notebook/`, `packs.py`, `pipeline/`, `reading/`,
`reporters/`, `results/`, `rule.py`, `server/configs/`, `source.py`, `version.py`.
"""
