"""A configuration as its program gets it: the keys below a key, where each stands, and the value that it has.

For OmegaConf this is what a program composes of several files, or else the file alone; for the other dialects the file
with what it includes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from modellint.dialects.omegaconf import Configuration, spots_of
from modellint.dialects.placing import Composed
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import Interpolation
from modellint.graph.recipe import Dialect, NodeKind, TagKind
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import ItemKind
from modellint.server.configs.wholes import whole_of
from modellint.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.dialects.apps import App
    from modellint.dialects.hydra import Composition
    from modellint.dialects.omegaconf import Spot
    from modellint.graph.recipe import Node, Recipe, Scalar
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item
    from modellint.source import Place

_LONGEST = 80
_MOST_STEPS = 20


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a configuration: the keys that lead to it, its place, and its value in words.

    `target` is the name that its value calls, empty if it is no object; `has_keys`: there are keys below it.
    """

    path: tuple[Scalar, ...]
    place: Place
    value: str
    target: str = ""
    has_keys: bool = False

    @property
    def name(self) -> str:
        return str(self.path[-1]) if self.path else ""

    @property
    def is_object(self) -> bool:
        return bool(self.target)


class Tree(Protocol):
    """The keys of a configuration; keys are given from its top."""

    def key(self, path: Sequence[Scalar]) -> Key | None:
        """A key; None if there is none."""
        ...

    def below(self, path: Sequence[Scalar]) -> list[Key]:
        """The keys right below a key, in order."""
        ...

    def path_in(self, path: Sequence[Scalar]) -> tuple[Scalar, ...]:
        """The keys that lead to a place of the file, from the top of the configuration."""
        ...

    def leading_to(self, path: Sequence[Scalar]) -> Iterator[Place]:
        """The references whose target is a key."""
        ...

    def lacks(self, node: Node, path: Sequence[Scalar]) -> bool:
        """True if a key that a reference in a node leads to is certainly not there."""
        ...


def tree_of(recipe: Recipe, project: Project) -> Tree:
    """The configuration that a file is, or is a part of."""
    if is_plain(recipe):
        composed = whole_of(recipe.file, project) if recipe.dialect is Dialect.OMEGACONF else None
        return Composite(recipe, composed)
    return Nodes(recipe, project)


def is_plain(recipe: Recipe) -> bool:
    """True if a configuration names classes by keys, and other keys by `${…}`."""
    return bool(recipe.dialect.writing.target)


class Composite:
    """A configuration of OmegaConf: composed by a program, or the file alone."""

    def __init__(self, recipe: Recipe, composed: Composed | None) -> None:
        self.recipe = recipe
        self.composed = composed
        if composed is None:
            self.run = Configuration(spots_of(recipe))
        else:
            self.run = composed.composition.configuration
        self.root = self.run.root

    @classmethod
    def of(cls, recipe: Recipe, app: App, composition: Composition) -> Composite:
        """The configuration that a program composes."""
        return cls(recipe, Composed(app, composition))

    def path_in(self, path: Sequence[Scalar]) -> tuple[Scalar, ...]:
        around = self._package
        return (*around, *path)

    @property
    def _package(self) -> tuple[Scalar, ...]:
        """The keys that lead to the content of the file."""
        if self.composed is None:
            return ()
        pending = [self.root]
        for spot in pending:
            if spot.node is self.recipe.root or any(node is self.recipe.root for node, _, _ in spot.merged):
                return tuple(spot.keys)
            pending.extend(one for one in spot.children.values() if one.node.kind is NodeKind.MAPPING)
        return ()

    def spot(self, path: Sequence[Scalar]) -> Spot | None:
        """A place of the configuration, through interpolations that stand for mappings on the way."""
        spot: Spot | None = self.root
        for key in path:
            holder = None if spot is None else self.target(spot)
            spot = None if holder is None else _child(holder, key)
        return spot

    def target(self, spot: Spot) -> Spot | None:
        """The place that a place with nothing but an interpolation leads to, or itself; None if it leads nowhere."""
        from modellint.graph import interpolation

        for _ in range(_MOST_STEPS):
            text = spot.node.text if spot.node.kind is NodeKind.SCALAR else ""
            pieces = interpolation.parse(text) if interpolation.OPEN in text else None
            if not pieces or len(pieces) != 1 or not isinstance(pieces[0], Interpolation):
                return spot
            found = self.lead(pieces[0], spot)
            if found is None:
                return None
            spot = found
        return None

    def lead(self, piece: Interpolation, spot: Spot) -> Spot | None:
        """The place that an interpolation at a place leads to; None if it is unknown."""
        path = self.led_path(piece, spot.keys)
        return None if path is None else self.spot(path)

    def led_path(self, piece: Interpolation, at: Sequence[Scalar]) -> tuple[Scalar, ...] | None:
        """The keys that an interpolation leads to, from a place with some keys; None if only a run knows them."""
        if piece.is_resolver or piece.dots > len(at):
            return None
        keys: list[Scalar] = list(at[: len(at) - piece.dots]) if piece.dots else []
        for one in piece.keys:
            if isinstance(one, str):
                keys.append(one)
                continue
            inner = self.led_path(one, at)
            found = None if inner is None else self.spot(inner)
            item = None if found is None else found.item
            if item is None or item.kind is not ItemKind.CONSTANT:
                return None
            keys.append(item.value)
        return tuple(keys)

    def key(self, path: Sequence[Scalar]) -> Key | None:
        spot = self.spot(path)
        return None if spot is None else self._key(spot)

    def below(self, path: Sequence[Scalar]) -> list[Key]:
        spot = self.spot(path)
        holder = None if spot is None else self.target(spot)
        return [] if holder is None else [self._key(one) for one in holder.children.values()]

    def leading_to(self, path: Sequence[Scalar]) -> Iterator[Place]:
        from modellint.graph import interpolation

        wanted = self.spot(path)
        for spot in self.root.below() if wanted is not None else ():
            for reference in spot.node.references if spot.node.kind is NodeKind.SCALAR else ():
                pieces = interpolation.parse(f"${{{reference.text}}}") or ()
                for piece in _pieces(one for one in pieces if isinstance(one, Interpolation)):
                    if self.lead(piece, spot) is wanted:
                        yield spot.recipe.place(reference.span)
                        break

    def lacks(self, node: Node, path: Sequence[Scalar]) -> bool:
        return any(asked.node is node for gap in self.run.gaps.values() for asked in gap.asked.values())

    def _key(self, spot: Spot) -> Key:
        item = spot.item
        value = in_words(item, spot.node)
        target = item.target if item is not None and item.kind in (ItemKind.NEW, ItemKind.NAME) else ""
        start = spot.node.span
        # A key that only the package of a file brings stands nowhere: the file begins with its value.
        span = spot.key.span if spot.key is not None else Span(start.line, start.column, start.line, start.column)
        return Key(tuple(spot.keys), spot.recipe.place(span), value, target, bool(spot.children))


def _pieces(pieces: Iterator[Interpolation]) -> Iterator[Interpolation]:
    """Interpolations, with those inside of them."""
    stack = list(pieces)
    while stack:
        piece = stack.pop()
        yield piece
        stack += (*piece.arguments, *(one for one in piece.keys if isinstance(one, Interpolation)))


def _child(holder: Spot, key: Scalar) -> Spot | None:
    found = holder.children.get(key)
    if found is not None:
        return found
    text = str(key)
    if holder.node.kind is NodeKind.SEQUENCE and text.lstrip("-").isdigit():
        index = int(text)
        return holder.children.get(index if index >= 0 else len(holder.children) + index)
    return next((one for name, one in holder.children.items() if str(name) == text), None)


class Nodes:
    """A configuration that is one file with those that it includes."""

    def __init__(self, recipe: Recipe, project: Project) -> None:
        self.recipe = recipe
        evaluation = evaluate(recipe, project)
        self._recipes = evaluation.recipes
        self._root = evaluation.root

    def path_in(self, path: Sequence[Scalar]) -> tuple[Scalar, ...]:
        return tuple(path)

    def _item(self, path: Sequence[Scalar]) -> Item | None:
        item: Item | None = self._root
        for key in path:
            if item is None:
                return None
            fields = item.fields
            is_index = isinstance(key, int) and not isinstance(key, bool) and key not in fields
            if is_index and 0 <= int(str(key)) < len(item.elements):
                item = item.elements[int(str(key))]
            else:
                item = fields.get(key)
        return item

    def _node(self, path: Sequence[Scalar]) -> tuple[Recipe, Node, Node] | None:
        """The file, the key and the value as written; None if the file has no such key."""
        for recipe in self._recipes:
            node, key = recipe.root, recipe.root
            for name in path:
                entry = node.get(name) if node.kind is NodeKind.MAPPING and isinstance(name, str) else None
                if entry is not None:
                    node, key = entry.value, entry.key
                elif isinstance(name, int) and name < len(node.elements):
                    node = key = node.elements[name]
                else:
                    break
            else:
                return recipe, key, node
        return None

    def key(self, path: Sequence[Scalar]) -> Key | None:
        item, written = self._item(path), self._node(path)
        if item is None and written is None:
            return None
        place = written[0].place(written[1].span) if written is not None else item.place if item is not None else None
        if place is None:
            return None
        node = written[2] if written is not None else None
        is_object = item is not None and item.kind in (ItemKind.NEW, ItemKind.NAME, ItemKind.APPLY)
        target = item.target if item is not None and is_object else ""
        has_keys = item is not None and bool(item.fields)
        return Key(tuple(path), place, in_words(item, node), target, has_keys)

    def below(self, path: Sequence[Scalar]) -> list[Key]:
        item = self._item(path)
        keys = (self.key((*path, name)) for name in item.fields) if item is not None else ()
        return [key for key in keys if key is not None]

    def leading_to(self, path: Sequence[Scalar]) -> Iterator[Place]:
        from modellint.graph.recipe import split_reference

        wanted = tuple(map(str, path))
        for recipe in self._recipes:
            for node in recipe.nodes():
                if node.tag.kind in (TagKind.REF, TagKind.COPY) or node.tag.kind is TagKind.NONE:
                    for reference in node.references:
                        if split_reference(reference.text)[0][: len(wanted)] == wanted:
                            yield recipe.place(reference.span)

    def lacks(self, node: Node, path: Sequence[Scalar]) -> bool:
        return bool(path) and path[0] not in self._root.fields


def in_words(item: Item | None, node: Node | None) -> str:
    """A value on one line: a constant, what is called, or the number of entries."""
    text = _in_words(item, node)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _in_words(item: Item | None, node: Node | None) -> str:
    written = " ".join(node.text.split()) if node is not None and node.kind is NodeKind.SCALAR else ""
    if item is None:
        return written
    match item.kind:
        case ItemKind.CONSTANT:
            return constant_words(item.value)
        case ItemKind.NEW | ItemKind.APPLY:
            return f"{item.target}(…)"
        case ItemKind.NAME | ItemKind.MODULE:
            return item.target
        case ItemKind.MAPPING:
            return f"{{{', '.join(map(str, item.fields))}}}"
        case ItemKind.SEQUENCE:
            return f"[{', '.join(_in_words(one, None) for one in item.elements[:10])}]"
    return written


def constant_words(value: Scalar) -> str:
    """A constant as YAML has it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
