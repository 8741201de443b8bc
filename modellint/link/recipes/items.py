"""Objects made from the nodes of a recipe, which several places may share, and problems of making them."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.link.recipes.arithmetic import read_tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from modellint.graph.recipe import (
        Node,
        Recipe,
        Scalar,
    )
    from modellint.source import Place


class ItemKind(Enum):
    """The kind of object that a node makes. CONSTANT has a `value`; those with a tag have a `target`."""

    CONSTANT = "constant"
    MAPPING = "mapping"
    SEQUENCE = "sequence"
    NEW = "!new"
    NAME = "!name"
    APPLY = "!apply"
    MODULE = "!module"
    ATTRIBUTE = "attribute"  # of its only element; `value` is the name
    UNKNOWN = "unknown"


@dataclass(eq=False, slots=True)
class Item:
    """One object of the evaluated recipe; the same object reached on two ways is the same Item.

    `fields` are the entries of a mapping or the keyword arguments of a call, `elements` those of a sequence or the
    positional arguments. `path` is where it was first defined (`models[generator]`), `node` its definition in
    the file `recipe`, `key` the key node it stands under.
    """

    kind: ItemKind
    node: Node
    recipe: Recipe = field(repr=False)
    path: str
    key: Node | None = field(default=None, repr=False)
    value: Scalar = None
    target: str = ""
    fields: dict[Scalar, Item] = field(default_factory=dict, repr=False)
    elements: list[Item] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        """The last key of its path: `generator` of `models[generator]`."""
        return self.path.rpartition("[")[2].removesuffix("]")

    @property
    def top(self) -> str:
        """The first key of its path: `models` of `models[generator]`."""
        return self.path.partition("[")[0]

    @property
    def number(self) -> int | float | None:
        """The value of a numeric constant."""
        if self.kind is ItemKind.CONSTANT and isinstance(self.value, int | float):
            return None if isinstance(self.value, bool) else self.value
        return None

    @property
    def values(self) -> tuple[Scalar, ...] | None:
        """The elements of a constant `(3, 4)`."""
        if self.kind is ItemKind.CONSTANT and isinstance(self.value, str):
            return read_tuple(self.value)
        return None

    @property
    def place(self) -> Place:
        """The key it was defined under, or the node itself."""
        return self.recipe.place((self.key or self.node).span)

    def children(self) -> Iterator[tuple[str | int, Item]]:
        """Its fields and elements, by key or position."""
        for name, item in self.fields.items():
            yield name if isinstance(name, str) else str(name), item
        yield from enumerate(self.elements)

    def walk(self) -> Iterator[Item]:
        """This object and all objects below it, each once."""
        seen: set[int] = set()
        stack = [self]
        while stack:
            item = stack.pop()
            if id(item) not in seen:
                seen.add(id(item))
                yield item
                stack.extend(reversed([child for _, child in item.children()]))


class ProblemKind(Enum):
    UNDEFINED = "undefined"  # a reference to a key that does not exist
    FORWARD = "forward"  # a reference to a reference that stands further down: HyperPyYAML leaves it unresolved
    CYCLE = "cycle"  # references, or includes, that lead back to themselves
    ITSELF = "itself"  # an object that is to hold itself: HyperPyYAML puts None there
    INCLUDE = "include"  # an included file that cannot be read
    ARITHMETIC = "arithmetic"  # a division by zero
    OVERRIDE = "override"  # a mapping that an include lays over what is none; `missing` is the included file
    UNBOUND = "unbound"  # a name that nothing in a configuration in Python binds; `missing` is how to inherit it
    SHAPE = "shape"  # a tag for a scalar on a mapping or sequence, or the other way round


@dataclass(frozen=True, slots=True)
class Problem:
    """An error, or a silent mistake, of loading a recipe with HyperPyYAML.

    `text` is the reference as written; `missing` the missing key or file, the text of the reference that is not
    resolved in time, or the tag; `available` the existing keys, or why a file cannot be read.
    """

    kind: ProblemKind
    place: Place
    text: str
    missing: str = ""
    available: tuple[str, ...] = ()
    #: How many references have the same missing target.
    times: int = 1

    @property
    def reference(self) -> str:
        """The reference in angle brackets, which the text already has if it is longer than one reference."""
        return self.text if "<" in self.text else f"<{self.text}>"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A recipe and its objects. `recipes` are the recipe and everything it includes, in that order."""

    recipe: Recipe
    _root: Item | Callable[[], Item]
    problems: tuple[Problem, ...]
    recipes: tuple[Recipe, ...]
    _items: Mapping[int, Item] = field(repr=False)
    _own: tuple[Item, ...] | None = field(default=None, repr=False)

    @cached_property
    def root(self) -> Item:
        """The object of the whole."""
        return self._root if isinstance(self._root, Item) else self._root()

    @property
    def own(self) -> tuple[Item, ...]:
        """The objects with a class to build for which the recipe's own file has content; without such, all objects."""
        return self.objects if self._own is None else self._own

    @cached_property
    def objects(self) -> tuple[Item, ...]:
        """All objects of the recipe, each once."""
        return tuple(self.root.walk())

    @property
    def keys(self) -> dict[Scalar, Item]:
        """The top-level objects by key, which the script gets as `hparams`."""
        return self.root.fields

    def item(self, node: Node) -> Item | None:
        """The object of a node in the recipe's own file; None for other nodes."""
        if id(node) not in self._items:
            _ = self.objects  # which makes all
        return self._items.get(id(node))
