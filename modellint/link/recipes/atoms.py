"""Atoms for a recipe and its Brain: the values that they bring into a script's run."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, Any

from modellint.flow.domain import ClassRef, Constant, Outside, Plain, Site
from modellint.flow.theory import Foreign
from modellint.graph.immutable import dataclass
from modellint.graph.value import compare_constants
from modellint.link.recipes.items import ItemKind

if TYPE_CHECKING:
    from collections.abc import Collection

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item

_EITHER = frozenset((True, False))


class Stage(Enum):
    """A member of `speechbrain.Stage`."""

    TRAIN = "TRAIN"
    VALID = "VALID"
    TEST = "TEST"


class Keys(Foreign):
    """All keys of the recipe, as a mapping or namespace; `names` are the known ones."""

    __slots__ = ("names",)

    def __init__(self, names: set[Any]) -> None:
        self.names = names

    def truth(self) -> bool | None:
        return True

    def has(self, key: object) -> bool | None:
        return key in self.names


class ModulesTable(Foreign):
    """`self.modules`; `names` are its entries, None if some are unknown."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: Collection[str] | None = None

    def truth(self) -> bool | None:
        return True if self.names else None

    def has(self, key: object) -> bool | None:
        return None if self.names is None else key in self.names


@dataclass(frozen=True, slots=True)
class ModulesEntry(Foreign):
    """`self.modules.name`, read at `site`."""

    name: str
    site: Site | None = None

    def truth(self) -> bool | None:
        return None

    def is_none(self) -> bool | None:
        return None


@dataclass(frozen=True, slots=True)
class RecipeObject(Foreign):
    """An object that the recipe makes, or a class or function that it names."""

    item: Item
    project: Project = field(repr=False, compare=False)

    def truth(self) -> bool | None:
        item = self.item
        if item.kind in (ItemKind.MAPPING, ItemKind.SEQUENCE):
            return bool(item.fields or item.elements)
        return True if item.kind in (ItemKind.NEW, ItemKind.NAME) else None

    def has(self, key: object) -> bool | None:
        if self.item.kind is ItemKind.MAPPING:
            return key in self.item.fields
        if self.item.kind is ItemKind.SEQUENCE:
            elements = self.item.elements
            known = all(element.kind is ItemKind.CONSTANT for element in elements)
            return key in [element.value for element in elements] if known else None
        return None

    def has_attribute(self, name: str) -> bool | None:
        """The result of `hasattr`; None if unknown."""
        if self.item.kind is not ItemKind.NEW:
            return None
        model = self.project.classes.resolve(self.item.target, self.item.recipe.file)
        return True if model is not None and (model.has_method(name) or model.changes_state(name)) else None

    def is_of(self, kind: Atom) -> bool | None:
        classes = self.project.classes
        model = classes.resolve(self.item.target, self.item.recipe.file) if self.item.kind is ItemKind.NEW else None
        wanted = kind.model.name if isinstance(kind, ClassRef) else kind.name if isinstance(kind, Outside) else None
        if model is None or wanted is None:
            return None
        is_base = any(base.name == wanted for base in model.mro())
        return True if is_base else False if model.is_complete else None


@dataclass(frozen=True, slots=True)
class ObjectPart(Foreign):
    """An attribute or element of an object of the recipe."""

    owner: RecipeObject | ModulesEntry
    name: str

    def is_none(self) -> bool | None:
        return None


@dataclass(frozen=True, slots=True)
class Checkpointer(Foreign):
    """A checkpointer made by the script; `is_complete`: its arguments are all known."""

    site: Site
    is_complete: bool

    def truth(self) -> bool | None:
        return True


@dataclass(frozen=True, slots=True)
class Partial(Foreign):
    """A function with the arguments that `functools.partial` binds."""

    function: Atom
    arguments: Arguments

    def truth(self) -> bool | None:
        return True


@dataclass(frozen=True, slots=True)
class Thing(Foreign):
    """An object of a class that is not interpreted."""


@dataclass(frozen=True, slots=True)
class Data(Plain):
    """A dataset or loader, which holds no layer."""


class Recoverables(Foreign):
    """The recoverables of a checkpointer: the objects that it saves."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Weights(Plain):
    """Some or all parameters of a module or of several."""

    owner: Atom


@dataclass(frozen=True, slots=True)
class Optimizer(Foreign):
    """An optimizer made at `site`; `item` is its class in the recipe, None for a class of the script."""

    site: Site
    item: Item | None

    def truth(self) -> bool | None:
        return True


@dataclass(frozen=True, slots=True)
class Product(Foreign):
    """The result of calling something that the recipe only names."""

    item: Item

    def is_none(self) -> bool | None:
        return None


@dataclass(frozen=True, slots=True)
class Turn(Foreign):
    """An integer that runs from `low` to `high` (None: without end) during a training."""

    low: int
    high: int | None

    def truth(self) -> bool | None:
        return True if self.low > 0 else None

    @property
    def comes_and_goes(self) -> bool:
        """True if it is certainly zero at one time and nonzero at another."""
        return self.low <= 0

    def compared(self, operator: str, other: Atom) -> bool | None:
        outcomes = self.outcomes(operator, other)
        return None if outcomes is None or len(outcomes) > 1 else next(iter(outcomes))

    def outcomes(self, operator: str, other: Atom) -> frozenset[bool] | None:
        """The results of a comparison during a training; None if unknown, as late epochs may never come."""
        bound = other.value if isinstance(other, Constant) else None
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            return None
        if operator in ("==", "is", "!=", "is not"):
            return self._equals(bound, operator in ("==", "is"))
        first = compare_constants(operator, self.low, bound)
        last = operator in (">", ">=") if self.high is None else compare_constants(operator, self.high, bound)
        if first is None or last is None:
            return None
        if first == last:
            return frozenset((first,))
        # How many epochs there are is unknown: those that come late may never come.
        return None if self.high is None and last else _EITHER

    def _equals(self, bound: float, wanted: bool) -> frozenset[bool]:
        is_inside = self.low <= bound and (self.high is None or bound <= self.high) and float(bound).is_integer()
        if not is_inside or self.low == self.high:
            return frozenset((is_inside is wanted,))
        return _EITHER

    def modulo(self, number: object) -> Turn | None:
        """The remainder by a number; None if it does not run through a full period."""
        if type(number) is int and number > 0 and (self.high is None or self.high >= number):
            return Turn(0, number - 1)
        return None


def atoms_of(item: Item, project: Project) -> Atoms | None:
    """The atoms for an object of the recipe, constants as constants; None if its value is unknown."""
    if item.kind is ItemKind.CONSTANT:
        values = item.values
        return (Constant(item.value if values is None else values),)
    return None if item.kind is ItemKind.UNKNOWN else (RecipeObject(item, project),)
