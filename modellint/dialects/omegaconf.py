"""Objects of a configuration that OmegaConf holds: those that its targets name, and the targets of its `${…}`.

Every place has a node of its own, whatever anchors share; relative interpolations begin where they stand. Values of
resolvers and of the command line are unknown.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from modellint.dialects.hydra_nodes import nodes_below
from modellint.dialects.spots import DEFAULTS, Spot
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import MISSING, OPEN, Interpolation, parse
from modellint.graph.recipe import Dialect, Node, NodeKind, Recipe, Scalar, TagKind
from modellint.link.recipes.items import Item, ItemKind

if TYPE_CHECKING:
    from modellint.source import Place

_MAX_CHAIN = 50
_LEFT_OUT = frozenset((DEFAULTS,))
_KNOWN = frozenset(name for dialect in Dialect for name in dialect.writing.reserved_keys)
_DIRECTIVE = re.compile(r"_[a-z]+_")
_WORDS = {word: value for value in (True, False) for word in (("yes", "on") if value else ("no", "off"))}
_SIXTIES = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")


class _Unknown(Exception):  # noqa: N818 - not a failure
    """The target of an interpolation depends on the run."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An interpolation in the string `text` of a node, in the file `recipe`."""

    node: Node
    recipe: Recipe
    piece: Interpolation
    text: str

    @property
    def expression(self) -> str:
        """The text between the braces."""
        return self.text[self.piece.start + len(OPEN) : self.piece.end - 1].strip()

    def same(self, other: Asked) -> bool:
        """True if it is the same interpolation in another configuration."""
        return self.node is other.node and self.piece.start == other.piece.start

    @property
    def place(self) -> Place:
        """The interpolation; the whole string if it is a part of another one."""
        reference = next((one for one in self.node.references if self.expression in one.text), None)
        return self.recipe.place(reference.span if reference is not None else self.node.span)


@dataclass(slots=True)
class Gap:
    """A key that a mapping or sequence, the `holder`, lacks, and the interpolations that need it."""

    key: str
    available: tuple[str, ...]
    holder: Spot
    asked: dict[tuple[int, int], Asked] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The number of mappings and sequences around the holder."""
        return self.holder.depth


class Configuration:
    """The evaluation of a configuration: the objects of its nodes, and the `gaps` of its interpolations."""

    def __init__(self, root: Spot) -> None:
        #: The objects, by the `id` of their nodes.
        self.items: dict[int, Item] = {}
        self.gaps: dict[tuple[int, str], Gap] = {}
        #: How many absolute interpolations have a target.
        self.resolved = 0
        #: The interpolations that have a target at one place at least; an alias may repeat them where they lack one.
        self.led: set[tuple[int, int]] = set()
        #: The places of the objects, by their `id`.
        self.spots: dict[int, Spot] = {}
        #: The interpolations that lead from a string back to that string, for each such string.
        self.cycles: list[tuple[Asked, ...]] = []
        #: The interpolations that are followed, from the first one on, each with the place that it stands at.
        self._chain: list[tuple[Spot, Asked]] = []
        self.root = root

    @cached_property
    def root_item(self) -> Item:
        """The object of the whole; all others are in it."""
        found = self.item(self.root)
        for spot in self.root.below():
            if spot.item is None and not spot.names:
                self.item(spot)
        return found

    def built_in(self, recipe: Recipe) -> tuple[Item, ...]:
        """The objects with a class to build for which a file has content; its interpolations are followed as well."""
        found = []
        for spot in self.root.in_file(recipe):
            if spot.kind is NodeKind.SCALAR:
                self.item(spot)
            elif spot.kind is NodeKind.MAPPING and spot.recipe.dialect.writing.target in spot.names:
                found.append(self.item(spot))
        return tuple(found)

    # -- objects -----------------------------------------------------------------------------------------------

    def item(self, spot: Spot) -> Item:
        """The object of a place; one that is unfinished is returned as it is."""
        if spot.item is not None:
            return spot.item
        node = spot.node
        if node.kind is NodeKind.SCALAR:
            spot.item = self._scalar(spot)
            self.items.setdefault(id(node), spot.item)
            self.spots.setdefault(id(spot.item), spot)
            return spot.item
        item = spot.item = _PlaceItem(spot, self)
        self.spots[id(item)] = spot
        for one in (node, *(layer.node for layer in spot.layers if not layer.package)):
            self.items.setdefault(id(one), item)
        self._classify(item, spot)
        return item

    def _classify(self, item: Item, spot: Spot) -> None:
        """Set the kind of a mapping that describes an object, and the class to build."""
        writing = spot.recipe.dialect.writing
        if item.kind is not ItemKind.MAPPING or writing.target not in spot.names:
            return
        item.kind = ItemKind.UNKNOWN
        given = self._giver(spot)
        is_mapping = given is None or given.kind is NodeKind.MAPPING
        if not is_mapping or spot.is_open or (given is not None and (given.is_open or _has_directive(given))):
            return
        if item.node.tag.kind is TagKind.TARGET:
            flag = spot.get(writing.partial)
            partial = None if flag is None else self.item(flag)
            is_partial = partial is not None and not (partial.kind is ItemKind.CONSTANT and partial.value is False)
            item.kind = ItemKind.NAME if is_partial else ItemKind.NEW
            item.target = item.node.tag.target

    @staticmethod
    def _giver(spot: Spot) -> Spot | None:
        """The place of an object's arguments by name; None if it gets none."""
        inside = spot.recipe.dialect.writing.arguments
        return spot.get(inside) if inside else spot

    def content(self, spot: Spot) -> tuple[dict[Scalar, Item], list[Item]]:
        """The fields of a mapping and the elements of a sequence, or the arguments of an object."""
        if spot.kind is NodeKind.SEQUENCE:
            return {}, [self.item(child) for child in spot.children.values()]
        writing = spot.recipe.dialect.writing
        if writing.target not in spot.names:
            return {name: self.item(child) for name, child in spot.children.items()}, []
        # The composer takes the list of defaults out; of a key such as `_call_` only its own framework knows.
        names = writing.reserved_keys | (_LEFT_OUT if spot is self.root else frozenset())
        giver = self._giver(spot)
        given = giver.children if giver is not None and giver.kind is NodeKind.MAPPING else {}
        positional = spot.get(writing.positional)
        elements = () if positional is None else self.item(positional).elements
        return {name: self.item(one) for name, one in given.items() if name not in names}, list(elements)

    def _scalar(self, spot: Spot) -> Item:
        node = spot.node
        value = _read(node)
        constant = Item(ItemKind.CONSTANT, node, spot.recipe, spot.path, spot.key, value=value)
        if not isinstance(value, str) or ("$" not in value and value != MISSING):
            return constant
        unknown = Item(ItemKind.UNKNOWN, node, spot.recipe, spot.path, spot.key)
        pieces = parse(value)
        if pieces is None or value == MISSING or len(self._chain) > _MAX_CHAIN:
            return unknown
        texts: list[str] = []
        is_known = True
        spot.item = unknown  # an interpolation that leads back here finds nothing
        for piece in pieces:
            found = piece if isinstance(piece, str) else self._follow(piece, spot, value)
            if isinstance(found, str):
                texts.append(found)
            elif len(pieces) == 1 and found is not None:
                return found
            elif found is not None and found.kind is ItemKind.CONSTANT:
                texts.append(str(found.value))
            else:
                is_known = False
        constant.value = "".join(texts)
        return constant if is_known else unknown

    # -- interpolations ----------------------------------------------------------------------------------------

    def _follow(self, piece: Interpolation, spot: Spot, text: str) -> Item | None:
        """The object that an interpolation of the string at `spot` leads to; None if unknown."""
        for inner in (*piece.arguments, *(key for key in piece.keys if isinstance(key, Interpolation))):
            self._follow(inner, spot, text)
        if piece.is_resolver:
            return None
        try:
            target = self._lead(piece, spot, text, 0)
        except _Unknown:
            return None
        self._chain.append((spot, Asked(spot.node, spot.recipe, piece, text)))
        if target.item is not None:
            around = [number for number, (one, _) in enumerate(self._chain) if one is target]
            if around:
                self.cycles.append(tuple(one for _, one in self._chain[around[0] :]))
        found = self.item(target)
        self._chain.pop()
        return found

    def _lead(self, piece: Interpolation, spot: Spot, text: str, depth: int) -> Spot:
        """The place that an interpolation leads to. Raises _Unknown."""
        if piece.is_resolver or depth > _MAX_CHAIN:
            raise _Unknown
        current = spot.parent if piece.dots else self.root
        for _ in range(piece.dots - 1):
            current = current.parent if current is not None else None
        if current is None:
            raise _Unknown
        for key in piece.keys:
            name = key if isinstance(key, str) else self._name(key, spot, text)
            holder = self._dereference(current, depth)
            if not holder.names:
                raise _Unknown  # empty: something may be put there
            found = _child(holder, name)
            if found is None and (holder.is_open or (holder is self.root and _is_above(name, spot))):
                raise _Unknown
            if found is None:
                self._missing(holder, name, Asked(spot.node, spot.recipe, piece, text))
                raise _Unknown
            current = found
        if not piece.dots:
            self.resolved += 1
        self.led.add((id(spot.node), piece.start))
        return current

    def _name(self, key: Interpolation, spot: Spot, text: str) -> str:
        """The key that a nested interpolation stands for. Raises _Unknown."""
        item = self.item(self._lead(key, spot, text, _MAX_CHAIN // 2))
        if item.kind is not ItemKind.CONSTANT:
            raise _Unknown
        return str(item.value)

    def _dereference(self, spot: Spot, depth: int) -> Spot:
        """The mapping or sequence at a place, or at the target of its interpolations, but not one around them.

        Raises _Unknown.
        """
        passed: list[Spot] = []
        for _ in range(_MAX_CHAIN):
            if spot.kind is not NodeKind.SCALAR:
                if any(spot.is_around(other) for other in passed):
                    raise _Unknown
                return spot
            passed.append(spot)
            value = _read(spot.node)
            pieces = parse(value) if isinstance(value, str) and "$" in value else None
            if pieces is None or len(pieces) != 1 or isinstance(pieces[0], str):
                raise _Unknown
            spot = self._lead(pieces[0], spot, str(value), depth + 1)
        raise _Unknown

    def _missing(self, holder: Spot, name: str, asked: Asked) -> None:
        """Record a key that a node lacks, unless Hydra adds it."""
        gap = self.gaps.get((id(holder), name))
        if gap is None:
            added = nodes_below(holder.keys)
            if added is None or name in added:
                return
            available = dict.fromkeys((*map(str, holder.names), *added))
            gap = self.gaps[id(holder), name] = Gap(name, tuple(available), holder)
        gap.asked.setdefault((id(asked.node), asked.piece.start), asked)


class _PlaceItem(Item):
    """The object of a mapping or sequence, whose content is made when somebody asks for it."""

    __slots__ = ("_elements", "_fields", "_place", "_run")

    def __init__(self, spot: Spot, run: Configuration) -> None:
        self._place, self._run = spot, run
        kind = ItemKind.MAPPING if spot.kind is NodeKind.MAPPING else ItemKind.SEQUENCE
        super().__init__(kind, spot.node, spot.recipe, spot.path, spot.key)
        self._fields: dict[Scalar, Item] | None = None
        self._elements: list[Item] = []

    def _make(self) -> None:
        if self._fields is None:
            self._fields, self._elements = {}, []  # what is asked meanwhile finds nothing
            self._fields, self._elements = self._run.content(self._place)

    @property
    def fields(self) -> dict[Scalar, Item]:
        self._make()
        return self._fields or {}

    @fields.setter
    def fields(self, value: dict[Scalar, Item]) -> None:
        self._fields = value

    @property
    def elements(self) -> list[Item]:
        self._make()
        return self._elements

    @elements.setter
    def elements(self, value: list[Item]) -> None:
        self._elements = value


def _has_directive(spot: Spot) -> bool:
    """True if a mapping has a key such as `_call_`, of a framework."""
    names = (name for name in spot.names if isinstance(name, str) and name.startswith("_"))
    return any(name not in _KNOWN and _DIRECTIVE.fullmatch(name) for name in names)


def _is_above(name: str, spot: Spot) -> bool:
    """True if a mapping around a place has a key: if a program detaches the mapping, that is the root.

    Hydra detaches the nodes that `instantiate` passes as arguments.
    """
    above = spot.parent
    while above is not None:
        if name in above.names:
            return True
        above = above.parent
    return False


def _child(holder: Spot, name: str) -> Spot | None:
    """The child of a mapping or sequence by name, or None. Raises _Unknown if a key of another type may be meant."""
    if holder.kind is NodeKind.SEQUENCE:
        if not re.fullmatch(r"-?[0-9]+", name):
            raise _Unknown
        index = int(name)
        return holder.get(index if index >= 0 else len(holder.names) + index)
    found = holder.get(name)
    if found is None and any(str(key) == name or _is_word(key, name) for key in holder.names):
        raise _Unknown
    return found


def _is_word(key: Scalar, name: str) -> bool:
    return not isinstance(key, str) and name.lower() in {*_WORDS, "true", "false", "null", str(key).lower()}


def _read(node: Node) -> Scalar:
    """The value of a scalar under YAML 1.1, which is what OmegaConf reads: `yes` is true."""
    if node.plain and not node.tag.text:
        if node.text.lower() in _WORDS and (node.text.islower() or node.text.isupper() or node.text.istitle()):
            return _WORDS[node.text.lower()]
        if _SIXTIES.fullmatch(node.text):
            return node.text
    return node.scalar
