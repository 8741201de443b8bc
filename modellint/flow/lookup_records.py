"""Records of look-ups: elements that meet a table or a loss, and the facts noted on the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.size import Size

if TYPE_CHECKING:
    from modellint.flow.codecs import CodecObject
    from modellint.flow.domain import Element, Filler, Positions, Site
    from modellint.flow.frame import Frame
    from modellint.graph.value import Value

#: The class that torch's losses ignore unless they are passed another.
IGNORED = Size.of(-100)


@dataclass(frozen=True, eq=False, slots=True)
class Lookup:
    """Elements that index a table made at `table`; `rows` is its number of rows, if known.
    `is_made` is False where a constant below -1 indexes a value that need not be a table; `table` is then that value.

    `steps` are the calls from where element and table are both known, outermost first, and the look-up itself.
    `width` is the size of the last dimension of the index, `codec` a published codec whose class is not read.
    """

    table: Site
    rows: Size | None
    element: Element
    steps: tuple[Site, ...]
    width: Size | None = None
    is_conditional: bool = False
    is_made: bool = True
    codec: CodecObject | None = None

    @property
    def place(self) -> Site:
        """The site where elements and table meet: the look-up, or the call that leads to it."""
        return self.steps[0]

    @property
    def way(self) -> str:
        """The callees on the way to the look-up, as written; empty where the table is indexed on the spot."""
        return " → ".join(f"`{step.name}`" for step in self.steps[:-1])


@dataclass(frozen=True, eq=False, slots=True)
class LossLookup(Lookup):
    """Elements that a loss gets as targets: `table` is the loss, `rows` are the classes that are scored.

    `ignored` is the class that the loss ignores, and `classes` the site that says how many classes there are.
    """

    ignored: Size = IGNORED
    classes: Site | None = None


@dataclass(frozen=True, eq=False, slots=True)
class PaddedPositions:
    """Positions among which a constant is written, in a body that runs in `frame`."""

    positions: Positions
    filler: Filler
    frame: Frame


@dataclass(frozen=True, eq=False, slots=True)
class IdLayer:
    """A layer made for `rows` ids: a table, or a projection to as many scores."""

    made: Site
    rows: Size
    is_table: bool


@dataclass(frozen=True, eq=False, slots=True)
class OwnLookup:
    """A look-up with an index that the function makes itself, whatever it may be; `call` is it, or leads to it."""

    table: Site
    rows: Size
    index: Value
    call: Value
