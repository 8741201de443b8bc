"""Indices of weights that lie in several files: which shard holds which tensor."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modellint.folders.jsons import Json

#: The key of the table from tensors to files.
MAP = "weight_map"
#: The most tensors that are read; the largest published models have half as many.
MOST_TENSORS = 300_000


@dataclass(frozen=True)
class Index:
    """An index of shards: its file `name`, and the file of each tensor; `document` has the places of both."""

    name: str
    document: Json
    shards: Mapping[str, str]

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files that it names, sorted."""
        return tuple(sorted(set(self.shards.values())))

    def tensors_in(self, file: str) -> list[str]:
        """The tensors that a file should hold."""
        return [name for name, shard in self.shards.items() if shard == file]


def index_of(name: str, document: Json) -> Index | None:
    """The index in a document; None if the document maps no tensors to files.

    Raises UnreadableError for a document that is too large.
    """
    if document.data.count(b",") > MOST_TENSORS:
        raise UnreadableError(f"it names more than {MOST_TENSORS} tensors")
    table = document.get(MAP)
    if not isinstance(table, dict) or not all(isinstance(file, str) for file in table.values()):
        return None
    return Index(name, document, table)
