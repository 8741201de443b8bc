"""What a registration map says: plain data for the writers."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from modellint.config.errors import UsageError
from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from modellint.graph.size import Size
    from modellint.source import Place

#: The stages of a training, in order.
STAGES = ("TRAIN", "VALID", "TEST")


class MapError(UsageError):
    """There is no map: of the wrong thing, or of something that cannot be read. The text says what was expected."""


class State(Enum):
    """Whether something moves, trains, saves, freezes or registers a layer.

    MAYBE: it depends on the run. LOOSE: nothing does, and something should. UNKNOWN: it cannot be told.
    """

    YES = "yes"
    MAYBE = "maybe"
    NO = "no"
    LOOSE = "left out"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Fact:
    """A state, and through what: `via` in words, `place` where that stands."""

    state: State
    via: str = ""
    place: Place | None = None


@dataclass(frozen=True, eq=False)
class Count:
    """How many parameters: a size, with symbols where a number is not known; None is unknown altogether."""

    size: Size | None

    @property
    def number(self) -> int | None:
        return None if self.size is None else self.size.constant

    @property
    def text(self) -> str:
        """`1,024`, `in * out + out`, or `?`."""
        if self.size is None:
            return "?"
        return str(self.size) if self.number is None else f"{self.number:,}"


@dataclass(frozen=True, eq=False)
class Usage:
    """Where a layer is used: through `owners`, the one that is used first in front, in `stages` if they are known."""

    place: Place
    function: str
    text: str
    stages: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    certain: bool = True


@dataclass(frozen=True, eq=False)
class Loose:
    """Something that hangs loose: which layer, and what is wrong with it, in words and as a `kind` (`not-moved`)."""

    name: str
    message: str
    kind: str
    place: Place


# -- recipes -----------------------------------------------------------------------------------------------------


class RootKind(Enum):
    """What holds layers."""

    MODULES = "modules"
    SCRIPT = "script"
    OPTIMIZER = "optimizer"
    RECOVERABLES = "recoverables"
    PRETRAINER = "pretrainer"


@dataclass(frozen=True, eq=False)
class Link:
    """A root that holds a layer: through `group` (a container with a name of its own) if that is between them."""

    kind: RootKind
    root: str
    group: str
    certain: bool


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of a recipe. `within` is the layer that registers it, `class_name` the dotted name of its class."""

    name: str
    class_name: str
    place: Place
    parameters: Count
    uses: tuple[Usage, ...]
    moved: Fact
    trained: Fact
    saved: Fact
    loaded: Fact
    frozen: Fact
    within: str | None
    links: tuple[Link, ...]

    @property
    def is_loose(self) -> bool:
        return State.LOOSE in (self.moved.state, self.trained.state, self.saved.state)


@dataclass(frozen=True, eq=False)
class Training:
    """The layers of a recipe as one Brain of a script has them; without a script as the recipe itself does.

    `optimizers` are those that certainly exist.
    """

    brain: str
    script: str | None
    optimizers: tuple[str, ...]
    layers: tuple[Layer, ...]
    loose: tuple[Loose, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class RecipeMap:
    """The map of a recipe.

    `found_by` tells what paired it with its scripts, `turned_down` which other scripts were looked at, and why they
    were not taken.
    """

    path: str
    found_by: str
    turned_down: tuple[tuple[str, str], ...]
    trainings: tuple[Training, ...]


# -- classes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Attribute:
    """What an object keeps under a name: a layer, a parameter or a buffer, and whether torch knows of it."""

    name: str
    kind: str
    class_name: str
    place: Place | None
    parameters: Count
    registered: Fact
    uses: tuple[Usage, ...]
    conditional: bool

    @property
    def is_loose(self) -> bool:
        return self.registered.state is State.LOOSE


@dataclass(frozen=True, eq=False)
class ClassMap:
    """The map of a class. `is_module` is None where a base of it is unknown."""

    name: str
    path: str
    place: Place
    bases: tuple[str, ...]
    is_module: bool | None
    is_complete: bool
    attributes: tuple[Attribute, ...]
    loose: tuple[Loose, ...]


Map = RecipeMap | ClassMap
