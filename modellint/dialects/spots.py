"""Places of a configuration, each with the content that one or more files have for it.

Every place has a node of its own, whatever anchors share. What is below a place is made when somebody asks for it: a
program composes each of its files with all others, and rules ask for a few places of each composition.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from modellint.dialects.hydra_nodes import HYDRA
from modellint.dialects.structured import schema_of
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import MISSING, OPEN
from modellint.graph.recipe import NO_TAG, Entry, Node, NodeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modellint.dialects.structured import Schema
    from modellint.graph.recipe import Recipe, Scalar
    from modellint.link.recipes.items import Item

#: The key of the list that names the files to merge.
DEFAULTS = "defaults"
_NUMBER = re.compile(r"[-+]?[0-9_]+")
_REAL = re.compile(r"[-+]?(?:[0-9_.]+(?:e[-+]?[0-9]+)?|\.?inf|\.?nan)", re.IGNORECASE)
_FLAGS = frozenset(("yes", "no", "on", "off", "true", "false", "y", "n", "0", "1"))
#: Aliases can multiply a few lines to any number of places.
MOST_SPOTS = 50_000


class Layer:
    """The content that one file has for a place: a node, or a mapping around it while keys of its `package` are left.

    `left_out` are keys of the node that do not count. All compositions of a project share the layers of a file.
    """

    __slots__ = (
        *("_below", "_names_target", "is_missing", "key", "kind", "left_out", "node", "package", "recipe"),
        "schema",
    )

    def __init__(
        self,
        node: Node,
        recipe: Recipe,
        key: Node | None = None,
        package: tuple[str, ...] = (),
        left_out: frozenset[Scalar] = frozenset(),
    ) -> None:
        self.node, self.recipe, self.key, self.package, self.left_out = node, recipe, key, package, left_out
        self.kind = NodeKind.MAPPING if package else node.kind
        #: True if it is `???`, which leaves what was there.
        self.is_missing = self.kind is NodeKind.SCALAR and node.text == MISSING
        #: The schema of a mapping of a ConfigStore; None for others.
        self.schema = None if package else schema_of(recipe, node)
        self._below: tuple[tuple[Scalar, Layer], ...] | None = None
        self._names_target: bool | None = None

    @property
    def names_target(self) -> bool:
        """True if it is a mapping that names a class to build."""
        if self._names_target is None:
            self._names_target = False
            target = self.recipe.dialect.writing.target
            for name, one in self.below() if self.kind is NodeKind.MAPPING and not self.package else ():
                if name == target and not one.is_missing:
                    self._names_target = True
        return self._names_target

    def below(self) -> tuple[tuple[Scalar, Layer], ...]:
        """The content that the file has for the places directly below, by key or position."""
        if self._below is None:
            self._below = () if self.kind is NodeKind.SCALAR else tuple(self._find_below())
        return self._below

    def _find_below(self) -> Iterator[tuple[Scalar, Layer]]:
        if self.package:
            yield self.package[0], layer_of(self.recipe, ".".join(self.package[1:]), self.left_out)
        elif self.kind is NodeKind.MAPPING:
            for name, entry in self.node.items().items():
                if name not in self.left_out:
                    yield name, Layer(entry.value, self.recipe, entry.key)
        else:
            for index, element in enumerate(self.node.elements):
                yield index, Layer(element, self.recipe)


def layer_of(recipe: Recipe, package: str, left_out: frozenset[Scalar]) -> Layer:
    """The content of a file for the place that has a package left, but for some keys of its top."""
    known: dict[object, Layer] = recipe.memo
    key = "layer", package, left_out
    found = known.get(key)
    if found is None:
        keys = tuple(filter(None, package.split(".")))
        found = known[key] = Layer(recipe.root, recipe, None, keys, left_out)
    return found


@dataclass(eq=False, slots=True)
class Merging:
    """The state that the places of one configuration share.

    The packages `opened` may have any keys. With `is_any`, one of the files counts, and nobody knows which. `clash` is
    told of a mapping and a list for one key, the later one second; `refuse` of a key, or of its value, that a schema
    does not take.
    """

    opened: frozenset[tuple[str, ...]] = frozenset()
    clash: Callable[[Scalar, Layer, Layer], None] | None = None
    refuse: Callable[[Scalar, Layer, Schema], None] | None = None
    is_any: bool = False
    made: int = 0


@dataclass(eq=False, slots=True)
class Spot:
    """A place of the configuration with the content of its `layers`, the later ones merged into the earlier ones.

    `recipe` is the file that counts as its own: the one that names the class to build, or else the last one.
    `is_open`: there may be more children than these.
    """

    layers: tuple[Layer, ...]
    recipe: Recipe
    shared: Merging
    path: str = ""
    name: Scalar = None
    key: Node | None = None
    parent: Spot | None = None
    is_open: bool = False
    item: Item | None = None
    _node: Node | None = field(default=None, repr=False)
    _groups: dict[Scalar, list[Layer]] | None = field(default=None, repr=False)
    _opened: frozenset[Scalar] = frozenset()
    #: The places below that were asked for.
    _made: dict[Scalar, Spot] = field(default_factory=dict, repr=False)

    @property
    def kind(self) -> NodeKind:
        return self.layers[-1].kind if self.layers else NodeKind.MAPPING

    @property
    def node(self) -> Node:
        """The node; for the content of several files, a mapping with all entries."""
        if self._node is None:
            if len(self.layers) == 1 and not self.layers[0].package and not self.layers[0].left_out:
                self._node = self.layers[0].node
            else:
                self._node = self._join_layers()
        return self._node

    def _join_layers(self) -> Node:
        """A mapping with the entries of all files; what is in them is as the last file has it."""
        own = _own(self.layers)
        entries = []
        for layers in self.names.values():
            key = _key(layers, _own(layers))
            if key is not None:
                entries.append(Entry(key, layers[-1].node))
        span = own.node.span if own is not None else self.recipe.root.span
        is_target = own is not None and own.names_target
        return Node(NodeKind.MAPPING, own.node.tag if own and is_target else NO_TAG, span, entries=tuple(entries))

    @property
    def children(self) -> dict[Scalar, Spot]:
        """The places directly below: of a mapping by key, of a sequence by position."""
        return {name: self._child(name) for name in self.names}

    @property
    def names(self) -> dict[Scalar, list[Layer]]:
        """The layers of the places directly below, by key or position."""
        if self._groups is None:
            self._groups = self._group()
        return self._groups

    def get(self, name: Scalar) -> Spot | None:
        """The place directly below with a key or position; None if there is none."""
        return self._child(name) if name in self.names else None

    def _child(self, name: Scalar) -> Spot:
        found = self._made.get(name)
        if found is None:
            path = f"{self.path}[{name}]" if self.path else str(name)
            layers = tuple(self.names[name])
            found = Spot(layers, self.recipe, self.shared, path, name, None, self, name in self._opened)
            found.settle()
            self._made[name] = found
        return found

    def _group(self) -> dict[Scalar, list[Layer]]:
        shared = self.shared
        if shared.made > MOST_SPOTS:
            self.is_open = True
            return {}
        found: dict[Scalar, list[Layer]] = {}
        opened: set[Scalar] = set()
        if len(self.layers) == 1 and not shared.opened:
            for name, below in self.layers[0].below():
                found[name] = [below]
            shared.made += len(found)
            return found
        schema: Schema | None = None
        for layer in self.layers:
            own = layer.schema
            for name, below in layer.below():
                if schema is not None and own is None and shared.refuse is not None:
                    is_own = self.parent is None and name == HYDRA
                    is_extra = name not in schema.keys and name not in found and not is_own
                    if is_extra or (name in schema.types and _misfits(below, *schema.types[name])):
                        shared.refuse(name, below, schema)
                known = found.get(name)
                if known is None:
                    found[name] = [below]
                    continue
                if below.is_missing:
                    continue
                was, now = known[-1].kind, below.kind
                if now is NodeKind.MAPPING:
                    if was is NodeKind.MAPPING:
                        known.append(below)
                        continue
                    if was is NodeKind.SCALAR and OPEN in known[-1].node.text:
                        opened.add(name)  # what the interpolation leads to is merged as well
                is_list_and_mapping = now is not was and NodeKind.SCALAR not in (now, was)
                if is_list_and_mapping and shared.clash is not None:
                    shared.clash(name, known[-1], below)
                found[name] = [below]
            schema = own or schema
        if shared.opened:
            keys = tuple(map(str, self.keys))
            for package in shared.opened:
                if len(package) > len(keys) and package[: len(keys)] == keys:
                    found.setdefault(package[len(keys)], [])
                    if len(package) == len(keys) + 1:
                        opened.add(package[-1])
        shared.made += len(found)
        self._opened = frozenset(opened)
        return found

    def settle(self) -> None:
        """Choose the file and the key that count as its own."""
        own = self.layers[0] if len(self.layers) == 1 else _own(self.layers)
        if own is not None:
            self.recipe, self.key = own.recipe, own.key or _key(self.layers, own)

    @property
    def depth(self) -> int:
        """The number of mappings and sequences around it."""
        return len(self.keys)

    @property
    def keys(self) -> list[Scalar]:
        """The keys from the top of the configuration to here."""
        keys: list[Scalar] = []
        spot = self
        while spot.parent is not None:
            keys.append(spot.name)
            spot = spot.parent
        return keys[::-1]

    def at(self, keys: Sequence[Scalar]) -> Spot:
        """The place at the end of some keys from here. Raises KeyError if there is none."""
        spot = self
        for key in keys:
            spot = spot._child(key)
        return spot

    def find(self, keys: Sequence[Scalar]) -> Spot | None:
        """The place at the end of some keys from here; None if there is none."""
        spot: Spot | None = self
        for key in keys:
            spot = None if spot is None else spot.get(key)
        return spot

    def is_around(self, other: Spot) -> bool:
        """True if another place is below this one."""
        above = other.parent
        while above is not None and above is not self:
            above = above.parent
        return above is self

    def below(self) -> Iterator[Spot]:
        """This place and all places below it."""
        pending = [self]
        for spot in pending:
            yield spot
            pending.extend(spot.children.values())

    def in_file(self, recipe: Recipe) -> Iterator[Spot]:
        """The places at and below this one for which a file has content that counts."""
        pending = [self]
        for spot in pending:
            yield spot
            if spot.layers and spot.layers[-1].kind is NodeKind.SCALAR:
                continue
            for name, layers in spot.names.items():
                for layer in layers:
                    if layer.recipe is recipe:
                        pending.append(spot._child(name))
                        break


def _misfits(layer: Layer, wanted: str, takes_none: bool) -> bool:
    """True if OmegaConf cannot convert a value to the type of a field.

    Source: omegaconf 2.3.1, `nodes.py`: the text of a number is one, other text is none.
    """
    if not wanted:
        return False
    if layer.kind is not NodeKind.SCALAR:
        return wanted != {NodeKind.MAPPING: "mapping", NodeKind.SEQUENCE: "list"}[layer.kind]
    value = layer.node.scalar
    if layer.is_missing or layer.node.tag.text or (isinstance(value, str) and OPEN in value):
        return False
    if value is None:
        return not takes_none
    if wanted in ("list", "mapping"):
        return True
    if wanted == "int":
        return not (type(value) is int or (isinstance(value, str) and bool(_NUMBER.fullmatch(value))))
    if wanted == "float":
        return isinstance(value, bool) or (isinstance(value, str) and not _REAL.fullmatch(value))
    if wanted == "bool":
        return isinstance(value, float) or (isinstance(value, str) and value.lower() not in _FLAGS)
    return False


def _own(layers: Sequence[Layer]) -> Layer | None:
    """The last layer that names the class to build; without one, the last layer."""
    if len(layers) > 1:
        for layer in reversed(layers):
            if layer.names_target:
                return layer
    return layers[-1] if layers else None


def _key(layers: Sequence[Layer], own: Layer | None) -> Node | None:
    """The key of a place: that of its own layer, or the first one."""
    if own is not None and own.key is not None:
        return own.key
    return next((layer.key for layer in layers if layer.key is not None), None)


def spots_of(recipe: Recipe, left_out: frozenset[Scalar] = frozenset()) -> Spot:
    """The place of a file's root, with a place for each node below it, but those of some top-level keys."""
    return Spot((layer_of(recipe, "", left_out),), recipe, Merging())
