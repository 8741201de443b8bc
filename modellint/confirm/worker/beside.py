"""The table of operators, what can be claimed, and verdicts: read where they lie, as modellint is not on the path."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

#: The name below which they are imported.
NAME = "modellint_beside"

#: A stand-in for the package modellint: its rooms can be imported, but its own `__init__` is not run.
_MODELLINT = ModuleType(NAME)
_MODELLINT.__path__ = [str(Path(__file__).resolve().parents[2])]
sys.modules[NAME] = _MODELLINT
OPERATORS: Any = import_module(f"{NAME}.operators")
CLAIMS: Any = import_module(f"{NAME}.claims")
CALLS: Any = import_module(f"{NAME}.claims.calls")
CHECKS: Any = import_module(f"{NAME}.claims.checks")
FOLDERS: Any = import_module(f"{NAME}.claims.folders")
LAYERS: Any = import_module(f"{NAME}.claims.layers")
LOOKUPS: Any = import_module(f"{NAME}.claims.lookups")
POSITIONS: Any = import_module(f"{NAME}.claims.positions")
RECIPES: Any = import_module(f"{NAME}.claims.recipes")
TRAINING: Any = import_module(f"{NAME}.claims.training")
VERDICTS: Any = import_module(f"{NAME}.results.verdicts")
