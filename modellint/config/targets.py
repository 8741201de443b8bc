"""`[tool.modellint.confirm.targets]`: what to pass to classes and functions, checked as it is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from modellint.config.errors import UsageError, closest

if TYPE_CHECKING:
    from collections.abc import Mapping

_TARGET = re.compile(r"[\w.]+:[\w.]+|.+\.py::[\w.]+")
_SAYS = ("arguments", "inputs")
_DESCRIBES = ("shape", "low", "high")


def read_targets(table: Mapping[str, Any], where: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """The targets with their `arguments` and `inputs`. Raises UsageError that says what was expected.

    An input is a value, or a table with the `shape` of a tensor (a list of whole numbers), and `low` and `high` (whole
    numbers, both included) if it holds ids.
    """
    return tuple((name, _target(name, said, f"{where}, target `{name}`")) for name, said in table.items())


def _target(name: str, said: Any, where: str) -> dict[str, Any]:
    if not _TARGET.fullmatch(name):
        raise UsageError(f"{where}: expected `package.module:Class` or `folder/file.py::Class`")
    checked = {key: _table(value, f"{where}: `{key}`") for key, value in _table(said, where, _SAYS).items()}
    for key, value in checked.get("inputs", {}).items():
        if isinstance(value, dict):
            _check_tensor(value, f"{where}: input `{key}`")
    return checked


def _check_tensor(said: dict[str, Any], where: str) -> None:
    _table(said, where, _DESCRIBES)
    shape = said.get("shape")
    if not isinstance(shape, list) or not all(_is_whole(size) and size >= 0 for size in shape):
        raise UsageError(f"{where}: `shape` must be a list of whole numbers, not {shape!r}")
    for key in ("low", "high"):
        if key in said and not _is_whole(said[key]):
            raise UsageError(f"{where}: `{key}` must be a whole number, not {said[key]!r}")
    if "low" in said and ("high" not in said or said["low"] > said["high"]):
        raise UsageError(f"{where}: `low` needs a `high` that is not below it")


def _table(value: Any, where: str, keys: tuple[str, ...] = ()) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be a table, not {value!r}")
    for key in value:
        if keys and key not in keys:
            near = closest(key, keys)
            hint = f"did you mean `{near}`?" if near else f"expected {', '.join(f'`{known}`' for known in keys)}"
            raise UsageError(f"{where}: unknown key `{key}`; {hint}")
    return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
