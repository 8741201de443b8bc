"""What the editor says of settings, on top of the project's own: `initializationOptions`, `workspace/configuration`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config import settings_for
from modellint.config.errors import UsageError
from modellint.server.protocol import path_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modellint.config import Settings

#: The key that no configuration file has: which one to take.
_FILE = "configuration"
_WHOSE = "the editor's settings"


class Configuration:
    """The editor's settings: for everything, and for folders of the workspace."""

    def __init__(self) -> None:
        self._told: Any = None
        self._answers: dict[Path | None, Any] = {}

    def tell(self, table: Any) -> None:
        """Take what an editor says unasked, for everything; None leaves it as it was."""
        if table is not None:
            self._told = table

    def answer(self, tables: Mapping[str | None, Any]) -> None:
        """Take all that an editor answers, for folders by their URIs or for everything (None); None says nothing."""
        self._answers = {}
        for uri, table in tables.items():
            path = None if uri is None else path_of(uri)
            if table is not None and (uri is None or path is not None):
                self._answers[None if path is None else Path(path)] = table

    def folder_of(self, path: Path) -> Path | None:
        """The innermost folder of the workspace with settings of its own that a file is in."""
        return next((folder for folder in (path, *path.parents) if folder in self._answers), None)

    def settings_for(self, path: Path) -> Settings:
        """The settings for a file. Raises UsageError for what is not understood."""
        folder = self.folder_of(path)
        table = self._answers.get(folder, self._told)
        if not table:
            return settings_for([path])
        if not isinstance(table, dict):
            raise UsageError(f"{_WHOSE}: expected an object with the keys of `[tool.modellint]`, not {table!r}")
        given = dict(table)
        file = given.pop(_FILE, None)
        if file is not None and not isinstance(file, str):
            raise UsageError(f"{_WHOSE}: `{_FILE}` must be the path of a configuration file, not {file!r}")
        settings = settings_for([path], None if file is None else (folder or path.parent) / file)
        return settings.with_table(given, _WHOSE)
