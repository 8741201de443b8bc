"""The built-in rules: one file each, found by their names."""

from __future__ import annotations

import os
from importlib import import_module

from modellint.packs import rules_in

#: The rules of this pack. A file `ml….py` in this folder is all that a new one needs.
RULES = tuple(
    rule
    for name in sorted(os.listdir(os.path.dirname(__file__)))
    if name.startswith("ml") and name.endswith(".py")
    for rule in rules_in(import_module(f"{__name__}.{name[:-3]}"))
)
