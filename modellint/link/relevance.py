"""Which functions of a file can matter to a question, decided from names before anything is followed.

Following values costs far more than parsing. What a class builds in its constructor tells under which attributes
tables can be reached; a function that mentions none of them cannot look anything up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.names import DefinedClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.project import Project

_WORD = re.compile(r"[A-Za-z_]\w*")
#: An attribute that is indexed by a name: `self.codebook[ids]`, `self.embed.weight[ids]`.
_INDEXED = re.compile(r"self\.\w+(?:\.\w+)?\[[A-Za-z_]")


class Relevance:
    """Answers from names; one per project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._built: dict[Class, dict[str, frozenset[str]]] = {}
        self._words: dict[Function, frozenset[str]] = {}
        self._holders: dict[Class, bool] = {}
        self._users: dict[ModuleFacts, list[Function]] = {}

    def words(self, function: Function) -> frozenset[str]:
        """The names that a function's text mentions."""
        found = self._words.get(function)
        if found is None:
            found = self._words[function] = frozenset(_WORD.findall(function.text))
        return found

    def mentioning(self, module: ModuleFacts, names: Iterable[str]) -> list[Function]:
        """The functions of a file that mention one of the names."""
        wanted = frozenset(names)
        return [f for f in module.all_functions() if not wanted.isdisjoint(self.words(f))] if wanted else []

    def built(self, cls: Class) -> dict[str, frozenset[str]]:
        """The attributes that a class's own constructor sets, with the names of what it calls to make them."""
        found = self._built.get(cls)
        if found is None:
            found = self._built[cls] = self._read_constructor(cls)
        return found

    @staticmethod
    def _read_constructor(cls: Class) -> dict[str, frozenset[str]]:
        attributes: dict[str, frozenset[str]] = {}
        for method in cls.methods.values():
            if method.name != "__init__" and "Embedding(" not in method.text:
                continue
            for event in method.flow.of(EventKind.STORE):
                name = self_attribute(event.target) if event.target is not None else None
                if name is None:
                    continue
                called = {
                    part.callee.data
                    for part in event.value.walk()
                    if part.op is Op.CALL and part.callee.op in (Op.GLOBAL, Op.ATTR)
                }
                attributes[name] = attributes.get(name, frozenset()) | called
        return attributes

    def holders(self, module: ModuleFacts, is_wanted: Callable[[Class], bool]) -> set[str]:
        """The attributes under which classes of a file keep objects of wanted classes."""
        names: set[str] = set()
        for cls in module.classes.values():
            for attribute, called in self.built(cls).items():
                if any(self._class_is(name, module, is_wanted) for name in called):
                    names.add(attribute)
        return names

    def _class_is(self, name: str, module: ModuleFacts, is_wanted: Callable[[Class], bool]) -> bool:
        if name in module.classes:
            return is_wanted(module.classes[name])
        if name not in module.imports:
            return False
        found = self._project.names.resolve(module, name)
        return isinstance(found, DefinedClass) and is_wanted(found.cls)

    def holds_table(self, cls: Class) -> bool:
        """Whether objects of a class may look something up: they hold a table, or what holds one."""
        known = self._holders.get(cls)
        if known is not None:
            return known
        self._holders[cls] = False
        found = bool(_INDEXED.search(cls.text)) or bool(self.table_attributes(cls))
        if not found:
            found = any(self.holds_table(base) for base in self._project.members.mro(cls)[1:])
        self._holders[cls] = found
        return found

    def table_attributes(self, cls: Class) -> set[str]:
        """The attributes of a class under which tables, or what holds one, are kept."""
        return {
            attribute
            for attribute, called in self.built(cls).items()
            if any("Embedding" in name or self._class_is(name, cls.module, self.holds_table) for name in called)
        }

    def table_users(self, module: ModuleFacts) -> list[Function]:
        """The functions of a file that may look something up, themselves or through what they call."""
        found = self._users.get(module)
        if found is None:
            names = {"embedding"}
            for cls in module.classes.values():
                for owner in self._project.members.mro(cls):
                    names |= self.table_attributes(owner)
            found = self._users[module] = self.mentioning(module, names)
        return found

    def may_look_up(self, function: Function) -> bool:
        """Whether a function may look something up."""
        if function.owner is not None:
            return self.holds_table(function.owner)
        return "mbed" in function.text or "cos" in function.text or bool(_INDEX_BY_NAME.search(function.text))


_INDEX_BY_NAME = re.compile(r"\w\[[A-Za-z_]\w*\]")
