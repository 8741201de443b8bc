"""`[tool.modellint.confirm]`: its values, checked as the settings are read, whether or not anything is confirmed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modellint.config.errors import UsageError, nearest
from modellint.config.keys import GUARDS, MOST, SCHEMAS
from modellint.config.targets import read_targets

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The keys of `[tool.modellint.confirm]`.
KEYS = tuple(SCHEMAS)


@dataclass(frozen=True)
class ConfirmSettings:
    """How models are run: `timeout` in seconds and `memory` in GiB for each process, `python` as it was written."""

    guard: str = "auto"
    memory: float = 4.0
    mock_imports: tuple[str, ...] = ()
    overrides: Mapping[str, Any] = field(default_factory=dict)
    python: str | None = None
    roots: tuple[str, ...] = ()
    targets: tuple[tuple[str, dict[str, Any]], ...] = ()
    timeout: float = 60.0


def read_confirm(table: Mapping[str, Any], where: str) -> ConfirmSettings:
    """The settings in a table, whose place is `where`. Raises UsageError that says what was expected."""
    for key in table:
        if key not in KEYS:
            expected = f"; expected one of {', '.join(f'`{name}`' for name in KEYS)}"
            raise UsageError(f"{where}: unknown key `{key}`{nearest(key, KEYS, expected)}")
    reader, default = _Table(table, where), ConfirmSettings()
    return ConfirmSettings(
        guard=reader.choice("guard", GUARDS, default.guard),
        memory=reader.number("memory", default.memory),
        mock_imports=reader.strings("mock-imports"),
        overrides=reader.table("overrides"),
        python=reader.path("python"),
        roots=reader.paths("roots"),
        targets=read_targets(reader.table("targets"), where),
        timeout=reader.number("timeout", default.timeout),
    )


@dataclass(frozen=True)
class _Table:
    values: Mapping[str, Any]
    where: str

    def refuse(self, key: str, expected: str, value: Any) -> UsageError:
        return UsageError(f"{self.where}: `{key}` must be {expected}, not {value!r}")

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> str:
        value = self.values.get(key, default)
        if value not in choices:
            raise self.refuse(key, f"one of {', '.join(map(repr, choices))}", value)
        return str(value)

    def number(self, key: str, default: float) -> float:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MOST:
            raise self.refuse(key, f"a number above 0, up to {MOST}", value)
        return float(value)

    def path(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is not None and (not isinstance(value, str) or "\0" in value):
            raise self.refuse(key, "a path", value)
        return value

    def strings(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.refuse(key, "a list of strings", value)
        return tuple(value)

    def paths(self, key: str) -> tuple[str, ...]:
        paths = self.strings(key)
        if any("\0" in path for path in paths):
            raise self.refuse(key, "a list of paths", list(paths))
        return paths

    def table(self, key: str) -> dict[str, Any]:
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.refuse(key, "a table", value)
        return value
