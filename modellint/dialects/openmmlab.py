"""Composes configurations of OpenMMLab: a file with what it inherits, as `mmengine.config.Config.fromfile` does.

Source: mmengine 0.10.7; `Config` of mmcv 1 merges alike.
"""

from __future__ import annotations

import os
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.dialects.defaults import Refusal, Trouble
from modellint.dialects.openmmlab_places import Spot, change, copy_of, fill, settle
from modellint.frontends.openmmlab import looks_like_openmmlab, read_openmmlab
from modellint.frontends.openmmlab_data import DATA, read_data
from modellint.frontends.openmmlab_values import BASE, READ_BASE, TYPE
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import NO_TAG, Node, NodeKind, Recipe, TagKind
from modellint.link.recipes.items import Evaluation, Item, ItemKind, Problem, ProblemKind
from modellint.link.searched import files_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.frontends.openmmlab import ConfigFile
    from modellint.frontends.openmmlab_values import Base
    from modellint.graph.recipe import Reference, Scalar
    from modellint.link.project import Project

DELETE = "_delete_"
#: Keys that no class gets.
_TAKEN = frozenset((TYPE, "_scope_"))
#: Words of the files by which a project shows that it reads such configurations.
_READERS = ("register_module", "fromfile")
_MOST_LEVELS = 40


@dataclass(eq=False, slots=True)
class Composed:
    """A configuration with what it inherits: its root, and what the loader refuses.

    Not `is_whole`: it inherits a file that cannot be read here.
    """

    root: Spot
    files: list[Recipe]
    is_whole: bool = True
    refusals: list[Refusal] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    #: Names that it imports, or inherits of files that do.
    others: set[str] = field(default_factory=set)


def config_file(path: Path, project: Project) -> ConfigFile | None:
    """A configuration in a Python, YAML or JSON file as written; None for other files."""

    def load() -> ConfigFile | None:
        data = project.files.read(path)
        if data is None:
            return None
        return read_data(path, data) if path.suffix in DATA else read_openmmlab(path, data)

    return project.once(("openmmlab file", path), load)


def config_in(path: Path, data: bytes, project: Project) -> ConfigFile | None:
    """The configuration in a file that is checked; None if nothing shows that it is one.

    A file in YAML or JSON is one if it inherits others, or if others inherit it.
    """
    if path.suffix in DATA:
        found = config_file(path, project) if has_readers(project) else None
        is_inherited = found is not None and not found.is_marked and path in inheritors(project)
        return found if found is not None and (found.is_marked or is_inherited) else None
    if not looks_like_openmmlab(data):
        return None
    found = config_file(path, project)
    if found is None or found.is_marked:
        return found
    is_typed = any(entry.value.tag.kind is TagKind.TARGET for entry in found.recipe.root.entries)
    is_listed = any(
        one.tag.kind is TagKind.TARGET for entry in found.recipe.root.entries for one in entry.value.elements
    )
    return found if (is_typed or is_listed) and has_readers(project) else None


def has_readers(project: Project) -> bool:
    """True if a Python file of the project registers classes, or loads configurations."""
    root = project.options.root
    return project.once(("openmmlab readers",), lambda: any(project.files.mentioning(root, word) for word in _READERS))


def inheritors(project: Project) -> dict[Path, list[Path]]:
    """The files that configurations of the project inherit from, each with these configurations."""

    def find() -> dict[Path, list[Path]]:
        found: dict[Path, list[Path]] = {}
        root = project.options.root
        written = (*project.files.mentioning(root, BASE), *project.files.mentioning(root, READ_BASE))
        data = files_below(project, root, DATA) if has_readers(project) else ()
        inheriting = (path for path in data if BASE.encode() in (project.files.read(path) or b""))
        for path in dict.fromkeys((*written, *inheriting)):
            file = config_file(path, project)
            for base in file.bases if file is not None else ():
                named = path_of(base, file.recipe, project) if file is not None else None
                if named is not None:
                    found.setdefault(named, []).append(path)
        return found

    return project.once(("openmmlab inheritors",), find)


def leaves_of(path: Path, project: Project) -> list[Path]:
    """The configurations that inherit a file and that none inherits."""
    known = inheritors(project)
    pending, found = [path], []
    for one in pending:
        above = [other for other in known.get(one, ()) if other not in pending]
        pending += above
        if one not in known:
            found.append(one)
    return found


def composition_of(path: Path, project: Project) -> Composed | None:
    """A configuration with what it inherits; None if it cannot be read."""
    return _compose_within(path, project, ())


def _compose_within(path: Path, project: Project, around: tuple[Path, ...]) -> Composed | None:
    """Compose a file that those `around` it inherit."""

    def compose() -> Composed | None:
        file = config_file(path, project)
        return None if file is None else _Composer(file, project, (*around, path)).result

    known = project.found(("openmmlab", path))
    if known is not None:
        return project.once(("openmmlab", path), compose)
    return compose() if around else project.once(("openmmlab", path), compose)


def path_of(base: Base, recipe: Recipe, project: Project) -> Path | None:
    """The file that an entry of `_base_` names; None if it is not in this project, or unknown."""
    folder = recipe.file.parent
    if not base.is_module:
        is_elsewhere = not base.text or "::" in base.text or "{{" in base.text or os.path.isabs(base.text)
        return None if is_elsewhere else Path(os.path.normpath(folder / base.text))
    if base.level:
        for _ in range(base.level - 1):
            folder = folder.parent
        return Path(os.path.normpath(folder / f"{base.text.replace('.', '/')}.py"))
    module = project.names.find_module(base.text, recipe.file)
    return None if module is None else module.file


class _Composer:
    """The composition of one file."""

    def __init__(self, file: ConfigFile, project: Project, stack: tuple[Path, ...]) -> None:
        self._file = file
        self._project = project
        self._stack = stack
        self._recipe = file.recipe
        recipe = file.recipe
        inherited = Spot(Node(NodeKind.MAPPING, NO_TAG, recipe.root.span), recipe)
        self.result = result = Composed(inherited, [recipe], file.is_whole)
        result.others.update(file.others)
        for base in file.bases:
            self._inherit(base, inherited)
        inherited.is_open = inherited.is_open or not result.is_whole
        self._check_references(inherited)
        own = Spot(recipe.root, recipe)
        fill(own, inherited, [0])
        for text, is_removed in file.changed.items():
            change(inherited, text, is_removed)
        own.is_open = not file.is_whole
        if file.is_lazy:
            for name, child in own.children.items():
                child.parent = inherited
                inherited.children[name] = child
            inherited.merged = [(inherited.node, inherited.recipe, None), (recipe.root, recipe, None)]
        else:
            self._merge(own, inherited)
        inherited.is_open = inherited.is_open or not file.is_whole
        settle(inherited, recipe)
        result.root = inherited

    # -- inherited files ---------------------------------------------------------------------------------------

    def _inherit(self, base: Base, inherited: Spot) -> None:
        result = self.result
        path = path_of(base, self._recipe, self._project)
        if path is None:
            result.is_whole = False
            return
        place = self._recipe.place(base.span)
        own = self._recipe.file
        if path in self._stack:
            result.is_whole = False
            file = config_file(path, self._project)
            result.files += () if file is None else (file.recipe,)
            if path == own:
                result.problems.append(Problem(ProblemKind.CYCLE, place, "", base.text))
            return
        if not self._project.files.exists(path):
            result.is_whole = False
            names = tuple(one for one in self._project.files.listdir(path.parent) if not one.startswith("__"))
            result.refusals.append(Refusal(Trouble.NO_BASE, place, base.text, path.name, names))
            return
        found = _compose_within(path, self._project, self._stack) if len(self._stack) < _MOST_LEVELS else None
        if found is None:
            result.is_whole = False
            return
        result.is_whole = result.is_whole and found.is_whole
        result.others |= found.others
        result.files += (one for one in found.files if one not in result.files)
        if any(one.file == own for one in found.files):
            result.problems.append(Problem(ProblemKind.CYCLE, place, "", base.text))
            return
        children = found.root.children
        if base.names is not None:
            available = tuple(map(str, children))
            for _, wanted in base.names if found.is_whole and not found.root.is_open else ():
                if wanted not in children and wanted not in found.others:
                    result.problems.append(Problem(ProblemKind.UNDEFINED, place, wanted, wanted, available))
            children = {own: children[wanted] for own, wanted in base.names if wanted in children}
        for name, child in children.items():
            if name in inherited.children and not self._file.is_lazy:
                other = inherited.children[name].recipe.file.name
                result.refusals.append(Refusal(Trouble.TWO_BASES, place, base.text, str(name), (other,)))
            inherited.children[name] = copy_of(child, inherited)

    # -- merging -----------------------------------------------------------------------------------------------

    def _merge(self, own: Spot, base: Spot) -> None:
        """Merge a mapping into an inherited one. Source: `Config._merge_a_into_b`."""
        base.merged = [*(base.merged or [(base.node, base.recipe, base.key)]), (own.node, own.recipe, own.key)]
        base.is_open = base.is_open or own.is_open
        base.is_partial = base.is_partial or own.is_partial
        for name, child in own.children.items():
            known = base.children.get(name)
            is_mapping = child.node.kind is NodeKind.MAPPING
            if is_mapping and known is not None and not _is_deleting(child):
                if known.node.kind is NodeKind.MAPPING:
                    child.children.pop(DELETE, None)
                    self._merge(child, known)
                    continue
                if known.node.kind is NodeKind.SEQUENCE or known.node.tag is NO_TAG:
                    self._clash(name, own, child, known)
                else:
                    child.is_open = True
            elif is_mapping and known is not None:
                child.children.pop(DELETE, None)
            elif is_mapping and base.is_open:
                _leave_open(child)
            child.parent = base
            base.children[name] = child

    def _clash(self, name: Scalar, own: Spot, child: Spot, known: Spot) -> None:
        if known.node.tag.kind is TagKind.OTHER or own.recipe is not self._recipe:
            return
        place = self._recipe.place((child.key or child.node).span)
        kind = "a list" if known.node.kind is NodeKind.SEQUENCE else f"`{_text_of(known.node)}`"
        self.result.refusals.append(Refusal(Trouble.NO_MAPPING, place, str(name), known.recipe.file.name, (kind,)))

    # -- references --------------------------------------------------------------------------------------------

    def _check_references(self, inherited: Spot) -> None:
        seen: set[object] = set()
        for reference in self._file.asked:
            gap = _gap(inherited, reference)
            if self._file.is_lazy and reference.text.partition(".")[0] in self.result.others:
                continue
            if gap is not None and reference.span not in seen:
                seen.add(reference.span)
                key, available = gap
                place = self._recipe.place(reference.span)
                self.result.problems.append(Problem(ProblemKind.UNDEFINED, place, reference.text, key, available))
        for reference in self._file.unbound if not self._file.is_lazy else ():
            place = self._recipe.place(reference.span)
            available = tuple(map(str, inherited.children))
            is_inherited = reference.text in available
            own = tuple(str(entry.name) for entry in self._recipe.root.entries)
            self.result.problems.append(
                Problem(
                    ProblemKind.UNBOUND,
                    place,
                    reference.text,
                    f"{BASE}.{reference.text}" if is_inherited else "",
                    own,
                )
            )


def _text_of(node: Node) -> str:
    value = node.scalar
    return "None" if value is None else str(value)


def _is_deleting(spot: Spot) -> bool:
    found = spot.children.get(DELETE)
    is_filled = found is not None and bool(found.children or found.node.scalar)
    return found is not None and (found.node.tag is not NO_TAG or is_filled)


def _leave_open(spot: Spot) -> None:
    """Note that mappings are merged into unknown ones, unless they replace these or name a type."""
    is_replacing = _is_deleting(spot)
    spot.children.pop(DELETE, None)
    is_typed = spot.node.tag.kind is TagKind.TARGET
    spot.is_partial = spot.is_partial or (is_typed and not is_replacing)
    spot.is_open = spot.is_open or not (is_typed or is_replacing)
    for child in spot.children.values():
        if child.node.kind is not NodeKind.MAPPING or is_replacing:
            for one in child.below():
                one.children.pop(DELETE, None)
        else:
            _leave_open(child)


def _gap(inherited: Spot, reference: Reference) -> tuple[str, tuple[str, ...]] | None:
    """The key of an inherited mapping that a reference needs and that is not there, with those that are."""
    spot = inherited
    for key in reference.text.split("."):
        if spot.is_open or spot.node.tag.kind is TagKind.OTHER:
            return None
        if spot.node.kind is not NodeKind.MAPPING:
            is_list = spot.node.kind is NodeKind.SEQUENCE
            has_it = key.lstrip("-").isdigit() or hasattr([] if is_list else spot.node.scalar, key)
            return None if has_it else (key, ())
        found = spot.children.get(key)
        if found is None:
            is_number = any(not isinstance(one, str) and str(one) == key for one in spot.children)
            return None if is_number else (key, tuple(map(str, spot.children)))
        spot = found
    return None


# -- objects ---------------------------------------------------------------------------------------------------


def evaluate_openmmlab(recipe: Recipe, project: Project) -> Evaluation:
    """The objects of a configuration, and the names in it that certainly lead nowhere."""
    found = composition_of(recipe.file, project)
    if found is None:
        item = Item(ItemKind.UNKNOWN, recipe.root, recipe, "")
        return Evaluation(recipe, item, (), (recipe,), {})
    items: dict[int, Item] = {}
    root = _item(found.root, items, 0)
    return Evaluation(recipe, root, tuple(found.problems), tuple(found.files), items)


def _item(spot: Spot, items: dict[int, Item], depth: int) -> Item:
    node = spot.node
    if node.kind is NodeKind.SCALAR:
        kind = ItemKind.CONSTANT if node.tag is NO_TAG else ItemKind.UNKNOWN
        item = Item(kind, node, spot.recipe, spot.path, spot.key, node.scalar if node.tag is NO_TAG else None)
    else:
        fields = {name: _item(child, items, depth + 1) for name, child in spot.children.items()} if depth < 100 else {}
        item = Item(ItemKind.SEQUENCE, node, spot.recipe, spot.path, spot.key)
        if node.kind is NodeKind.SEQUENCE:
            item.elements = list(fields.values())
        elif node.tag.kind is TagKind.TARGET:
            item.kind = ItemKind.UNKNOWN if spot.is_open else ItemKind.NEW
            item.target = node.tag.target
            item.fields = {name: one for name, one in fields.items() if name not in _TAKEN}
        else:
            item.kind = ItemKind.UNKNOWN if spot.is_open else ItemKind.MAPPING
            item.fields = fields
    for one in (node, *(own for own, _, _ in spot.merged)):
        items.setdefault(id(one), item)
    return item


def partial_paths(recipe: Recipe, project: Project) -> frozenset[str]:
    """The paths of the objects that an unknown configuration may add to."""

    def find() -> frozenset[str]:
        found = composition_of(recipe.file, project)
        spots = () if found is None else found.root.below()
        return frozenset(spot.path for spot in spots if spot.is_partial)

    return project.once(("openmmlab partial", recipe.file), find)


def refusals_of(recipe: Recipe, project: Project) -> Iterator[Refusal]:
    """The places in a file that the loader refuses."""
    found = composition_of(recipe.file, project)
    return iter(()) if found is None else iter(found.refusals)
