"""The editor's settings, on top of the project's: from `initializationOptions` and `workspace/configuration`.

A setting that is invalid is reported and ignored: the other settings apply, and files are checked.
"""

from __future__ import annotations

import os
import reprlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config import KINDS, settings_for
from modellint.config.errors import UsageError, nearest
from modellint.packs import select_rules
from modellint.server.protocol import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from modellint.config import Settings

#: Keys that no configuration file has: the configuration to use, whether to check at all, the interpreter, and whether
#: shapes are shown beside the code.
_FILE, _ENABLE, _INTERPRETER, _HINTS = "configuration", "enable", "interpreter", "inlay-hints"
#: Keys that extensions use themselves: how to start the server, which one, and whether to log messages.
_OF_CLIENTS = ("path", "importStrategy", "trace")
_KNOWN = (*KINDS, _FILE, _ENABLE, _INTERPRETER, _HINTS, *_OF_CLIENTS)
#: Keys that others need to be valid: which rules exist, and whether those in preview count.
_FIRST = ("rule-paths", "preview")
_WHOSE = "the editor's settings"


class Configuration:
    """The editor's settings: for everything, and for folders of the workspace."""

    def __init__(self) -> None:
        self._told: Any = None
        self._answers: dict[Path | None, Any] = {}
        #: By project (its file and the workspace folder): the project's settings, those with the editor's on top, and
        #: complaints about the latter.
        self._known: dict[tuple[Path, Path | None], tuple[Settings, Settings, list[str]]] = {}

    def tell(self, table: Any) -> bool:
        """Take settings that the editor sent unasked, for all folders; None changes nothing. True if they are new."""
        before = self._told
        if table is not None:
            self._told = table
            self._known.clear()
        return bool(self._told != before)

    def answer(self, tables: Mapping[str | None, Any]) -> bool:
        """Take the editor's answer: settings by the URIs of folders, or for all (None); a value of None sets nothing.

        True if the answer differs from the one before.
        """
        before, self._answers = self._answers, {}
        self._known.clear()
        for uri, table in tables.items():
            path = None if uri is None else path_of(uri)
            if table is not None and (uri is None or path is not None):
                self._answers[None if path is None else Path(path)] = table
        return self._answers != before

    def folder_of(self, path: Path) -> Path | None:
        """The innermost folder of the workspace with its own settings that a file is in; None if there is none."""
        return next((folder for folder in (path, *path.parents) if folder in self._answers), None)

    def settings_for(self, path: Path, complain: Callable[[str], object] = lambda complaint: None) -> Settings | None:
        """The settings for a file; None if the editor wants nothing to be checked.

        `complain` is given what is not understood, in one text. Raises UsageError for the settings of the project.
        """
        folder = self.folder_of(path)
        table = self._answers.get(folder, self._told)
        complaints: list[str] = []
        given = _valid_keys(table, complaints)
        settings = None
        _take(given, _HINTS, bool, "true or false", complaints)
        if _take(given, _ENABLE, bool, "true or false", complaints) is not False:
            settings = self._with(given, path, folder, complaints)
        if complaints:
            complain("\n".join(f"{_WHOSE}: {complaint}" for complaint in complaints))
        return settings

    def wants_hints(self, path: Path) -> bool:
        """True unless the editor wants no inlay hints in a file."""
        table = self._answers.get(self.folder_of(path), self._told)
        return not isinstance(table, dict) or table.get(_HINTS) is not False

    def _with(self, given: dict[str, Any], path: Path, folder: Path | None, complaints: list[str]) -> Settings:
        """The project's settings with the editor's on top."""
        base = _base(given, path, folder, complaints)
        if not given:
            return base
        key = base.source or base.root, folder
        known = self._known.get(key)
        if known is None or known[0] != base:
            refused: list[str] = []
            known = self._known[key] = base, _on_top(base, given, refused), refused
        complaints += known[2]
        return known[1]


def _valid_keys(table: Any, complaints: list[str]) -> dict[str, Any]:
    """The valid keys of the editor's settings, without those of extensions and those that are null."""
    if not isinstance(table, dict):
        if table not in (None, []):  # an empty table of Lua may be a list
            complaints.append(f"expected an object with the keys of `[tool.modellint]`, not {reprlib.repr(table)}")
        return {}
    complaints += [f"unknown key `{key}`{nearest(key, _KNOWN, '')}" for key in table if key not in _KNOWN]
    return {key: table[key] for key in _KNOWN if key not in _OF_CLIENTS and table.get(key) is not None}


def _take(given: dict[str, Any], key: str, kind: type | tuple[type, ...], expected: str, complaints: list[str]) -> Any:
    """Remove a key, and give its value; None if there is none of its type."""
    value = given.pop(key, None)
    if value is None or isinstance(value, kind):
        return value
    complaints.append(f"`{key}` must be {expected}, not {reprlib.repr(value)}")
    return None


def _base(given: dict[str, Any], path: Path, folder: Path | None, complaints: list[str]) -> Settings:
    """The settings of the configuration file that the editor names, or of the nearest one."""
    file = _take(given, _FILE, str, "the path of a configuration file", complaints)
    if file:
        try:
            return settings_for([path], (folder or path.parent) / file)
        except UsageError as error:
            complaints.append(f"`{_FILE}`: {error}")
    return settings_for([path])


def _on_top(base: Settings, given: dict[str, Any], complaints: list[str]) -> Settings:
    """The settings with the valid ones on top. Raises UsageError if `base` is invalid by itself."""
    python = _interpreter(base, given, complaints)
    if python is not None:
        given.setdefault("python", python)
    try:
        return _with_valid(base, given)
    except UsageError:
        _with_valid(base, {})
    table: dict[str, Any] = {}
    for key in sorted(given, key=lambda key: key not in _FIRST):
        refusal = _refusal(base, {**table, key: given[key]})
        if refusal:
            complaints.append(refusal)
        else:
            table[key] = given[key]
    return base.with_table(table, _WHOSE)


def _with_valid(base: Settings, table: dict[str, Any]) -> Settings:
    """The settings with others on top, whose codes must be those of rules. Raises UsageError."""
    settings = base.with_table(table, _WHOSE)
    select_rules(settings)
    return settings


def _refusal(base: Settings, table: dict[str, Any]) -> str:
    try:
        _with_valid(base, table)
    except UsageError as error:
        return str(error).removeprefix(f"{_WHOSE}: ")
    return ""


def _interpreter(base: Settings, given: dict[str, Any], complaints: list[str]) -> str | None:
    """The interpreter that the editor names; of a list, as some extensions send, the first. None if it is invalid."""
    expected = "the path of an interpreter, or a list of one"
    value = _take(given, _INTERPRETER, (str, list), expected, complaints)
    first = value[0] if value and isinstance(value, list) else value
    if not first:
        return None
    if not isinstance(first, str) or "\0" in first:
        complaints.append(f"`{_INTERPRETER}` must be {expected}, not {reprlib.repr(value)}")
    elif not os.path.exists(base.root / first):
        complaints.append(f"`{_INTERPRETER}`: {first}: no such file")
    else:
        return first
    return None
