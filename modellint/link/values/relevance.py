"""Which functions of a file can matter to a question, decided from names before anything is followed.

Following values costs far more than parsing. What a class builds in its constructor tells under which attributes
tables can be reached; a function that mentions none of them cannot look anything up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.value import Op, dotted
from modellint.link.names import DefinedClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

#: An attribute that is indexed by a name: `self.codebook[ids]`, `self.embed.weight[ids]`.
_INDEXED = re.compile(r"\.\s*\w+[\s)]*\[[\s(]*[A-Za-z_]")


class Relevance:
    """Answers from names; one per project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._holders: dict[Class, bool] = {}
        self._tables: dict[Class, set[str]] = {}
        self._callables: dict[ModuleFacts, frozenset[str]] = {}
        self._users: dict[ModuleFacts, list[Function]] = {}
        self._names: dict[ModuleFacts, frozenset[str]] = {}
        self._lookup_names: dict[ModuleFacts, frozenset[str]] = {}

    def attribute_users(self, module: ModuleFacts, names: Iterable[str]) -> list[Function]:
        """The methods of a file that use one of the attributes, and the functions that mention one of the names."""
        wanted = frozenset(names)
        found = [f for f in module.functions.values() if not wanted.isdisjoint(f.words)]
        for cls in module.classes.values():
            found.extend(self._project.members.users(cls, wanted))
        return found

    def holders(self, module: ModuleFacts, is_wanted: Callable[[Class], bool]) -> set[str]:
        """The attributes under which classes of a file keep objects of wanted classes."""
        names: set[str] = set()
        for cls in module.classes.values():
            for attribute, called in cls.built.items():
                if any(self._class_is(name, module, is_wanted) for name in called):
                    names.add(attribute)
        return names

    def _class_is(self, name: str, module: ModuleFacts, is_wanted: Callable[[Class], bool]) -> bool:
        found = self._class(name, module)
        return found is not None and is_wanted(found)

    def _class(self, name: str, module: ModuleFacts) -> Class | None:
        """The class of the project that a name stands for in a file."""
        if name in module.classes:
            return module.classes[name]
        if name not in module.imports or not name[:1].isupper():
            return None
        found = self._project.names.resolve(module, name)
        return found.cls if isinstance(found, DefinedClass) else None

    def holds_table(self, cls: Class) -> bool:
        """Whether objects of a class may look something up: they hold a table, are one, or index what they hold."""
        known = self._holders.get(cls)
        if known is None:
            self._holders[cls] = False  # a class that holds itself
            known = self._holders[cls] = any(
                _INDEXED.search(owner.text)
                or any("Embedding" in (dotted(base) or "") for base in owner.bases)
                or self.table_attributes(owner)
                for owner in self._project.members.mro(cls)
            )
        return known

    def callables(self, module: ModuleFacts) -> frozenset[str]:
        """The names by which a file may call what looks something up: attributes, and its own methods and functions."""
        found = self._callables.get(module)
        if found is None:
            names = set(self.table_names(module))
            for cls in module.classes.values():
                if self.holds_table(cls):
                    names.update(name for name in cls.methods if not name.startswith("__"))
            names.update(name for name, function in module.functions.items() if self.may_look_up(function))
            found = self._callables[module] = frozenset(names)
        return found

    def may_be_embedding(self, cls: Class) -> bool:
        """Whether a class may inherit from an embedding, by the names of its bases and theirs."""
        bases = [base for owner in self._project.members.mro(cls) for base in owner.bases]
        return any("Embedding" in (dotted(base) or "") for base in bases)

    def may_reach_table(self, call: Value, module: ModuleFacts) -> bool:
        """Whether a call may lead to a lookup, by the name and the kind of what is called."""
        callee = call.callee
        if callee.op is Op.GLOBAL:
            is_class = str(callee.data)[:1].isupper()
            return callee.data in self.callables(module) or (callee.data in module.imports and not is_class)
        if callee.op is not Op.ATTR:
            return callee.op is not Op.LAMBDA
        if callee.data in self.callables(module):
            return True
        owner = callee.args[0]
        if owner.op is Op.CALL:
            return owner.callee.op is Op.GLOBAL and str(owner.callee.data)[:1].isupper()
        return owner.op is Op.PARAM and owner.data != "self"

    def table_attributes(self, cls: Class) -> set[str]:
        """The attributes of a class under which tables are kept, or objects that hold one."""
        known = self._tables.get(cls)
        if known is None:
            known = self._tables[cls] = {
                attribute
                for attribute, called in cls.built.items()
                if _makes_table(called) or any(self._class_is(name, cls.module, self.holds_table) for name in called)
            }
        return known

    def table_names(self, module: ModuleFacts) -> frozenset[str]:
        """The attributes under which the classes of a file keep tables, or what holds one."""
        found = self._names.get(module)
        if found is None:
            names = {"embedding"} if "embedding" in module.text else set()
            for cls in module.classes.values():
                for owner in self._project.members.mro(cls):
                    names |= self.table_attributes(owner)
            found = self._names[module] = frozenset(names)
        return found

    def lookup_names(self, module: ModuleFacts) -> frozenset[str]:
        """The attributes under which the classes of a file keep tables themselves."""
        found = self._lookup_names.get(module)
        if found is None:
            names = {"embedding"} if "embedding" in module.text else set()
            for cls in module.classes.values():
                for owner in self._project.members.mro(cls):
                    names |= {name for name in self.table_attributes(owner) if self._is_table(owner, name)}
            found = self._lookup_names[module] = frozenset(names)
        return found

    def _is_table(self, cls: Class, attribute: str) -> bool:
        for name in cls.built[attribute]:
            made = self._class(name, cls.module)
            if "Embedding" in name if made is None else self.may_be_embedding(made):
                return True
        return False

    def table_users(self, module: ModuleFacts) -> list[Function]:
        """The functions of a file that may look something up, themselves or through what they call."""
        found = self._users.get(module)
        if found is None:
            found = self._users[module] = self.attribute_users(module, self.callables(module))
        return found

    def may_look_up(self, function: Function) -> bool:
        """Whether a function may look something up."""
        if function.owner is not None:
            return self.holds_table(function.owner)
        return "mbed" in function.text or "cos" in function.text or bool(_INDEX_BY_NAME.search(function.text))


def _makes_table(called: frozenset[str]) -> bool:
    return any("Embedding" in name for name in called)


_INDEX_BY_NAME = re.compile(r"[\w)\]]\s*\[[\s(]*[A-Za-z_]\w*[\s)]*\]")
