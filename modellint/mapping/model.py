"""The data of registration maps, which builders make and writers format."""

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
    """There is no map of the target, or the target cannot be read. The message says what was expected."""


class State(Enum):
    """The state of a layer in one respect: it is moved, trained, saved, frozen or registered.

    MAYBE: it depends on the run. LOOSE: nothing does, and something should. UNKNOWN: it cannot be told.
    """

    YES = "yes"
    MAYBE = "maybe"
    NO = "no"
    LOOSE = "left out"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Fact:
    """A state and its cause: `via` in words, `place` where the cause is written."""

    state: State
    via: str = ""
    place: Place | None = None


@dataclass(frozen=True, eq=False)
class Count:
    """A number of parameters: a size, with symbols for unknown numbers; None if it is altogether unknown."""

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
    """The place where a layer is used: through `owners`, the first user in front, in `stages` if they are known."""

    place: Place
    function: str
    text: str
    stages: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    certain: bool = True


@dataclass(frozen=True, eq=False)
class Loose:
    """A layer that hangs loose, with the fault in words and as a `kind` (`not-moved`)."""

    name: str
    message: str
    kind: str
    place: Place


# -- recipes -----------------------------------------------------------------------------------------------------


class RootKind(Enum):
    """The kinds of objects that hold layers."""

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
    """An attribute of an object that holds a layer, a parameter or a buffer, and its state of registration."""

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


# -- model folders -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Weights:
    """Tensors of one shape and dtype: of repeated layers, `number` of them, with `*` in the name for their numbers.

    `parameters` is the number of elements of all of them, `memory` their bytes; None for an unknown dtype.
    """

    name: str
    number: int
    dtype: str
    shape: tuple[int, ...]
    parameters: int
    memory: int | None

    @property
    def part(self) -> str:
        """The part of the model that they belong to: `model.layers` of `model.layers.*.mlp.up_proj.weight`."""
        names = self.name.split(".")
        repeated = next((at for at, name in enumerate(names) if name == "*" or name.isdecimal()), len(names) - 1)
        return ".".join(names[: max(1, min(repeated, len(names) - 1))])


@dataclass(frozen=True, eq=False)
class FolderPart:
    """A model of a folder: `name` is its path within the folder, `class_name` the class that its configuration names.

    `unread` tells which files could not be read, and why. `is_tied`: the output layer shares the input embedding.
    """

    name: str
    class_name: str
    files: tuple[str, ...]
    weights: tuple[Weights, ...]
    unread: tuple[str, ...]
    is_tied: bool

    @property
    def parameters(self) -> int:
        return sum(one.parameters for one in self.weights)

    def by_part(self) -> dict[str, tuple[int, int, int]]:
        """The number of tensors, of parameters and of bytes of each part of the model."""
        found: dict[str, tuple[int, int, int]] = {}
        for one in self.weights:
            number, parameters, memory = found.get(one.part, (0, 0, 0))
            found[one.part] = number + one.number, parameters + one.parameters, memory + (one.memory or 0)
        return found

    def by_dtype(self) -> dict[str, tuple[int, int]]:
        """The number of parameters and of bytes of each dtype, the largest first."""
        found: dict[str, tuple[int, int]] = {}
        for one in self.weights:
            parameters, memory = found.get(one.dtype, (0, 0))
            found[one.dtype] = parameters + one.parameters, memory + (one.memory or 0)
        return dict(sorted(found.items(), key=lambda pair: -pair[1][0]))


@dataclass(frozen=True, eq=False)
class FolderMap:
    """The map of a model folder; a pipeline has several parts."""

    path: str
    parts: tuple[FolderPart, ...]


Map = RecipeMap | ClassMap | FolderMap
