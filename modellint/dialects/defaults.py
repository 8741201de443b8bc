"""Hydra's defaults lists: their entries, and the files, keys and packages that an entry names.

Source: hydra-core 1.3.8, `core/default_element.py`.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from modellint.dialects.spots import DEFAULTS
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Node, NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Entry, Recipe
    from modellint.source import Place

SELF = "_self_"
_GLOBAL, _GROUP, _HERE = "_global_", "_group_", "_here_"
_HEADER = re.compile(r"#\s*@")


class Trouble(Enum):
    """The reasons for which Hydra, or the `Config` of OpenMMLab, refuses to compose a configuration."""

    NO_FILE = "no file answers an entry"
    NO_CHOICE = "an override changes nothing"
    OVERRIDE_EARLY = "an override stands before another entry"
    CHOSEN_TWICE = "two entries choose different files"
    UNKNOWN_KEY = "an interpolation in a defaults list has no target"
    MALFORMED = "an entry is none"
    CYCLE = "a file chooses itself"
    NO_NODE = "a key that Hydra's own node does not have"
    NO_FIELD = "a key that a dataclass does not have"
    NO_VALUE = "a value that a field of a dataclass does not take"
    LIST_AND_MAPPING = "a list is merged with a mapping"
    NO_BASE = "a file that is inherited is not there"
    TWO_BASES = "two inherited files have the same key"
    NO_MAPPING = "a mapping is merged into something else"


@dataclass(frozen=True, eq=False)
class Refusal:
    """An entry of a defaults list that Hydra refuses: its text, what was looked for, and names that are there.

    For NO_FIELD and NO_VALUE it is a key, `wanted` is the class, and `available` its fields or the type that the field
    takes. For LIST_AND_MAPPING it is a key, and `wanted` the name of the file that has the other kind of value, as for
    NO_MAPPING, with that value as `available`. For TWO_BASES `wanted` is the key, and `available` the other file.
    """

    trouble: Trouble
    place: Place
    text: str
    wanted: str = ""
    available: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class Choice:
    """An entry of a defaults list, in the file `recipe`; a `group` is None for an entry that names a file.

    `base` and `parent` are the group and the package of the file that it stands in. Compositions share the entries of a
    file, so none of them changes.
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
    #: The entry that overrides this one.
    by: Choice | None = None
    _key: str | None = None
    _group_path: str | None = None
    _config_path: str | None = None
    _package: str | None = None

    def with_names(self, names: tuple[str, ...] | None, *, is_list: bool = False, by: Choice | None = None) -> Choice:
        """The entry with other names, which an entry of another file tells."""
        words = self.is_optional, self.is_override, is_list
        place = self.base, self.parent
        found = Choice(self.recipe, self.node, self.group, names, self.package, *words, *place, by or self.by)
        if self.group is not None:  # these do not depend on the names
            found._key, found._group_path, found._package = self._key, self._group_path, self._package
        return found

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
        if self._config_path is None:
            if self.group is not None:
                self._config_path = f"{self.group_path}/{self.name}"
            else:
                self._config_path = self.name[1:] if self.name.startswith("/") else _join(self.base, self.name)
        return self._config_path

    @property
    def group_path(self) -> str:
        """The group of the chosen file in the search path."""
        if self._group_path is None:
            group = self.group if self.group is not None else self.name.rpartition("/")[0]
            if self.group is None and self.name.startswith("/"):
                self._group_path = self.config_path.rpartition("/")[0]
            else:
                self._group_path = group[1:] if group.startswith("/") else _join(self.base, group)
        return self._group_path

    def package_by(self, header: str | None = None) -> str:
        """The package of the chosen file, which declares one in its header if the entry tells none."""
        if header is None:
            if self._package is None:
                self._package = self._find_package(None)
            return self._package
        return self._find_package(header)

    def _find_package(self, header: str | None) -> str:
        package = self.package
        if package is not None and _GROUP in package:
            package = f"{_GLOBAL}.{package.replace(_GROUP, self.group_path.replace('/', '.'))}"
        if package is None:
            package = header
        if package is None:
            group = self.group if self.group is not None else self.name.lstrip("/").rpartition("/")[0]
            package = group.lstrip("/").replace("/", ".")
        own = "" if package == _HERE else package
        whole = f"{self.parent}.{own}" if self.parent and own else self.parent or own
        at = whole.rfind(_GLOBAL)
        return whole if at < 0 else whole[at + len(_GLOBAL) + 1 :]

    @property
    def key(self) -> str:
        """The key by which an override names the entry: its group, with its package if that is another one."""
        if self._key is None:
            package, group = self.package_by(), self.group_path
            self._key = group if package == group.replace("/", ".") else f"{group}@{package or _GLOBAL}"
        return self._key


def _join(base: str, name: str) -> str:
    return f"{base}/{name}" if base and name else base or name


def header_of(recipe: Recipe) -> str | None:
    """The package that the head of a file declares, from the top of the configuration; None if it declares none.

    The head are the lines `# @key value`; any other comment ends it.
    """
    if "header" not in recipe.memo:
        recipe.memo["header"] = _read_header(recipe)
    found: str | None = recipe.memo["header"]
    return found


def _read_header(recipe: Recipe) -> str | None:
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


def entries_of(recipe: Recipe, base: str = "", parent: str = "") -> list[Choice]:
    """The entries of a file's defaults list, for the group and the package of the file; what is none is left out."""
    return [entry for _, entry in entries_in(recipe, base, parent) if entry is not None]


def entries_in(recipe: Recipe, base: str = "", parent: str = "") -> tuple[tuple[Node, Choice | None], ...]:
    """The elements of a file's defaults list, each with the entry that it is; None if it is malformed."""
    found: tuple[tuple[Node, Choice | None], ...] | None = recipe.memo.get(("entries", base, parent))
    if found is None:
        listed = recipe.keys.get(DEFAULTS) if recipe.root.kind is NodeKind.MAPPING else None
        found = recipe.memo["entries", base, parent] = (
            tuple(_read_entries(listed, recipe, base, parent)) if listed else ()
        )
    return found


def _read_entries(listed: Entry, recipe: Recipe, base: str, parent: str) -> Iterator[tuple[Node, Choice | None]]:
    if listed.value.kind is not NodeKind.SEQUENCE:
        yield listed.key, None
    for node in listed.value.elements:
        entry = _entry(node, recipe)
        if entry is not None:
            entry.base, entry.parent = base, parent
        yield node, entry


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
