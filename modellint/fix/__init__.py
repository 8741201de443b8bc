"""Fixes: chosen, applied in memory, proved harmless, and written so that nothing else changes.

Begin with `fixer.py`, then `writing.py`.
It imports `config/`, `edits/`, `finding.py`, `linter.py`, `notebook/`, `packs.py`, `pipeline/`, `reading/`,
`reporters/`, `results/`, `rule.py`, `source.py`.
"""
