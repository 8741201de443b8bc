"""A configuration as its program gets it: the keys below a key, where each stands, and the value that it has.

For files that a program composes this is the whole of them; any other file is taken with those that it includes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint.graph import interpolation
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import Interpolation
from modellint.graph.recipe import Dialect, NodeKind, TagKind, split_reference
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import ItemKind, ProblemKind
from modellint.server.configs.wholes import whole_of
from modellint.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.dialects.placing import Composed
    from modellint.dialects.spots import Spot
    from modellint.graph.recipe import Node, Recipe, Reference, Scalar
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item
    from modellint.source import Place

_LONGEST = 80
#: How many interpolations one after the other lead to a mapping.
_MOST_STEPS = 20
_OBJECTS = (ItemKind.NEW, ItemKind.NAME, ItemKind.APPLY)


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


class Tree:
    """The keys of a configuration. Keys are given from its top."""

    #: The configuration that a program composes; None if none does.
    composed: Composed | None = None

    def __init__(self, recipe: Recipe, project: Project, root: Item) -> None:
        self.recipe = recipe
        self._project = project
        self._root = root

    def key(self, path: Sequence[Scalar]) -> Key | None:
        """A key; None if there is none."""
        raise NotImplementedError

    def below(self, path: Sequence[Scalar]) -> list[Key]:
        """The keys right below a key, in order."""
        raise NotImplementedError

    def path_in(self, path: Sequence[Scalar]) -> tuple[Scalar, ...]:
        """The keys that lead to a place of the file, from the top of the configuration."""
        return tuple(path)

    def _nodes(self) -> Iterator[tuple[Recipe, Node, tuple[Scalar, ...]]]:
        """The scalars of the configuration, each with its file and the keys that lead to it."""
        raise NotImplementedError

    def item(self, path: Sequence[Scalar]) -> Item | None:
        """The object of a key; that of its target for a reference. None if there is none."""
        item: Item | None = self._root
        for key in path:
            if item is None:
                return None
            found = item.fields.get(key)
            if found is None and str(key).isdigit() and int(str(key)) < len(item.elements):
                found = item.elements[int(str(key))]
            item = found or next((one for name, one in item.fields.items() if str(name) == str(key)), None)
        return item

    def lead(self, piece: Interpolation, at: Sequence[Scalar]) -> tuple[Scalar, ...] | None:
        """The keys that an interpolation leads to, from a place with some keys; None if only a run knows them."""
        if piece.is_resolver or piece.dots > len(at):
            return None
        keys: list[Scalar] = list(at[: len(at) - piece.dots]) if piece.dots else []
        for one in piece.keys:
            if isinstance(one, str):
                keys.append(one)
                continue
            inner = self.lead(one, at)
            item = None if inner is None else self.item(inner)
            if item is None or item.kind is not ItemKind.CONSTANT:
                return None
            keys.append(item.value)
        return tuple(keys)

    def leading_to(self, path: Sequence[Scalar]) -> Iterator[Place]:
        """The references whose target is a key."""
        wanted = self.key(path)
        place = None if wanted is None else wanted.place
        for recipe, node, at in self._nodes() if place is not None else ():
            for reference in node.references:
                found = (self.key(keys) for keys in self._targets(reference, node, recipe, at))
                if any(key is not None and key.place == place for key in found):
                    yield recipe.place(reference.span)

    def _targets(
        self, reference: Reference, node: Node, recipe: Recipe, at: tuple[Scalar, ...]
    ) -> Iterator[tuple[Scalar, ...]]:
        """The keys that a reference leads to, with those that references in it lead to."""
        if recipe.dialect is Dialect.HYPERPYYAML:
            if node.tag.kind in (TagKind.REF, TagKind.COPY, TagKind.NONE):
                yield split_reference(reference.text)[0]
            return
        pieces = interpolation.parse(f"{interpolation.OPEN}{reference.text}}}") or ()
        for piece in _pieces(one for one in pieces if isinstance(one, Interpolation)):
            keys = self.lead(piece, at)
            if keys is not None:
                yield keys

    def lacks(self, node: Node) -> bool:
        """True if the key that a reference in a node of the file leads to is certainly not there."""
        span = node.span
        start, end = (span.line, span.column), (span.end_line, span.end_column)
        problems = (one for one in evaluate(self.recipe, self._project).problems if one.kind is ProblemKind.UNDEFINED)
        places = (one.place for one in problems if one.place.path == self.recipe.path)
        return any(start <= (place.span.line, place.span.column) < end for place in places)

    def _as_key(self, path: Sequence[Scalar], place: Place, node: Node | None) -> Key:
        item = self.item(path)
        target = item.target if item is not None and item.kind in _OBJECTS else ""
        has_keys = item is not None and bool(item.fields or item.elements)
        return Key(tuple(path), place, in_words(item, node), target, has_keys)


def tree_of(recipe: Recipe, project: Project) -> Tree:
    """The configuration that a file is, or is a part of."""
    composed = whole_of(recipe.file, project) if recipe.dialect is Dialect.OMEGACONF else None
    return Nodes(recipe, project) if composed is None else Composite(recipe, project, composed)


def is_plain(recipe: Recipe) -> bool:
    """True if a configuration names classes by keys, and other keys by `${…}`."""
    return bool(recipe.dialect.writing.target)


class Composite(Tree):
    """A configuration that a program composes."""

    def __init__(self, recipe: Recipe, project: Project, composed: Composed) -> None:
        run = composed.composition.configuration
        super().__init__(recipe, project, run.root_item)
        self.composed = composed
        self._top = run.root

    def path_in(self, path: Sequence[Scalar]) -> tuple[Scalar, ...]:
        return (*self._package, *path)

    @cached_property
    def _package(self) -> tuple[Scalar, ...]:
        """The keys that lead to the content of the file."""
        own = {id(entry.value): name for name, entry in self.recipe.keys.items()}
        pending = [self._top]
        for spot in pending:
            for name, child in spot.children.items():
                if own.get(id(child.node)) == name and child.recipe is self.recipe:
                    return tuple(spot.keys)
                if child.node.kind is NodeKind.MAPPING:
                    pending.append(child)
        return ()

    def _spot(self, path: Sequence[Scalar]) -> Spot | None:
        """A place of the configuration, through interpolations that stand for mappings on the way."""
        spot: Spot | None = self._top
        for key in path:
            holder = None if spot is None else self._target(spot)
            spot = None if holder is None else _child(holder, key)
        return spot

    def _target(self, spot: Spot) -> Spot | None:
        """The place that a place with nothing but an interpolation leads to, or itself; None if it leads nowhere."""
        for _ in range(_MOST_STEPS):
            text = spot.node.text if spot.node.kind is NodeKind.SCALAR else ""
            pieces = interpolation.parse(text) if interpolation.OPEN in text else None
            if not pieces or len(pieces) != 1 or not isinstance(pieces[0], Interpolation):
                return spot
            keys = self.lead(pieces[0], spot.keys)
            found = None if keys is None else self._plain_spot(keys)
            if found is None:
                return None
            spot = found
        return None

    def _plain_spot(self, path: Sequence[Scalar]) -> Spot | None:
        spot: Spot | None = self._top
        for key in path:
            spot = None if spot is None else _child(spot, key)
        return spot

    def key(self, path: Sequence[Scalar]) -> Key | None:
        spot = self._spot(path)
        return None if spot is None else self._key(spot)

    def below(self, path: Sequence[Scalar]) -> list[Key]:
        spot = self._spot(path)
        holder = None if spot is None else self._target(spot)
        return [] if holder is None else [self._key(one) for one in holder.children.values()]

    def _nodes(self) -> Iterator[tuple[Recipe, Node, tuple[Scalar, ...]]]:
        for spot in self._top.below():
            if spot.node.kind is NodeKind.SCALAR:
                yield spot.recipe, spot.node, tuple(spot.keys)

    def _key(self, spot: Spot) -> Key:
        start = spot.node.span
        # A key that only the package of a file brings stands nowhere: the file begins with its value.
        span = spot.key.span if spot.key is not None else Span(start.line, start.column, start.line, start.column)
        return self._as_key(spot.keys, spot.recipe.place(span), spot.node)


def _pieces(pieces: Iterable[Interpolation]) -> Iterator[Interpolation]:
    """Interpolations, with those inside of them."""
    stack = list(pieces)
    while stack:
        piece = stack.pop()
        yield piece
        stack += (*piece.arguments, *(one for one in piece.keys if isinstance(one, Interpolation)))


def _child(holder: Spot, key: Scalar) -> Spot | None:
    children = holder.children
    found = children.get(key)
    if found is not None:
        return found
    text = str(key)
    if holder.node.kind is NodeKind.SEQUENCE and text.lstrip("-").isdigit():
        index = int(text)
        return children.get(index if index >= 0 else len(children) + index)
    return next((one for name, one in children.items() if str(name) == text), None)


class Nodes(Tree):
    """A configuration that is one file, with those that it includes."""

    def __init__(self, recipe: Recipe, project: Project) -> None:
        evaluation = evaluate(recipe, project)
        super().__init__(recipe, project, evaluation.root)
        self._recipes = evaluation.recipes

    def _node_at(self, path: Sequence[Scalar]) -> tuple[Recipe, Node, Node] | None:
        """The file, the key and the value as written; None if no file has such a key."""
        for recipe in self._recipes:
            node, key = recipe.root, recipe.root
            for name in path:
                entry = node.get(name) if node.kind is NodeKind.MAPPING and isinstance(name, str) else None
                if entry is not None:
                    node, key = entry.value, entry.key
                elif str(name).isdigit() and int(str(name)) < len(node.elements):
                    node = key = node.elements[int(str(name))]
                else:
                    break
            else:
                return recipe, key, node
        return None

    def key(self, path: Sequence[Scalar]) -> Key | None:
        written = self._node_at(path)
        if written is not None:
            recipe, key, node = written
            return self._as_key(path, recipe.place(key.span), node)
        item = self.item(path)
        return None if item is None else self._as_key(path, item.place, None)

    def below(self, path: Sequence[Scalar]) -> list[Key]:
        item = self.item(path)
        names = (*item.fields, *range(len(item.elements))) if item is not None else ()
        keys = (self.key((*path, name)) for name in names)
        return [key for key in keys if key is not None]

    def _nodes(self) -> Iterator[tuple[Recipe, Node, tuple[Scalar, ...]]]:
        for recipe in self._recipes:
            pending: list[tuple[Node, tuple[Scalar, ...]]] = [(recipe.root, ())]
            seen: set[int] = set()
            for node, at in pending:
                if id(node) in seen:
                    continue
                seen.add(id(node))
                if node.kind is NodeKind.SCALAR:
                    yield recipe, node, at
                pending += ((one, (*at, number)) for number, one in enumerate(node.elements))
                pending += ((entry.value, (*at, entry.name)) for entry in node.entries)


def in_words(item: Item | None, node: Node | None) -> str:
    """A value on one line: a constant, what is called, or the names of its entries."""
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
