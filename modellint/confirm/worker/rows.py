"""The table of operators, read where it lies beside this room, as nothing of modellint is on the path here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def _table() -> Any:
    folder = Path(__file__).resolve().parents[2] / "operators"
    spec = importlib.util.spec_from_file_location(
        "modellint_operators", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


OPERATORS = _table()
