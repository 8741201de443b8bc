"""A completion: the text that replaces what is typed, and what is shown beside it."""

from __future__ import annotations

from enum import Enum

from modellint.graph.immutable import dataclass


class OfferKind(Enum):
    """The kind of what is offered, for the sign that an editor shows."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    VALUE = "value"
    ARGUMENT = "argument"
    KEY = "key"
    REFERENCE = "reference"
    KEYWORD = "keyword"
    FILE = "file"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Offer:
    """A completion: `text`, or else the label, replaces so many characters before the cursor as are `typed`.

    `after` characters behind the cursor go, too. Offers are shown by `order`, then by label. `of` is the full name of a
    class, function or module, for its documentation.
    """

    label: str
    kind: OfferKind
    typed: int
    text: str = ""
    detail: str = ""
    order: str = "0"
    of: str = ""
    after: int = 0

    @property
    def new_text(self) -> str:
        return self.text or self.label

    @property
    def rank(self) -> tuple[str, str]:
        return self.order, self.label
