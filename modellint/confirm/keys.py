"""The keys of `[tool.modellint.confirm]`, with the JSON schemas of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_STRINGS = {"type": "array", "items": {"type": "string"}}
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_TARGET = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"arguments": {"type": "object"}, "inputs": {"type": "object"}},
}
SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "memory": _POSITIVE,
    "mock-imports": _STRINGS,
    "overrides": {"type": "object"},
    "python": {"type": "string"},
    "roots": _STRINGS,
    "targets": {"type": "object", "additionalProperties": _TARGET},
    "timeout": _POSITIVE,
}
