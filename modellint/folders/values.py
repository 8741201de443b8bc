"""Values of JSON documents, where a document that is missing or no JSON has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.folders.jsons import Json
    from modellint.source import Place

#: The keys, and places in lists, that lead to a value of a document.
Keys: TypeAlias = "tuple[str | int, ...]"


class Documents(Protocol):
    """The files of a folder, as far as they are documents: `ModelFolder` without its weights."""

    @property
    def names(self) -> Sequence[str]:
        """The names of what is in the folder."""

    def data(self, name: str) -> bytes | None:
        """The content of a file; None if it cannot be read."""

    def json(self, name: str) -> Json | None:
        """A JSON document; None if it is missing or none."""

    def place(self, name: str) -> Place:
        """The place of a file as a whole."""


def mapping_of(folder: Documents, name: str) -> dict[str, Any]:
    """The object that a JSON file of a folder holds; empty if the file is missing, no JSON, or holds something else."""
    document = folder.json(name)
    try:
        value = None if document is None else document.value
    except UnreadableError:
        return {}
    return value if isinstance(value, dict) else {}
