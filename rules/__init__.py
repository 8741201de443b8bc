"""The built-in rules: one folder each, found by their names. What serves one rule alone stands in its folder.

Begin with `ml504_dropout_always_on`, which is short, and `docs/writing-rules.md`.
They import `claims/`, `edits/`, `finding.py`, `flow/`, `flow/queries/`, `folders/`, `graph/`,
`link/`, `link/calls/`, `link/classes/`, `link/recipes/queries/`, `operators/`, `packs.py`, `rule.py`.
"""

from __future__ import annotations

import os
from importlib import import_module

from modellint.packs import rules_in

#: The rules of this pack. A folder `ml…` in this one is all that a new one needs.
RULES = tuple(
    rule
    for name in sorted({name.removesuffix(".py") for name in os.listdir(os.path.dirname(__file__))})
    if name.startswith("ml")
    for rule in rules_in(import_module(f"{__name__}.{name}"))
)
