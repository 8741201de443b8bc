"""Composition as Hydra 1.1 to 1.3 do it: the defaults lists of a primary configuration, and the files that they choose.

An entry of a defaults list chooses a file of a group (`model: resnet`), a file (`base`), or the file's own content
(`_self_`). Groups are relative to the file that names them, unless they begin with `/`. What a file has goes to its
package: the keys of its group, another one by `group@package` or `# @package`. `override` changes what another
entry chooses.

Sources: hydra-core 1.3.8, `_internal/defaults_list.py` and `core/default_element.py`; `hydra.compose` in the tests.
"""

from __future__ import annotations

import os
import re
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.dialects.defaults import SELF, Choice, Refusal, Trouble, entries_in, header_of
from modellint.dialects.merging import Part, merge, unknown_nodes
from modellint.dialects.omegaconf import Configuration
from modellint.dialects.spots import DEFAULTS
from modellint.edits.similar import get_close_matches
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import MISSING, OPEN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modellint.dialects.spots import Spot
    from modellint.graph.recipe import Node, Recipe, Scalar
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item

#: The group of Hydra's own configurations; plugins add to it.
_OWN, _OWN_FILES = "hydra", ("hydra/config", "hydra/default")
_CHOICE = re.compile(r"\$\{([^${}]+)\}")
#: Files of one composition.
_MOST_FILES = 500


@dataclass(frozen=True, eq=False)
class Composition:
    """A composed configuration, the files that were merged, in order, and what Hydra refuses.

    `chosen` are the names by the keys of their entries. Not `is_whole`: a file could not be found or read, or is known
    at run time only.
    """

    root: Spot
    files: tuple[Recipe, ...]
    _refusals: list[Refusal]
    chosen: Mapping[str, str | None]
    is_whole: bool
    #: The arguments of the command line that make it.
    arguments: tuple[str, ...] = ()
    #: What is refused in a file, by its path.
    _refused: dict[str, tuple[Refusal, ...]] = field(default_factory=dict)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The entries and values of all files that Hydra refuses."""
        for _ in self.root.below():
            pass
        return tuple(self._refusals)

    def refusals_in(self, path: Path) -> tuple[Refusal, ...]:
        """The entries and values of one file that Hydra refuses."""
        written = path.as_posix()
        found = self._refused.get(written)
        if found is None:
            recipe = self._paths.get(written)
            for _ in self.root.in_file(recipe) if recipe is not None else ():
                pass
            found = tuple(one for one in self._refusals if one.place.path == written) if self._refusals else ()
            self._refused[written] = found
        return found

    def has(self, path: Path) -> bool:
        """True if a file was merged."""
        return path.as_posix() in self._paths

    @cached_property
    def _paths(self) -> dict[str, Recipe]:
        return {recipe.path: recipe for recipe in self.files}

    def keys_of(self, item: Item) -> tuple[Scalar, ...] | None:
        """The keys that lead to an object; None if it is none of this configuration."""
        spot = self.configuration.spots.get(id(item))
        return None if spot is None else tuple(spot.keys)

    @cached_property
    def configuration(self) -> Configuration:
        """Its objects and interpolations."""
        return Configuration(self.root)


@dataclass(frozen=True)
class SearchPath:
    """The folders in which Hydra looks for files, and the names of a ConfigStore, with the `nodes` that are known.

    Not `is_known`: there are more that only a run knows.
    """

    folders: tuple[Path, ...]
    stored: frozenset[str] = frozenset()
    nodes: Mapping[str, Recipe] = field(default_factory=dict, hash=False, compare=False)
    is_known: bool = True

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(folder.as_posix() for folder in self.folders)

    def file(self, name: str, project: Project) -> Path | None:
        """The file with a name such as `model/resnet`, or `model/../base`; None if there is none."""
        return self.load(name, project)[0]

    def load(self, name: str, project: Project) -> tuple[Path | None, Recipe | None]:
        """The file with a name, and what is in it; None for each if there is none, or it cannot be read."""

        def find() -> tuple[Path | None, Recipe | None]:
            own = f"{name.removesuffix('.yaml')}.yaml"
            paths = (Path(os.path.normpath(folder / own)) for folder in self.folders)
            path = next((path for path in paths if project.files.exists(path)), None)
            return path, None if path is None else project.omegaconf(path)

        return project.once(("hydra file", self._words, name), find)

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
    refusals = run.refusals
    root = merge(parts, run.open, refusals)
    refusals += unknown_nodes(root)
    arguments = [f"{key}={name}" for key, name in overrides.items()]
    arguments += (f"+{group}={last}" for group, _, last in (one.rpartition("/") for one in added))
    return Composition(root, files, refusals, run.known, run.is_whole, tuple(arguments))


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
        self._chain: list[Recipe] = []

    def parts(self, choice: Choice, added: tuple[str, ...] = (), *, is_late: bool = False) -> list[Part]:
        """The parts of a chosen file and of those that its defaults list chooses, in order.

        `added` are the names that the command line adds, `is_late` a choice by an interpolation.
        """
        recipe = self._load(choice) if choice.names and choice.name != MISSING and OPEN not in choice.name else None
        self._note(choice)
        if choice.name == MISSING:
            self._open(choice)
        if recipe is None:
            return []
        package = choice.package_by(header_of(recipe))
        own_parts = [Part(recipe, package)]
        schema = self._search.nodes.get(choice.config_path.removesuffix(".yaml")) if self._search.nodes else None
        if schema is not None and schema is not recipe:  # of the same name, which Hydra still merges first
            own_parts.insert(0, Part(schema, package))
        entries = self._entries(recipe, choice.group_path, package) if DEFAULTS in recipe.keys else []
        if not entries and not added:
            return own_parts
        own = [entry for entry in entries if entry.is_self]
        for entry in own[1:]:
            self._refuse_choice(Trouble.CHOSEN_TWICE, entry, SELF)
            entries.remove(entry)
        if not own:
            entries.append(Choice(recipe, None, None, (SELF,)))
        for group, _, name in (one.rpartition("/") for one in added):
            entries.append(Choice(None, None, group, (name,), base=choice.group_path, parent=package))
        self._take_overrides(entries)
        self._chain.append(recipe)
        try:
            return self._children(entries, own_parts, is_late=is_late)
        finally:
            self._chain.pop()

    def _children(self, entries: list[Choice], own: list[Part], *, is_late: bool) -> list[Part]:
        """The parts of the entries of a file; the last ones are asked first, interpolations at the end."""
        parts: dict[int, list[Part]] = {}
        late: list[tuple[int, Choice]] = []
        for number, entry in reversed(list(enumerate(entries))):
            if entry.is_self:
                parts[number] = own
            elif not entry.is_override:
                entry = self._apply_override(entry)
                if entry.is_list:
                    parts[number] = self._several(entry, is_late=is_late)
                elif entry.names and OPEN in entry.name:
                    late.append((number, entry))
                else:
                    parts[number] = self.parts(entry, is_late=is_late)
        for number, entry in reversed(late):
            name = self._fill_in(entry)
            if name is not None:
                parts[number] = self.parts(entry.with_names((name,)), is_late=True)
        return [part for number in sorted(parts) for part in parts[number]]

    def _apply_override(self, entry: Choice) -> Choice:
        """An entry, or one that chooses what an override says."""
        found = self._overrides.get(entry.key) if entry.group is not None else None
        if found is None:
            return entry
        self._used.add(entry.key)
        return entry.with_names(found.names, is_list=found.is_list, by=found)

    def _entries(self, recipe: Recipe, base: str, package: str) -> list[Choice]:
        found = []
        for node, entry in entries_in(recipe, base, package):
            if entry is None:
                self._refuse(Trouble.MALFORMED, recipe, node, node.text)
            else:
                found.append(entry)
        return found

    def _several(self, entry: Choice, *, is_late: bool) -> list[Part]:
        """The parts of the files that one entry lists."""
        found: list[list[Part]] = []
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
        path, recipe = self._search.load(name, self._project)
        if path is None:
            node = self._search.nodes.get(name.removesuffix(".yaml"))
            if node is not None:
                return node
            if name in self._search.stored or self._is_of_hydra(name) or not self._search.is_known:
                self._open(choice)
            elif not choice.is_optional:
                self.is_whole = False
                self._open(choice)
                options = self._search.options(choice.group_path, self._project)
                self._refuse_choice(Trouble.NO_FILE, choice, name.removesuffix(".yaml"), options)
            return None
        if recipe is not None and any(one is recipe for one in self._chain):
            self._refuse_choice(Trouble.CYCLE, choice, name)
            recipe = None
        if recipe is None:
            self.is_whole = False
            self._open(choice)
        return recipe

    @staticmethod
    def _is_of_hydra(name: str) -> bool:
        """True if Hydra or a plugin of it may bring a file: one of a group below `hydra`, or of Hydra's own two."""
        return name.startswith(f"{_OWN}/") and (name.count("/") > 1 or name in _OWN_FILES)

    def _open(self, choice: Choice) -> None:
        self.open.append(choice.package_by())

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
