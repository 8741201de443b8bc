"""The protocol of a linked project for its own parts, so that none of them imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.reading.files import Files

T = TypeVar("T")


class Options(Protocol):
    """The root of a project, and the interpreter whose packages it uses."""

    @property
    def root(self) -> Path: ...

    @property
    def python(self) -> Path | None: ...


class Linked(Protocol):
    """The parts of a project that names and classes depend on."""

    files: Files

    @property
    def options(self) -> Options: ...

    def python(self, path: Path) -> ModuleFacts | None:
        """The outline of a Python file, None if it is missing or unreadable."""

    def once(self, key: Any, compute: Callable[[], T]) -> T:
        """The result of `compute`, computed once per `key`."""
