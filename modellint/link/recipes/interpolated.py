"""Objects of a plain configuration: those that its `_target_` keys build, and the targets of its `${…}`.

This follows OmegaConf. Every place has a node of its own, whatever anchors share; relative interpolations begin where
they stand. Values of resolvers and of the command line are unknown.

A configuration is seldom alone: others are merged into it (`defaults:`), or it becomes a part of another one. Keys that
it refers to and does not have are therefore reported only where it shows that it is the whole.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from modellint.edits.similar import get_close_matches
from modellint.frontends.recipe import read
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import MISSING, OPEN, Interpolation, parse
from modellint.graph.recipe import (
    ARGUMENTS,
    PARTIAL,
    RESERVED,
    TARGET,
    Node,
    NodeKind,
    Recipe,
    Scalar,
    TagKind,
    below,
)
from modellint.graph.value import EventKind, Op
from modellint.link.names import External
from modellint.link.recipes.hydra import HYDRA, nodes_below
from modellint.link.recipes.items import Evaluation, Item, ItemKind, Problem, ProblemKind
from modellint.link.recipes.loading import callee_name
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.link.project import Project

#: Aliases can multiply a few lines to any number of places.
_MAX_SPOTS = 50_000
_MAX_CHAIN = 50
_LEVELS = 4
#: So many interpolations that resolve are no accident.
_MANY = 3
_DEFAULTS = "defaults"
_PACKAGE = re.compile(r"^#\s*@package\b", re.MULTILINE)
_MERGES = ("OmegaConf.merge", "OmegaConf.unsafe_merge")
_DIRECTIVE = re.compile(r"_[a-z]+_")
_WORDS = {word: value for value in (True, False) for word in (("yes", "on") if value else ("no", "off"))}
_SIXTIES = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")


@dataclass(eq=False, slots=True)
class _Spot:
    """A node at one place of the configuration; `children` are those of a mapping or sequence."""

    node: Node
    path: str
    key: Node | None
    parent: _Spot | None
    children: dict[Scalar, _Spot] = field(default_factory=dict)
    item: Item | None = None

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

    def is_around(self, other: _Spot) -> bool:
        """True if another place is below this one."""
        above = other.parent
        while above is not None and above is not self:
            above = above.parent
        return above is self


def evaluate_config(recipe: Recipe, project: Project) -> Evaluation:
    """The objects of a plain configuration, and the interpolations that certainly have no target."""
    run = Configuration(recipe)
    return Evaluation(recipe, run.root_item, tuple(_missing_references(run, recipe, project)), (recipe,), run.items)


class _Unknown(Exception):  # noqa: N818 - not a failure
    """The target of an interpolation depends on the run."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An interpolation in the string `text` of a node."""

    node: Node
    piece: Interpolation
    text: str

    @property
    def expression(self) -> str:
        """The text between the braces."""
        return self.text[self.piece.start + len(OPEN) : self.piece.end - 1].strip()


@dataclass(slots=True)
class Gap:
    """A key that a mapping or sequence lacks, its depth in the configuration, and the interpolations that need it."""

    key: str
    available: tuple[str, ...]
    depth: int
    asked: dict[tuple[int, int], Asked] = field(default_factory=dict)


class Configuration:
    """The evaluation of one file: the objects of its nodes, and the `gaps` of its interpolations."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.items: dict[int, Item] = {}
        self.gaps: dict[tuple[int, str], Gap] = {}
        #: How many absolute interpolations have a target.
        self.resolved = 0
        #: The interpolations that have a target at one place at least; an alias may repeat them where they lack one.
        self.led: set[tuple[int, int]] = set()
        self._spots = 0
        self._depth = 0
        self.root = self._spot(recipe.root, "", None, None)
        self.root_item = self._item(self.root)
        for spot in self._below(self.root):
            if not spot.children and spot.item is None:
                self._item(spot)

    def _spot(self, node: Node, path: str, key: Node | None, parent: _Spot | None) -> _Spot:
        """The place of a node, with a place for each node below it."""
        top = _Spot(node, path, key, parent)
        pending = [top]
        for spot in pending:
            self._spots += 1
            if self._spots > _MAX_SPOTS:
                break
            if spot.node.kind is NodeKind.MAPPING:
                for name, entry in spot.node.items().items():
                    below = f"{spot.path}[{name}]" if spot.path else str(name)
                    spot.children[name] = _Spot(entry.value, below, entry.key, spot)
            for index, element in enumerate(spot.node.elements):
                spot.children[index] = _Spot(element, f"{spot.path}[{index}]", None, spot)
            pending.extend(spot.children.values())
        return top

    @staticmethod
    def _below(top: _Spot) -> Iterator[_Spot]:
        pending = [top]
        for spot in pending:
            yield spot
            pending.extend(spot.children.values())

    def at(self, *keys: Scalar) -> Item:
        """The object at the end of these keys. Raises KeyError if there is no such place."""
        spot = self.root
        for key in keys:
            spot = spot.children[key]
        return self._item(spot)

    # -- objects -----------------------------------------------------------------------------------------------

    def _item(self, spot: _Spot) -> Item:
        """The object of a place; one that is unfinished is returned as it is."""
        if spot.item is not None:
            return spot.item
        node = spot.node
        if node.kind is NodeKind.SCALAR:
            spot.item = self._scalar(spot)
            self.items.setdefault(id(node), spot.item)
            return spot.item
        kind = ItemKind.MAPPING if node.kind is NodeKind.MAPPING else ItemKind.SEQUENCE
        item = spot.item = Item(kind, node, self.recipe, spot.path, spot.key)
        self.items.setdefault(id(node), item)
        if self._depth > _MAX_CHAIN:
            item.kind = ItemKind.UNKNOWN
            return item
        self._depth += 1
        fields = {name: self._item(child) for name, child in spot.children.items()}
        self._depth -= 1
        if kind is ItemKind.SEQUENCE:
            item.elements = list(fields.values())
        else:
            self._fill(item, fields)
        return item

    def _fill(self, item: Item, fields: dict[Scalar, Item]) -> None:
        """Set the fields of a mapping, or the arguments of its `_target_`."""
        if TARGET not in fields:
            item.fields = fields
            return
        item.kind = ItemKind.UNKNOWN
        if item.node.tag.kind is TagKind.TARGET:
            partial = fields.get(PARTIAL)
            is_partial = partial is not None and not (partial.kind is ItemKind.CONSTANT and partial.value is False)
            item.kind = ItemKind.NAME if is_partial else ItemKind.NEW
            item.target = item.node.tag.target
        # The composer takes the list of defaults out; of a key such as `_call_` only its own framework knows.
        names = RESERVED | ({_DEFAULTS} if item.node is self.recipe.root else frozenset())
        item.fields = {name: field for name, field in fields.items() if name not in names}
        if any(isinstance(name, str) and _DIRECTIVE.fullmatch(name) for name in item.fields):
            item.kind = ItemKind.UNKNOWN
        given = fields.get(ARGUMENTS)
        item.elements = list(given.elements) if given is not None else []

    def _scalar(self, spot: _Spot) -> Item:
        node = spot.node
        value = _read(node)
        constant = Item(ItemKind.CONSTANT, node, self.recipe, spot.path, spot.key, value=value)
        if not isinstance(value, str) or ("$" not in value and value != MISSING):
            return constant
        unknown = Item(ItemKind.UNKNOWN, node, self.recipe, spot.path, spot.key)
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

    def _follow(self, piece: Interpolation, spot: _Spot, text: str) -> Item | None:
        """The object that an interpolation of the string at `spot` leads to; None if unknown."""
        for inner in (*piece.arguments, *(key for key in piece.keys if isinstance(key, Interpolation))):
            self._follow(inner, spot, text)
        if piece.is_resolver:
            return None
        try:
            return self._item(self._lead(piece, spot, text, 0))
        except _Unknown:
            return None

    def _lead(self, piece: Interpolation, spot: _Spot, text: str, depth: int) -> _Spot:
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
            if found is None:
                self._missing(holder, name, Asked(spot.node, piece, text))
                raise _Unknown
            current = found
        if not piece.dots:
            self.resolved += 1
        self.led.add((id(spot.node), piece.start))
        return current

    def _name(self, key: Interpolation, spot: _Spot, text: str) -> str:
        """The key that a nested interpolation stands for. Raises _Unknown."""
        item = self._item(self._lead(key, spot, text, _MAX_CHAIN // 2))
        if item.kind is not ItemKind.CONSTANT:
            raise _Unknown
        return str(item.value)

    def _dereference(self, spot: _Spot, depth: int) -> _Spot:
        """The mapping or sequence at a place, or at the target of its interpolations, but not one around them.

        Raises _Unknown.
        """
        passed: list[_Spot] = []
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

    def _missing(self, holder: _Spot, name: str, asked: Asked) -> None:
        """Record a key that a node lacks, unless Hydra adds it."""
        gap = self.gaps.get((id(holder), name))
        if gap is None:
            added = nodes_below(holder.keys)
            if added is None or name in added:
                return
            available = dict.fromkeys((*map(str, holder.children), *added))
            gap = self.gaps[id(holder), name] = Gap(name, tuple(available), holder.depth)
        gap.asked.setdefault((id(asked.node), asked.piece.start), asked)


def _child(holder: _Spot, name: str) -> _Spot | None:
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


# -- gaps that are mistakes ------------------------------------------------------------------------------------


def _missing_references(run: Configuration, recipe: Recipe, project: Project) -> Iterator[Problem]:
    """The gaps that are mistakes, in a configuration that is not composed with others."""
    if not run.gaps or _DEFAULTS in recipe.keys or _PACKAGE.search(recipe.source.text):
        return
    for gap in run.gaps.values():
        asked = [one for key, one in gap.asked.items() if key not in run.led]
        if not asked:
            continue
        # A key missing at the top may come from another file if this one is composed after all.
        is_near = bool(get_close_matches(gap.key, gap.available, n=1, cutoff=0.6 if gap.depth else 0.8))
        if not gap.depth and (gap.key == HYDRA or not is_near or run.resolved < _MANY):
            continue
        # An absolute reference into a nested mapping of this file is meant for this file.
        is_inside = is_near and gap.depth > 1 and any(not one.piece.dots for one in asked)
        if not run.resolved and not is_inside:
            continue
        if _is_added(gap.key, recipe, project, is_near=is_near):
            continue
        first = asked[0]
        reference = next((r for r in first.node.references if first.expression in r.text), None)
        place = recipe.place(reference.span if reference is not None else first.node.span)
        yield Problem(ProblemKind.UNDEFINED, place, first.expression, gap.key, gap.available, len(asked))


def _is_added(key: str, recipe: Recipe, project: Project, *, is_near: bool) -> bool:
    """True if a file nearby may add a key: a configuration that composes this one, or a script that stores it."""
    for path in _around(recipe.file, project):
        if path.suffix == ".py":
            work = _script_work(path, project)
            if key in work.stored or (work.merges and not is_near):
                return True
        elif path != recipe.file and _composes(path, recipe.file.stem, project):
            return True
    return False


@dataclass(slots=True)
class _ScriptWork:
    """The names that a script stores, in code or command line arguments, and whether it merges configurations."""

    stored: set[str] = field(default_factory=set)
    merges: bool = False


def _script_work(path: Path, project: Project) -> _ScriptWork:
    def read() -> _ScriptWork:
        work = _ScriptWork()
        module = project.python(path)
        for function in (*module.all_functions(), module.body) if module is not None else ():
            for event in function.flow.events:
                if event.kind is EventKind.STORE and event.target is not None:
                    target = event.target
                    work.stored.add(str(target.data if target.op is Op.ATTR else target.args[1].data))
                elif event.kind is EventKind.CALL and module is not None and not work.merges:
                    found = project.names.definition(module, event.value.callee)
                    name = found.name if isinstance(found, External) else callee_name(event.value.callee)
                    work.merges = name is not None and name.endswith(_MERGES)
                for text in (part.data for part in event.value.walk() if part.op is Op.CONST):
                    if isinstance(text, str) and "=" in text:
                        work.stored.add(text.partition("=")[0].lstrip("+").rpartition(".")[2])
        return work

    return project.once(("stores", path), read)


def _composes(path: Path, stem: str, project: Project) -> bool:
    """True if a file has a `defaults:` list that may name a file of this stem."""
    data = project.files.read(path) or b""
    recipe = _plain(path, project) if _DEFAULTS.encode() in data else None
    entry = recipe.keys.get(_DEFAULTS) if recipe is not None else None
    named = below(entry.value) if entry is not None else ()
    return any(stem in node.text or OPEN in node.text for node in named)


def _plain(path: Path, project: Project) -> Recipe | None:
    """The content of a YAML file of any kind; None if it is no YAML."""

    def load() -> Recipe | None:
        try:
            return read(path, project.files.read(path) or b"", included=True)
        except UnreadableError:
            return None

    return project.once(("plain", path), load)


def _around(file: Path, project: Project) -> Iterator[Path]:
    """The Python and YAML files in the folders of a file and above it."""
    folder = file.parent
    for _ in range(_LEVELS):
        for name in project.files.listdir(folder):
            if name.endswith((".py", ".yaml", ".yml")):
                yield folder / name
        if folder == project.options.root or folder.parent == folder:
            return
        folder = folder.parent
