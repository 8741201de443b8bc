"""What the parts of a linked project ask of the whole: a protocol, so that none of them imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.reading.files import Files

T = TypeVar("T")


class Options(Protocol):
    """Where a project lies, and the interpreter whose packages it has."""

    @property
    def root(self) -> Path: ...

    @property
    def python(self) -> Path | None: ...


class Linked(Protocol):
    """A project, as far as names and classes depend on it."""

    files: Files

    @property
    def options(self) -> Options: ...

    def python(self, path: Path) -> ModuleFacts | None:
        """The outline of a Python file, None if it is missing or unreadable."""

    def once(self, key: Any, compute: Callable[[], T]) -> T:
        """The result of `compute`, computed once per `key`."""
