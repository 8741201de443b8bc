"""The names that the packages of OpenMMLab register, each with the packages that do.

They were read from releases of these packages (`python -m modellint.knowledge.list_registered`) and are loaded when
somebody asks about a name.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FILE = "registered.json"


@cache
def _packages() -> dict[str, frozenset[str]]:
    import json  # most projects register nothing

    known: dict[str, list[str]] = json.loads(Path(__file__).with_name(_FILE).read_text(encoding="utf-8"))["names"]
    return {name: frozenset(packages.split()) for packages, names in known.items() for name in names}


def registering(name: str) -> frozenset[str]:
    """The packages that register a name, in one of their described releases."""
    return _packages().get(name, frozenset())
