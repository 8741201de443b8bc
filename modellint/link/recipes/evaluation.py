"""The evaluation of a recipe: the objects that HyperPyYAML would make, and which references share one object.

This follows the library step by step without running anything: the document is walked in order, `!ref` leads to
the same object, `!copy` and `!include:` to another one, strings are interpolated and computed. Values that only a run
decides (`!apply:` results, placeholders) are unknown.
"""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING

from modellint.frontends.recipe import read
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import (
    REFERENCE,
    Dialect,
    Entry,
    Node,
    NodeKind,
    Recipe,
    Reference,
    Scalar,
    TagKind,
    split_reference,
)
from modellint.link.recipes import cycles
from modellint.link.recipes.arithmetic import IncomputableError, parse_arithmetic
from modellint.link.recipes.items import Evaluation, Item, ItemKind, Problem, ProblemKind
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from modellint.link.project import Project

_MAX_CHAIN = 50
#: A string that is still longer after a few rounds of filling in refers to itself.
_MAX_TEXT = 10_000
#: Texts that references fill up to more than this are no hyperparameters.
_MAX_FILLED = 100_000
_MAX_INCLUDES = 200
_MAX_COPIES = 20_000
_MAX_DEPTH = 120


def evaluate(recipe: Recipe, project: Project) -> Evaluation:
    """The objects of `recipe`, computed once per project."""

    def compute() -> Evaluation:
        if recipe.dialect is not Dialect.HYPERPYYAML:
            from modellint.dialects.evaluation import evaluate_config

            return evaluate_config(recipe, project)
        run = _FileEvaluation(recipe, partial(_load_included, project), _Shared(), {})
        shared = run.shared
        problems = (*shared.problems, *(shared.links[n].problem for n in cycles.closing(shared.links)))
        return Evaluation(recipe, run.root, problems, tuple(dict.fromkeys(shared.recipes)), run.items)

    return project.once(("evaluation", recipe.file), compute)


def _load_included(project: Project, path: Path) -> Recipe | str | None:
    """The recipe in an included file, which may be plain YAML; else the reason as text, or None if it is too large."""

    def load() -> Recipe | str | None:
        data = project.files.read(path)
        if data is None:
            return "there is no such file" if project.files.oversized(path) is None else None
        try:
            return read(path, data, included=True)
        except UnreadableError as error:
            return f"the file is not valid YAML ({error.reason})"

    return project.recipe(path) or project.once(("included", path), load)


@dataclass(frozen=True, slots=True)
class _PendingReference:
    """A reference inside of `holder` to `target`, which was unfinished when the reference was followed."""

    holder: Item
    target: Item
    problem: Problem


@dataclass(slots=True)
class _Shared:
    """The state shared by the evaluations of a recipe and of the files it includes."""

    problems: list[Problem] = field(default_factory=list)
    recipes: list[Recipe] = field(default_factory=list)
    links: list[_PendingReference] = field(default_factory=list)
    stack: list[Path] = field(default_factory=list)
    includes: int = 0
    copies: int = 0
    depth: int = 0


class _FileEvaluation:
    """The evaluation of one file. `overrides` replace or add entries at its top, as `!include:` passes them."""

    def __init__(
        self,
        recipe: Recipe,
        load: Callable[[Path], Recipe | str | None],
        shared: _Shared,
        overrides: Mapping[Scalar, Item],
        path: str = "",
    ) -> None:
        self.recipe = recipe
        self.load = load
        self.shared = shared
        self.items: dict[int, Item] = {}
        self._walked: set[int] = set()
        #: Sequences and mappings that are being walked.
        self._open: set[int] = set()
        self._items_of: dict[int, dict[Scalar, Entry]] = {}
        self._overlay: dict[int, dict[Scalar, Item]] = {}
        self._holders: list[Item] = []
        shared.recipes.append(recipe)
        shared.stack.append(recipe.file)
        self._override(recipe.root, overrides)
        self.root = self._walk(recipe.root, path, None)
        shared.stack.pop()

    def _override(self, node: Node, overrides: Mapping[Scalar, Item]) -> None:
        """Lay `overrides` over a mapping: mappings are merged key by key, other values replace the entry.

        The arguments of an object are merged like a mapping; the tag of the overridden object is kept.
        """
        entries = self._entries(node)
        for name, item in overrides.items():
            below = entries.get(name)
            if below is not None and _is_mapping(item):
                if below.value.kind is NodeKind.MAPPING:
                    self._override(below.value, item.fields)
                else:
                    problem = Problem(ProblemKind.OVERRIDE, item.place, str(name), self.recipe.file.name)
                    self.shared.problems.append(problem)
            else:
                self._overlay.setdefault(id(node), {})[name] = item

    def _walk(self, node: Node, path: str, key: Node | None) -> Item:
        """The object of `node`, whose children are evaluated first, as in the library."""
        if id(node) in self._walked:
            return self.items[id(node)]
        if node.kind is NodeKind.SCALAR:
            item = self.items[id(node)] = self._scalar(node, path, key)
            self._walked.add(id(node))
            return item
        item = self._shell(node, path, key)
        self._walked.add(id(node))
        if self.shared.depth >= _MAX_DEPTH:
            item.kind = ItemKind.UNKNOWN
            return item
        if node.tag.kind in (TagKind.REF, TagKind.COPY, TagKind.TUPLE):
            self._problem(ProblemKind.SHAPE, None, node, node.tag.text)
        self.shared.depth += 1
        self._open.add(id(node))
        self._holders.append(item)
        self._fill(item, node, path)
        self._holders.pop()
        self._open.discard(id(node))
        self.shared.depth -= 1
        if node.tag.kind is TagKind.INCLUDE:
            item = self.items[id(node)] = self._include(node, path, key, item.fields)
        return item

    def _fill(self, item: Item, node: Node, path: str) -> None:
        for index, element in enumerate(node.elements):
            item.elements.append(self._walk(element, f"{path}[{index}]" if path else str(index), None))
        overlay = self._overlay.get(id(node), {})
        for name, entry in self._entries(node).items():
            below = f"{path}[{name}]" if path else str(name)
            item.fields[name] = overlay.get(name) or self._walk(entry.value, below, entry.key)
        for name, added in overlay.items():
            item.fields.setdefault(name, added)

    def _entries(self, node: Node) -> dict[Scalar, Entry]:
        entries = self._items_of.get(id(node))
        if entries is None:
            entries = self._items_of[id(node)] = node.items()
        return entries

    def _shell(self, node: Node, path: str, key: Node | None) -> Item:
        """The object of a sequence or mapping, still empty: references may lead to it before its turn."""
        item = self.items.get(id(node))
        if item is None:
            kind = _KINDS.get(node.tag.kind)
            if kind is None:
                kind = ItemKind.MAPPING if node.kind is NodeKind.MAPPING else ItemKind.SEQUENCE
                kind = kind if node.tag.kind is TagKind.NONE else ItemKind.UNKNOWN
            item = Item(kind, node, self.recipe, path, key, target=node.tag.target)
            self.items[id(node)] = item
        elif item.key is None:
            item.path, item.key = path, key
        return item

    def _scalar(self, node: Node, path: str, key: Node | None) -> Item:
        kind = node.tag.kind
        if kind is TagKind.INCLUDE:
            return self._include(node, path, key, {})
        if kind in (TagKind.REF, TagKind.COPY):
            item = self._resolve(node.text, node.references, node, [], kind is TagKind.COPY, 0)
            if item.key is None and item.node is node:
                item.path, item.key = path, key
            return item
        item = self._raw(node)
        item.path, item.key = path, key
        return item

    def _raw(self, node: Node) -> Item:
        """The object of a scalar without references to resolve."""
        existing = self.items.get(id(node))
        if existing is not None:
            return existing
        kind = _KINDS.get(node.tag.kind)
        if kind is not None:
            item = Item(kind, node, self.recipe, "", target=node.tag.target)
        elif node.tag.kind in (TagKind.NONE, TagKind.TUPLE):
            item = self._constant(node.scalar, node)
        else:
            item = Item(ItemKind.UNKNOWN, node, self.recipe, "")
        self.items[id(node)] = item
        return item

    def _constant(self, value: Scalar, node: Node) -> Item:
        return Item(ItemKind.CONSTANT, node, self.recipe, "", value=value)

    def _unknown(self, node: Node) -> Item:
        return Item(ItemKind.UNKNOWN, node, self.recipe, "")

    def _problem(
        self,
        kind: ProblemKind,
        reference: Reference | None,
        node: Node,
        missing: str = "",
        available: tuple[str, ...] = (),
    ) -> None:
        self.shared.problems.append(self._problem_at(kind, reference, node, missing, available))

    def _problem_at(
        self,
        kind: ProblemKind,
        reference: Reference | None,
        node: Node,
        missing: str = "",
        available: tuple[str, ...] = (),
    ) -> Problem:
        place = self.recipe.place(reference.span if reference else node.span)
        text = reference.text if reference else node.text
        return Problem(kind, place, text, missing, available)

    def _report_unresolved(self, spot: Node, reference: Reference | None, node: Node) -> None:
        """Report a reference to a reference that is still unresolved: HyperPyYAML never resolves it.

        An override of an included file is resolved again there, so nothing is reported.
        """
        if any(holder.node.tag.kind is TagKind.INCLUDE for holder in self._holders):
            return
        kind = ProblemKind.CYCLE if self._leads_back(spot, node) else ProblemKind.FORWARD
        self._problem(kind, reference, node, spot.text)

    def _leads_back(self, spot: Node, node: Node) -> bool:
        """True if the chain of references that starts at `spot` leads to `node`."""
        for _ in range(_MAX_CHAIN):
            if spot is node:
                return True
            if spot.tag.kind not in (TagKind.REF, TagKind.COPY) or not REFERENCE.fullmatch(spot.text):
                return False
            following: Node = self.recipe.root
            for key in split_reference(spot.text)[0]:
                entry = self._entries(following).get(key)
                if entry is None:
                    return False
                following = entry.value
            spot = following
        return False

    def _resolve(
        self,
        text: str,
        places: tuple[Reference, ...],
        node: Node,
        chain: list[str],
        copy: bool,
        depth: int,
    ) -> Item:
        """The object that the string `text` resolves to; `places` are its references, as they stand in `node`."""
        matches = REFERENCE.findall(text)
        if not matches:
            return self._constant(text, node)
        by_text = {f"<{place.text}>": place for place in places}
        grows = depth > _MAX_CHAIN // 10 and len(text) > _MAX_TEXT
        if depth > _MAX_CHAIN or grows or (len(chain) > 1 and text in chain[1:]):
            self._problem(ProblemKind.CYCLE, places[0] if places else None, node)
            return self._unknown(node)
        if REFERENCE.fullmatch(text):
            target = self._locate(text, by_text.get(text), node, copy)
            if isinstance(target, Item):
                return target
            chain.append(text)
            return self._resolve(target, (), node, chain, copy, depth + 1)
        chain.extend(match[0] for match in matches)
        filled: str | None = ""
        position = 0
        for match in REFERENCE.finditer(text):
            value = self._text_of(match[0], by_text.get(match[0]), node, copy)
            if value is None or filled is None:
                filled = None  # what comes behind it is looked up all the same
                continue
            filled += text[position : match.start()] + value
            position = match.end()
            if len(filled) > _MAX_FILLED:
                return self._unknown(node)
        if filled is None:
            return self._unknown(node)
        result = self._resolve(filled + text[position:], (), node, chain, copy, depth + 1)
        if result.kind is not ItemKind.CONSTANT or not isinstance(result.value, str):
            return result
        try:
            return self._constant(parse_arithmetic(result.value), node)
        except IncomputableError as error:
            if error.is_certain:
                self._problem(ProblemKind.ARITHMETIC, None, node, str(error))
            return self._unknown(node)

    def _text_of(self, text: str, place: Reference | None, node: Node, copy: bool) -> str | None:
        """The text that replaces a reference inside a string: `str` of its constant, None if unknown."""
        target = self._locate(text, place, node, copy, inside=True)
        if isinstance(target, str):
            return target
        return str(target.value) if target.kind is ItemKind.CONSTANT else None

    def _locate(self, text: str, place: Reference | None, node: Node, copy: bool, inside: bool = False) -> Item | str:
        """The target of `<a[b].c>`: an object, or a string that may contain references itself."""
        keys, attribute = split_reference(text)
        spot: Node | Item = self.recipe.root
        for key in keys:
            found = self._step(spot, key, place, node)
            if found is None:
                return self._unknown(node)
            spot = found
        if isinstance(spot, Node):
            arrived = self._arrive(spot, place, node, copy, inside)
            if isinstance(arrived, str) and attribute is None:
                return arrived
            spot = arrived if isinstance(arrived, Item) else self._raw(spot)
        if attribute is not None and not copy:
            kind = ItemKind.UNKNOWN if inside else ItemKind.ATTRIBUTE
            return Item(kind, node, self.recipe, "", value=attribute, elements=[spot])
        if spot.kind is ItemKind.CONSTANT and isinstance(spot.value, str):
            return spot.value
        return self._copy(spot, node) if copy else spot

    def _step(self, spot: Node | Item, key: str, place: Reference | None, node: Node) -> Node | Item | None:
        """The entry of `spot` under one key; None if there is none (reported if certain) or it is unknown."""
        if isinstance(spot, Node):
            replaced = id(spot) in self._walked and spot.tag.kind is TagKind.APPLYREF
            if spot.kind is NodeKind.MAPPING and spot.tag.kind is not TagKind.INCLUDE and not replaced:
                overlay = self._overlay.get(id(spot), {})
                entries = self._entries(spot)
                if key in overlay:
                    return overlay[key]
                if key in entries:
                    return entries[key].value
                self._missing(place, node, key, {*entries, *overlay})
                return None
            if id(spot) not in self._walked:
                if spot.tag.kind in (TagKind.REF, TagKind.COPY, TagKind.INCLUDE):
                    self._report_unresolved(spot, place, node)
                    return None
                if spot.kind is NodeKind.SEQUENCE:
                    self._missing(place, node, key, ())
                    return None
                spot = self._raw(spot)
            elif spot.tag.kind is TagKind.INCLUDE and id(spot) in self._open:
                self._problem(ProblemKind.CYCLE, place, node)
                return None
            else:
                alias, spot = spot, self.items[id(spot)]
                beyond = spot.node
                is_unfinished = id(beyond) in self._open or id(beyond) not in self._walked
                is_own = self.items.get(id(beyond)) is spot and beyond is not alias
                if is_unfinished and is_own and beyond.kind is NodeKind.MAPPING:
                    return self._step(beyond, key, place, node)  # it stands further down, or around this
        if spot.kind in (ItemKind.UNKNOWN, ItemKind.ATTRIBUTE):
            return None
        if key in spot.fields:
            return spot.fields[key]
        self._missing(place, node, key, spot.fields)
        return None

    def _missing(
        self,
        place: Reference | None,
        node: Node,
        key: str,
        available: Mapping[Scalar, object] | set[Scalar] | tuple[()],
    ) -> None:
        names = tuple(sorted(name for name in available if isinstance(name, str)))
        self._problem(ProblemKind.UNDEFINED, place, node, key, names)

    def _arrive(self, spot: Node, place: Reference | None, node: Node, copy: bool, inside: bool) -> Item | str:
        """The object of the node that a reference has led to, or its string."""
        walked = id(spot) in self._walked
        if walked and spot.kind is NodeKind.SCALAR:
            self._link(self.items[id(spot)], place, node)
            return self.items[id(spot)]
        if spot.kind is NodeKind.SCALAR:
            if spot.tag.kind in (TagKind.REF, TagKind.COPY, TagKind.INCLUDE):
                if inside:
                    return spot.text
                self._report_unresolved(spot, place, node)
                return self._unknown(node)
            if spot.tag.kind is TagKind.NONE and isinstance(spot.scalar, str):
                return spot.scalar
            return self._raw(spot)
        if spot.tag.kind is TagKind.INCLUDE and (not walked or id(spot) in self._open):
            kind = ProblemKind.CYCLE if walked else ProblemKind.FORWARD
            self._problem(kind, place, node)
            return self._unknown(node)
        if copy and id(spot) in self._open and not inside:
            self._problem(ProblemKind.CYCLE, place, node)
            return self._unknown(node)
        if copy and not walked and not inside:
            unresolved = next(_references_in(spot), None)
            if unresolved is not None:
                self._report_unresolved(unresolved, place, node)
            return self._walk(spot, "", None)
        target = self.items[id(spot)] if walked else self._shell(spot, "", None)
        if not inside:
            self._link(target, place, node)
        return target

    def _link(self, target: Item, place: Reference | None, node: Node) -> None:
        """Record a reference to an unfinished object, which may turn out to contain the reference."""
        is_unfinished = id(target.node) not in self._walked or id(target.node) in self._open
        if self._holders and is_unfinished and target.kind is not ItemKind.CONSTANT:
            problem = self._problem_at(ProblemKind.ITSELF, place, node)
            self.shared.links.append(_PendingReference(self._holders[-1], target, problem))

    def _copy(self, item: Item, node: Node) -> Item:
        """A deep copy of `item`; parts that it contains more than once stay shared in the copy."""
        copies: dict[int, Item] = {}
        pending = [item]
        for original in pending:
            if id(original) in copies:
                continue
            self.shared.copies += 1
            if self.shared.copies > _MAX_COPIES:
                return self._unknown(node)
            if not self._finish(original):
                self._problem(ProblemKind.CYCLE, next(iter(node.references), None), node)
                return self._unknown(node)
            copies[id(original)] = Item(
                original.kind,
                original.node,
                original.recipe,
                original.path,
                original.key,
                original.value,
                original.target,
            )
            pending.extend(child for _, child in original.children())
        for original in pending:
            new = copies[id(original)]
            new.fields = {name: copies[id(child)] for name, child in original.fields.items()}
            new.elements = [copies[id(child)] for child in original.elements]
        top = copies[id(item)]
        top.node, top.recipe, top.path, top.key = node, self.recipe, "", None
        return top

    def _finish(self, item: Item) -> bool:
        """Complete an object that stands further down; False if unresolved references remain in it."""
        node = item.node
        if self.items.get(id(node)) is not item or node.kind is NodeKind.SCALAR:
            return True
        if id(node) in self._walked and id(node) not in self._open:
            return True
        if next(_references_in(node), None) is not None:
            return False
        self._walk(node, item.path, item.key)
        return True

    def _include(self, node: Node, path: str, key: Node | None, overrides: Mapping[Scalar, Item]) -> Item:
        """The root object of an included file, with `overrides` laid over it."""
        name = node.tag.target
        file = self.recipe.included(node)
        self.shared.includes += 1
        if file in self.shared.stack:
            self._problem(ProblemKind.CYCLE, None, node, name)
        if file in self.shared.stack or self.shared.includes > _MAX_INCLUDES:
            return self._unknown(node)
        recipe = self.load(file)
        if isinstance(recipe, str):
            self._problem(ProblemKind.INCLUDE, None, node, name, (recipe,))
        if not isinstance(recipe, Recipe):
            return self._unknown(node)
        copied = {name: self._copy_of_override(item) for name, item in overrides.items()}
        included = _FileEvaluation(recipe, self.load, self.shared, copied, path).root
        included.path, included.key = path, key
        return included

    def _copy_of_override(self, item: Item) -> Item:
        copied = self._copy(item, item.node)
        copied.recipe, copied.path, copied.key = item.recipe, item.path, item.key
        return copied


def _is_mapping(item: Item) -> bool:
    """True if an object is written as a mapping."""
    if item.kind is ItemKind.MAPPING or item.fields:
        return True
    return item.kind in _KINDS.values() and item.node.kind is NodeKind.MAPPING


def _references_in(node: Node) -> Iterator[Node]:
    """The `!ref` and `!copy` nodes below a node."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if current.tag.kind in (TagKind.REF, TagKind.COPY):
            yield current
        stack.extend(current.elements)
        stack.extend(entry.value for entry in current.entries)


_KINDS = {
    TagKind.NEW: ItemKind.NEW,
    TagKind.NAME: ItemKind.NAME,
    TagKind.APPLY: ItemKind.APPLY,
    TagKind.MODULE: ItemKind.MODULE,
}
