"""What is found of look-ups: elements that meet a table or a loss, and what is noted on the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.size import Size

if TYPE_CHECKING:
    from modellint.flow.codecs import CodecObject
    from modellint.flow.domain import Element, Filler, Positions, Site
    from modellint.flow.frame import Frame
    from modellint.graph.value import Value

#: The class of which torch's losses take no notice unless they are told another.
IGNORED = Size.of(-100)


@dataclass(frozen=True, eq=False, slots=True)
class Lookup:
    """Elements that index a table, which is made at `table`; `rows` is how many it has, if that is known.
    What constants below -1 index may be anything; `is_made` is False where it is not known to be a table, and `table`
    is what is indexed.

    `steps` are the calls that lead there from where both are known, outermost first, and the look-up itself. `width` is
    how wide the last dimension of the index is, `codec` a published one whose class is not read.
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
        """Where elements and table meet: the look-up, or the call that leads to it."""
        return self.steps[0]

    @property
    def way(self) -> str:
        """What is called on the way to the look-up, as it is written; empty where the table is indexed on the spot."""
        return " → ".join(f"`{step.name}`" for step in self.steps[:-1])


@dataclass(frozen=True, eq=False, slots=True)
class LossLookup(Lookup):
    """Elements that a loss is given as classes: `table` is the loss, `rows` are the classes that scores are for.

    `ignored` is the class that it takes no notice of, and `classes` what says how many there are.
    """

    ignored: Size = IGNORED
    classes: Site | None = None


@dataclass(frozen=True, eq=False, slots=True)
class PaddedPositions:
    """Positions among which a constant is written, in a body that is run in `frame`."""

    positions: Positions
    filler: Filler
    frame: Frame


@dataclass(frozen=True, eq=False, slots=True)
class IdLayer:
    """A layer that is made for so many ids."""

    made: Site
    rows: Size


@dataclass(frozen=True, eq=False, slots=True)
class OwnLookup:
    """What a function looks up with an index of its own, itself or by `call`: whatever that may be."""

    table: Site
    rows: Size
    index: Value
    call: Value
