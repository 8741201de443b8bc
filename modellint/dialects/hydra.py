"""Composition as Hydra 1.1 to 1.3 do it: the defaults lists of a primary configuration, and the files that they choose.

An entry of a defaults list chooses a file of a group (`model: resnet`), a file (`base`), or the file's own content
(`_self_`). Groups are relative to the file that names them, unless they begin with `/`. What a file has goes to its
package: the keys of its group, another one by `group@package` or `# @package`. `override` changes what another
entry chooses.

Sources: hydra-core 1.3.8, `_internal/defaults_list.py` and `core/default_element.py`; `hydra.compose` in the tests.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from modellint.dialects.hydra_nodes import nodes_below
from modellint.dialects.omegaconf import DEFAULTS, MOST_SPOTS, Configuration, Spot, spots_of
from modellint.edits.similar import get_close_matches
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import MISSING, OPEN
from modellint.graph.recipe import NO_TAG, TARGET, Entry, Node, NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from modellint.graph.recipe import Recipe, Scalar
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item
    from modellint.source import Place

SELF = "_self_"
_GLOBAL, _GROUP, _HERE = "_global_", "_group_", "_here_"
#: The group of Hydra's own configurations; plugins add to it.
_OWN, _OWN_FILES = "hydra", ("hydra/config", "hydra/default")
_HEADER = re.compile(r"#\s*@")
_CHOICE = re.compile(r"\$\{([^${}]+)\}")
#: Files of one composition.
_MOST_FILES = 500


class Trouble(Enum):
    """The reasons for which Hydra refuses to compose a configuration."""

    NO_FILE = "no file answers an entry"
    NO_CHOICE = "an override changes nothing"
    OVERRIDE_EARLY = "an override stands before another entry"
    CHOSEN_TWICE = "two entries choose different files"
    UNKNOWN_KEY = "an interpolation in a defaults list has no target"
    MALFORMED = "an entry is none"
    CYCLE = "a file chooses itself"
    NO_NODE = "a key that Hydra's own node does not have"
    LIST_AND_MAPPING = "a list is merged with a mapping"


@dataclass(frozen=True, eq=False)
class Refusal:
    """An entry of a defaults list that Hydra refuses: its text, what was looked for, and names that are there.

    For LIST_AND_MAPPING it is a key, and `wanted` the file that has the other kind of value.
    """

    trouble: Trouble
    place: Place
    text: str
    wanted: str = ""
    available: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class Choice:
    """An entry of a defaults list, in the file `recipe`; a `group` is None for an entry that names a file.

    `base` and `parent` are the group and the package of the file that it stands in, `header` is the package that the
    chosen file declares.
    """

    recipe: Recipe | None
    node: Node | None
    group: str | None = None
    names: tuple[str, ...] | None = ()
    package: str | None = None
    is_optional: bool = False
    is_override: bool = False
    is_list: bool = False
    base: str = ""
    parent: str = ""
    header: str | None = None
    #: The entry that overrides this one.
    by: Choice | None = None

    @property
    def is_self(self) -> bool:
        return self.group is None and self.names == (SELF,)

    @property
    def name(self) -> str:
        return self.names[0] if self.names else ""

    @property
    def text(self) -> str:
        """The entry as it is written, without its words."""
        named = self.group if self.package is None else f"{self.group}@{self.package}"
        return f"{named}: {self.name}" if self.group is not None else self.name

    @property
    def config_path(self) -> str:
        """The chosen file, without its suffix, in the search path."""
        if self.group is not None:
            return f"{self.group_path}/{self.name}"
        return self.name[1:] if self.name.startswith("/") else _join(self.base, self.name)

    @property
    def group_path(self) -> str:
        group = self.group if self.group is not None else self.name.rpartition("/")[0]
        if self.group is None and self.name.startswith("/"):
            return self.config_path.rpartition("/")[0]
        return group[1:] if group.startswith("/") else _join(self.base, group)

    def package_by(self, *, with_header: bool) -> str:
        """The package of the chosen file; without the header that it has if the entry tells none."""
        package = self.package
        if package is not None and _GROUP in package:
            package = f"{_GLOBAL}.{package.replace(_GROUP, self.group_path.replace('/', '.'))}"
        if package is None and with_header:
            package = self.header
        if package is None:
            group = self.group if self.group is not None else self.name.lstrip("/").rpartition("/")[0]
            package = group.lstrip("/").replace("/", ".")
        whole = ".".join(part for part in (self.parent, "" if package == _HERE else package) if part)
        at = whole.rfind(_GLOBAL)
        return whole if at < 0 else whole[at + len(_GLOBAL) + 1 :]

    @property
    def key(self) -> str:
        """The key by which an override names the entry: its group, with its package if that is another one."""
        package, group = self.package_by(with_header=False), self.group_path
        return group if package == group.replace("/", ".") else f"{group}@{package or _GLOBAL}"


def _join(base: str, name: str) -> str:
    return f"{base}/{name}" if base and name else base or name


@dataclass(frozen=True, eq=False)
class Composition:
    """A composed configuration, the files that were merged, in order, and what Hydra refuses.

    `chosen` are the names by the keys of their entries. Not `is_whole`: a file could not be found or read, or is known
    at run time only.
    """

    root: Spot
    files: tuple[Recipe, ...]
    refusals: tuple[Refusal, ...]
    chosen: Mapping[str, str | None]
    is_whole: bool

    def has(self, path: Path) -> bool:
        """True if a file was merged."""
        return any(recipe.file == path for recipe in self.files)

    def keys_of(self, item: Item) -> tuple[Scalar, ...] | None:
        """The keys that lead to an object; None if it is none of this configuration."""
        spot = self._spots.get(id(item))
        return None if spot is None else tuple(spot.keys)

    @cached_property
    def _spots(self) -> dict[int, Spot]:
        found: dict[int, Spot] = {}
        for spot in self.configuration.root.below():
            if spot.item is not None:
                found.setdefault(id(spot.item), spot)
        return found

    @cached_property
    def configuration(self) -> Configuration:
        """Its objects and interpolations."""
        return Configuration(self.root)


@dataclass(frozen=True)
class SearchPath:
    """The folders in which Hydra looks for files, and the names of a ConfigStore.

    Not `is_known`: there are more that only a run knows.
    """

    folders: tuple[Path, ...]
    stored: frozenset[str] = frozenset()
    is_known: bool = True

    def file(self, name: str, project: Project) -> Path | None:
        """The file with a name such as `model/resnet`; None if there is none."""
        paths = (folder / f"{name.removesuffix('.yaml')}.yaml" for folder in self.folders)
        return next((path for path in paths if project.files.exists(path)), None)

    def options(self, group: str, project: Project) -> tuple[str, ...]:
        """The names in a group."""
        names = [name for folder in self.folders for name in project.files.listdir(folder / group)]
        stored = (name.rpartition("/") for name in self.stored)
        found = {name.removesuffix(".yaml") for name in names if name.endswith(".yaml")}
        return tuple(sorted(found | {name for base, _, name in stored if base == group}))


def compose(
    name: str, search: SearchPath, project: Project, *, overrides: Mapping[str, str], added: tuple[str, ...] = ()
) -> Composition | None:
    """The configuration that begins with a file; None if that cannot be read.

    `overrides` are the names for some keys of entries, `added` names such as `experiment/large`, which the command
    line adds by `+experiment=large`.
    """
    run = _Run(search, project, dict(overrides))
    parts = run.parts(Choice(None, None, None, (name,)), added)
    if not parts:
        return None
    run.check_overrides()
    files = tuple(dict.fromkeys(part.recipe for part in parts))
    clashes: list[Refusal] = []
    root = _merge(parts, run.open, clashes)
    clashes += _unknown_nodes(root)
    return Composition(root, files, (*run.refusals, *clashes), run.known, run.is_whole)


@dataclass(eq=False, slots=True)
class _Part:
    """The content of a file, for a package."""

    recipe: Recipe
    package: str


class _Run:
    """One composition."""

    def __init__(self, search: SearchPath, project: Project, overrides: dict[str, str]) -> None:
        self._search = search
        self._project = project
        #: The entries whose names others override, by key: those of the command line have no file.
        self._overrides = {key: Choice(None, None, key, (name,)) for key, name in overrides.items()}
        self._used: set[str] = set()
        #: The name that each key chooses.
        self.known: dict[str, str | None] = {}
        #: Packages whose content only a run knows.
        self.open: list[str] = []
        self.refusals: list[Refusal] = []
        self.is_whole = search.is_known
        self._files = 0
        #: The files whose entries are being followed.
        self._chain: list[Path] = []

    def parts(self, choice: Choice, added: tuple[str, ...] = (), *, is_late: bool = False) -> list[_Part]:
        """The parts of a chosen file and of those that its defaults list chooses, in order.

        `added` are the names that the command line adds, `is_late` a choice by an interpolation.
        """
        recipe = self._load(choice) if choice.names and choice.name != MISSING and OPEN not in choice.name else None
        if recipe is not None:
            choice.header = header_of(recipe)
        self._note(choice)
        if choice.name == MISSING:
            self._open(choice)
        if recipe is None:
            return []
        entries = self._entries(recipe)
        own = [entry for entry in entries if entry.is_self]
        for entry in own[1:]:
            self._refuse_choice(Trouble.CHOSEN_TWICE, entry, SELF)
            entries.remove(entry)
        if (entries or added) and not own:
            entries.append(Choice(recipe, None, None, (SELF,)))
        for group, _, name in (one.rpartition("/") for one in added):
            entries.append(Choice(None, None, group, (name,)))
        for entry in entries:
            entry.base, entry.parent = choice.group_path, choice.package_by(with_header=True)
        self._take_overrides(entries)
        part = _Part(recipe, choice.package_by(with_header=True))
        if not entries:
            return [part]
        self._chain.append(recipe.file)
        try:
            return self._children(entries, part, is_late=is_late)
        finally:
            self._chain.pop()

    def _children(self, entries: list[Choice], own: _Part, *, is_late: bool) -> list[_Part]:
        """The parts of the entries of a file; the last ones are asked first, interpolations at the end."""
        parts: dict[int, list[_Part]] = {}
        late: list[tuple[int, Choice]] = []
        for number, entry in reversed(list(enumerate(entries))):
            if entry.is_self:
                parts[number] = [own]
            elif not entry.is_override:
                self._override(entry)
                if entry.is_list:
                    parts[number] = self._several(entry, is_late=is_late)
                elif entry.names and OPEN in entry.name:
                    late.append((number, entry))
                else:
                    parts[number] = self.parts(entry, is_late=is_late)
        for number, entry in reversed(late):
            name = self._fill_in(entry)
            if name is not None:
                entry.names = (name,)
                parts[number] = self.parts(entry, is_late=True)
        return [part for number in sorted(parts) for part in parts[number]]

    def _override(self, entry: Choice) -> None:
        """Let an entry choose what an override says."""
        found = self._overrides.get(entry.key) if entry.group is not None else None
        if found is not None:
            entry.names, entry.is_list, entry.by = found.names, found.is_list, found
            self._used.add(entry.key)

    def _entries(self, recipe: Recipe) -> list[Choice]:
        found = []
        for node, entry in _entries(recipe):
            if entry is None:
                self._refuse(Trouble.MALFORMED, recipe, node, node.text)
            else:
                found.append(entry)
        return found

    def _several(self, entry: Choice, *, is_late: bool) -> list[_Part]:
        """The parts of the files that one entry lists."""
        found: list[list[_Part]] = []
        for name in reversed(entry.names or ()):
            one = Choice(entry.recipe, entry.node, None, (f"{entry.group}/{name}",), entry.package, entry.is_optional)
            one.base, one.parent, one.by = entry.base, entry.parent, entry.by
            found.append(self.parts(one, is_late=is_late))
        return [part for parts in reversed(found) for part in parts]

    def _note(self, choice: Choice) -> None:
        """Note the name that a key chooses."""
        if choice.group is not None:
            key, name = choice.key, choice.name or None
            if self.known.setdefault(key, name) != name:
                self._refuse_choice(Trouble.CHOSEN_TWICE, choice, key, (str(self.known[key]),))

    def _load(self, choice: Choice) -> Recipe | None:
        """The file that an entry chooses; None, with the reason noted, if it cannot be had."""
        name = choice.config_path
        self._files += 1
        if self._files > _MOST_FILES:
            self.is_whole = False
            self.open.append("")
            return None
        path = self._search.file(name, self._project)
        if path is None:
            if name in self._search.stored or self._is_of_hydra(name) or not self._search.is_known:
                self._open(choice)
            elif not choice.is_optional:
                self.is_whole = False
                self._open(choice)
                options = self._search.options(choice.group_path, self._project)
                self._refuse_choice(Trouble.NO_FILE, choice, name.removesuffix(".yaml"), options)
            return None
        if path in self._chain:
            self._refuse_choice(Trouble.CYCLE, choice, name)
        recipe = None if path in self._chain else self._project.omegaconf(path)
        if recipe is None:
            self.is_whole = False
            self._open(choice)
        return recipe

    @staticmethod
    def _is_of_hydra(name: str) -> bool:
        """True if Hydra or a plugin of it may bring a file: one of a group below `hydra`, or of Hydra's own two."""
        return name.startswith(f"{_OWN}/") and (name.count("/") > 1 or name in _OWN_FILES)

    def _open(self, choice: Choice) -> None:
        self.open.append(choice.package_by(with_header=True))

    def _take_overrides(self, entries: list[Choice]) -> None:
        """Note the overrides of a file, which count for all entries that are met later."""
        last: Choice | None = None
        for entry in entries:
            if entry.is_override:
                last = entry
                self._overrides.setdefault(entry.key, entry)
            elif last is not None and not entry.is_self and entry.recipe is not None:
                self._refuse_choice(Trouble.OVERRIDE_EARLY, last, entry.text)
                return

    def check_overrides(self) -> None:
        """Refuse overrides that change no entry."""
        for key, entry in self._overrides.items():
            if key in self._used or not self.is_whole or key.partition("/")[0] == _OWN:
                continue
            last = key.partition("@")[0].rpartition("/")[2]
            same = [one for one in self.known if one.partition("@")[0].rpartition("/")[2] == last]
            near = same or get_close_matches(key, list(self.known), n=1)
            self._refuse_choice(Trouble.NO_CHOICE, entry, key, tuple(near))

    def _fill_in(self, entry: Choice) -> str | None:
        """The name of an entry with the choices that it names filled in; None if one of them is unknown."""
        text = entry.name
        for match in reversed(list(_CHOICE.finditer(text))):
            name = self.known.get(match[1].strip())
            if name is None:
                if match[1].strip() not in self.known and ":" not in match[1]:
                    self._refuse_choice(Trouble.UNKNOWN_KEY, entry, match[1].strip(), tuple(self.known))
                self.is_whole = False
                self._open(entry)
                return None
            text = text[: match.start()] + name + text[match.end() :]
        return text

    def _refuse_choice(self, trouble: Trouble, choice: Choice, wanted: str, available: tuple[str, ...] = ()) -> None:
        choice = choice.by or choice
        if choice.recipe is not None and choice.node is not None:
            self._refuse(trouble, choice.recipe, choice.node, choice.text, wanted, available)

    def _refuse(
        self,
        trouble: Trouble,
        recipe: Recipe,
        node: Node,
        text: str,
        wanted: str = "",
        available: tuple[str, ...] = (),
    ) -> None:
        """Note a refusal, one for each entry."""
        place = recipe.place(node.span)
        if all(one.place != place for one in self.refusals):
            self.refusals.append(Refusal(trouble, place, text, wanted, available))


def header_of(recipe: Recipe) -> str | None:
    """The package that the head of a file declares, from the top of the configuration; None if it declares none.

    The head are the lines `# @key value`; any other comment ends it.
    """
    for line in recipe.source.lines:
        text = line.strip()
        if text and not _HEADER.match(text):
            return None
        key, _, package = text.lstrip("#").strip().partition(" ")
        if key == "@package":
            package = package.strip()
            is_whole = package == _GLOBAL or package.startswith(f"{_GLOBAL}.")
            return package if is_whole else f"{_GLOBAL}.{package}"
    return None


def entries_of(recipe: Recipe) -> list[Choice]:
    """The entries of a file's defaults list; what is none is left out."""
    return [entry for _, entry in _entries(recipe) if entry is not None]


def _entries(recipe: Recipe) -> Iterator[tuple[Node, Choice | None]]:
    """The elements of a file's defaults list, each with the entry that it is; None if it is malformed."""
    listed = recipe.keys.get(DEFAULTS) if recipe.root.kind is NodeKind.MAPPING else None
    if listed is not None and listed.value.kind is not NodeKind.SEQUENCE:
        yield listed.key, None
    for node in listed.value.elements if listed is not None else ():
        yield node, _entry(node, recipe)


def _entry(node: Node, recipe: Recipe) -> Choice | None:
    """One entry of a defaults list; None if it is malformed."""
    if node.kind is NodeKind.SCALAR:
        path, _, package = node.text.partition("@")
        return Choice(recipe, node, None, (path.strip(),), package or None) if node.text else None
    entries = list(node.items().values())
    if node.kind is not NodeKind.MAPPING or len(entries) != 1 or not isinstance(entries[0].name, str):
        return None
    *words, named = entries[0].name.split(" ")
    group, _, package = named.partition("@")
    value = entries[0].value
    names: tuple[str, ...] | None
    if value.kind is NodeKind.SEQUENCE:
        names = tuple(one.text for one in value.elements)
    elif value.kind is NodeKind.MAPPING:
        return None
    else:
        names = None if value.scalar is None else (value.text,)
    is_list = value.kind is NodeKind.SEQUENCE
    return Choice(
        recipe, node, group, names, package or None, "optional" in words, "override" in words, is_list=is_list
    )


# -- merging ---------------------------------------------------------------------------------------------------


def _merge(parts: list[_Part], opened: list[str], clashes: list[Refusal]) -> Spot:
    """The parts of a composition, one merged into the other; the packages `opened` may have any keys."""
    first = parts[0].recipe
    root = Spot(Node(NodeKind.MAPPING, NO_TAG, first.root.span), first)
    for part in parts:
        if part.recipe.root.kind is NodeKind.MAPPING:
            own = spots_of(part.recipe, frozenset((DEFAULTS,)))
            for key in reversed(list(filter(None, part.package.split(".")))):
                around = Spot(Node(NodeKind.MAPPING, NO_TAG, part.recipe.root.span), part.recipe)
                own.parent, around.children[key] = around, own
                own = around
            _merge_into(root, own, clashes)
    for package in opened:
        spot = root
        for key in filter(None, package.split(".")):
            spot = spot.children.setdefault(
                key, Spot(Node(NodeKind.MAPPING, NO_TAG, first.root.span), first, parent=spot)
            )
        spot.is_open = True
    _settle(root)
    return root


def _merge_into(spot: Spot, other: Spot, clashes: list[Refusal]) -> None:
    """Merge a mapping into another one: mappings key by key, other values replace those that were there.

    Source: OmegaConf 2.3.1, `OmegaConf.merge`; it refuses a list over a mapping, and a mapping over a list.
    """
    spot.merged = [*(spot.merged or [(spot.node, spot.recipe, spot.key)]), (other.node, other.recipe, other.key)]
    for key, child in other.children.items():
        known = spot.children.get(key)
        kinds = {one.node.kind for one in (known, child) if one is not None}
        if known is not None and kinds == {NodeKind.MAPPING}:
            _merge_into(known, child, clashes)
        elif known is not None and child.node.kind is NodeKind.SCALAR and child.node.text == MISSING:
            continue
        else:
            if known is not None and kinds == {NodeKind.MAPPING, NodeKind.SEQUENCE}:
                place = child.recipe.place((child.key or child.node).span)
                clashes.append(Refusal(Trouble.LIST_AND_MAPPING, place, str(key), known.recipe.path))
            if known is not None and NodeKind.MAPPING in kinds and OPEN in known.node.text:
                child.is_open = True  # what the interpolation leads to is merged as well
            child.parent = spot
            spot.children[key] = child


def _unknown_nodes(root: Spot) -> Iterator[Refusal]:
    """The keys of a configuration's `hydra` node that Hydra's own one, which is structured, does not have."""
    own = root.children.get(_OWN)
    for spot in own.below() if own is not None else ():
        known = nodes_below([_OWN, *map(str, spot.keys[1:])])
        for key, child in spot.children.items() if known else ():
            if known is not None and str(key) not in known and child.key is not None:
                place = child.recipe.place(child.key.span)
                yield Refusal(Trouble.NO_NODE, place, str(key), ".".join(map(str, spot.keys)), tuple(known))


def _settle(root: Spot) -> None:
    """Give each place its path, and each merged mapping a node with all its entries."""
    pending = [root]
    for number, spot in enumerate(pending):
        if number > MOST_SPOTS:
            root.is_open = True
            break
        parent = spot.parent
        if parent is not None:
            key = next(key for key, child in parent.children.items() if child is spot)
            spot.path = f"{parent.path}[{key}]" if parent.path else str(key)
        if spot.merged:
            _join_nodes(spot)
        pending.extend(spot.children.values())


def _join_nodes(spot: Spot) -> None:
    """Give a merged mapping a node with all its entries, in the file that names what it builds."""
    target = spot.children.get(TARGET)
    found = [one for one in spot.merged if target is not None and one[1] is target.recipe and one[0].get(TARGET)]
    own, spot.recipe, key = (found or spot.merged)[-1]
    spot.key = key or spot.key
    entries = tuple(Entry(child.key, child.node) for child in spot.children.values() if child.key is not None)
    spot.node = Node(NodeKind.MAPPING, own.tag if found else NO_TAG, own.span, entries=entries)
