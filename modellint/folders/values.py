"""Values of JSON documents, where a document that is missing or no JSON has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from modellint.source import UnreadableError

if TYPE_CHECKING:
    from modellint.folders.folder import ModelFolder

#: The keys, and places in lists, that lead to a value of a document.
Keys: TypeAlias = "tuple[str | int, ...]"


def mapping_of(folder: ModelFolder, name: str) -> dict[str, Any]:
    """The object that a JSON file of a folder holds; empty if the file is missing, no JSON, or holds something else."""
    document = folder.json(name)
    try:
        value = None if document is None else document.value
    except UnreadableError:
        return {}
    return value if isinstance(value, dict) else {}
