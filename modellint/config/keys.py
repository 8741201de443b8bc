"""The keys of `[tool.modellint.confirm]`, with the JSON schemas of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_STRINGS = {"type": "array", "items": {"type": "string"}}
#: More seconds, or GiB, than anybody means.
MOST = 1_000_000
#: The modes of the guard: as much as the system offers, all of it, or none.
GUARDS = ("auto", "required", "off")
_POSITIVE = {"type": "number", "exclusiveMinimum": 0, "maximum": MOST}
_TARGET = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"arguments": {"type": "object"}, "inputs": {"type": "object"}},
}
SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "guard": {"enum": list(GUARDS)},
    "memory": _POSITIVE,
    "mock-imports": _STRINGS,
    "overrides": {"type": "object"},
    "python": {"type": "string"},
    "roots": _STRINGS,
    "targets": {"type": "object", "additionalProperties": _TARGET},
    "timeout": _POSITIVE,
}
