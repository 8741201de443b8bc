"""Objects of a configuration that OmegaConf holds: those that its targets name, and the targets of its `${…}`.

Every place has a node of its own, whatever anchors share; relative interpolations begin where they stand. Values of
resolvers and of the command line are unknown.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from modellint.dialects.hydra_nodes import nodes_below
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import MISSING, OPEN, Interpolation, parse
from modellint.graph.recipe import Node, NodeKind, Recipe, Scalar, TagKind
from modellint.link.recipes.items import Item, ItemKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.source import Place

#: Aliases can multiply a few lines to any number of places.
MOST_SPOTS = 50_000
_MAX_CHAIN = 50
DEFAULTS = "defaults"
_DIRECTIVE = re.compile(r"_[a-z]+_")
_WORDS = {word: value for value in (True, False) for word in (("yes", "on") if value else ("no", "off"))}
_SIXTIES = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")


@dataclass(eq=False, slots=True)
class Spot:
    """A node at one place of the configuration, in the file `recipe`; `children` are those of a mapping or sequence.

    `is_open`: there may be more children than these.
    """

    node: Node
    recipe: Recipe
    path: str = ""
    key: Node | None = None
    parent: Spot | None = None
    children: dict[Scalar, Spot] = field(default_factory=dict)
    is_open: bool = False
    item: Item | None = None
    #: The nodes that were merged here, each with its file and its key.
    merged: list[tuple[Node, Recipe, Node | None]] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """The number of mappings and sequences around it."""
        levels, spot = 0, self
        while spot.parent is not None:
            levels, spot = levels + 1, spot.parent
        return levels

    @property
    def keys(self) -> list[Scalar]:
        """The keys from the top of the configuration to here."""
        keys: list[Scalar] = []
        spot = self
        while spot.parent is not None:
            keys.append(next(key for key, child in spot.parent.children.items() if child is spot))
            spot = spot.parent
        return keys[::-1]

    def at(self, keys: Sequence[Scalar]) -> Spot:
        """The place at the end of some keys from here. Raises KeyError if there is none."""
        spot = self
        for key in keys:
            spot = spot.children[key]
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


def spots_of(recipe: Recipe, left_out: frozenset[Scalar] = frozenset()) -> Spot:
    """The place of a file's root, with a place for each node below it, but those of some top-level keys."""
    top = Spot(recipe.root, recipe)
    pending = [top]
    for number, spot in enumerate(pending):
        if number > MOST_SPOTS:
            top.is_open = True
            break
        if spot.node.kind is NodeKind.MAPPING:
            for name, entry in spot.node.items().items():
                if spot is not top or name not in left_out:
                    below = f"{spot.path}[{name}]" if spot.path else str(name)
                    spot.children[name] = Spot(entry.value, recipe, below, entry.key, spot)
        for index, element in enumerate(spot.node.elements):
            spot.children[index] = Spot(element, recipe, f"{spot.path}[{index}]", None, spot)
        pending.extend(spot.children.values())
    return top


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
        self._depth = 0
        self.root = root
        self.root_item = self._item(root)
        for spot in root.below():
            if not spot.children and spot.item is None:
                self._item(spot)

    # -- objects -----------------------------------------------------------------------------------------------

    def _item(self, spot: Spot) -> Item:
        """The object of a place; one that is unfinished is returned as it is."""
        if spot.item is not None:
            return spot.item
        node = spot.node
        if node.kind is NodeKind.SCALAR:
            spot.item = self._scalar(spot)
            self.items.setdefault(id(node), spot.item)
            return spot.item
        kind = ItemKind.MAPPING if node.kind is NodeKind.MAPPING else ItemKind.SEQUENCE
        item = spot.item = Item(kind, node, spot.recipe, spot.path, spot.key)
        for one in (node, *(merged for merged, _, _ in spot.merged)):
            self.items.setdefault(id(one), item)
        if self._depth > _MAX_CHAIN:
            item.kind = ItemKind.UNKNOWN
            return item
        self._depth += 1
        fields = {name: self._item(child) for name, child in spot.children.items()}
        self._depth -= 1
        if kind is ItemKind.SEQUENCE:
            item.elements = list(fields.values())
        else:
            self._fill(item, spot, fields)
        return item

    def _fill(self, item: Item, spot: Spot, fields: dict[Scalar, Item]) -> None:
        """Set the fields of a mapping, or the arguments of the object that it describes."""
        writing = spot.recipe.dialect.writing
        if writing.target not in fields:
            item.fields = fields
            return
        item.kind = ItemKind.UNKNOWN
        if item.node.tag.kind is TagKind.TARGET:
            partial = fields.get(writing.partial)
            is_partial = partial is not None and not (partial.kind is ItemKind.CONSTANT and partial.value is False)
            item.kind = ItemKind.NAME if is_partial else ItemKind.NEW
            item.target = item.node.tag.target
        # The composer takes the list of defaults out; of a key such as `_call_` only its own framework knows.
        names = writing.reserved | ({DEFAULTS} if spot is self.root else frozenset())
        inside = spot.children.get(writing.arguments)
        given = fields.get(writing.arguments)
        item.fields = {name: field for name, field in fields.items() if name not in names}
        if writing.arguments:
            item.fields = dict(given.fields) if given is not None else {}
            if given is not None and given.kind is not ItemKind.MAPPING:
                item.kind = ItemKind.UNKNOWN
        is_open = spot.is_open or (inside is not None and inside.is_open)
        if is_open or any(isinstance(name, str) and _DIRECTIVE.fullmatch(name) for name in item.fields):
            item.kind = ItemKind.UNKNOWN
        given = fields.get(writing.positional)
        item.elements = list(given.elements) if given is not None else []

    def _scalar(self, spot: Spot) -> Item:
        node = spot.node
        value = _read(node)
        constant = Item(ItemKind.CONSTANT, node, spot.recipe, spot.path, spot.key, value=value)
        if not isinstance(value, str) or ("$" not in value and value != MISSING):
            return constant
        unknown = Item(ItemKind.UNKNOWN, node, spot.recipe, spot.path, spot.key)
        pieces = parse(value)
        if pieces is None or value == MISSING or self._depth > _MAX_CHAIN:
            return unknown
        texts: list[str] = []
        is_known = True
        spot.item = unknown  # an interpolation that leads back here finds nothing
        self._depth += 1
        for piece in pieces:
            found = piece if isinstance(piece, str) else self._follow(piece, spot, value)
            if isinstance(found, str):
                texts.append(found)
            elif len(pieces) == 1 and found is not None:
                self._depth -= 1
                return found
            elif found is not None and found.kind is ItemKind.CONSTANT:
                texts.append(str(found.value))
            else:
                is_known = False
        self._depth -= 1
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
            return self._item(self._lead(piece, spot, text, 0))
        except _Unknown:
            return None

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
            if not holder.children:
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
        item = self._item(self._lead(key, spot, text, _MAX_CHAIN // 2))
        if item.kind is not ItemKind.CONSTANT:
            raise _Unknown
        return str(item.value)

    def _dereference(self, spot: Spot, depth: int) -> Spot:
        """The mapping or sequence at a place, or at the target of its interpolations, but not one around them.

        Raises _Unknown.
        """
        passed: list[Spot] = []
        for _ in range(_MAX_CHAIN):
            if spot.node.kind is not NodeKind.SCALAR:
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
            available = dict.fromkeys((*map(str, holder.children), *added))
            gap = self.gaps[id(holder), name] = Gap(name, tuple(available), holder)
        gap.asked.setdefault((id(asked.node), asked.piece.start), asked)


def _is_above(name: str, spot: Spot) -> bool:
    """True if a mapping around a place has a key: if a program detaches the mapping, that is the root.

    Hydra detaches the nodes that `instantiate` passes as arguments.
    """
    above = spot.parent
    while above is not None:
        if name in above.children:
            return True
        above = above.parent
    return False


def _child(holder: Spot, name: str) -> Spot | None:
    """The child of a mapping or sequence by name, or None. Raises _Unknown if a key of another type may be meant."""
    if holder.node.kind is NodeKind.SEQUENCE:
        if not re.fullmatch(r"-?[0-9]+", name):
            raise _Unknown
        index = int(name)
        return holder.children.get(index if index >= 0 else len(holder.children) + index)
    found = holder.children.get(name)
    if found is None and any(str(key) == name or _is_word(key, name) for key in holder.children):
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
