"""Assignments of containers to attributes: their contents, and which assignments last."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from modellint.flow.closures import calls_used_inside
from modellint.flow.domain import FunctionRef
from modellint.flow.heap import Shell, are_exclusive, shells_in
from modellint.graph.immutable import dataclass
from modellint.graph.value import Nested, Op, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.heap import Path, Store
    from modellint.graph.python import Function
    from modellint.graph.value import Value


@dataclass(eq=False)
class AttributeAssignment:
    """One assignment of an attribute: the stored containers, its path condition, and later extensions.

    An object of a class that is no layer is a container of its attributes, a `partial` one of its arguments, and a
    nested function one of what it uses of the function around.
    """

    attribute: str
    store: Store
    containers: list[Shell | FunctionRef]
    #: Containers that a later assignment adds to the stored one: `self.x += […]`.
    later: list[Shell | FunctionRef] = field(default_factory=list)

    @property
    def target(self) -> Value:
        """The target of the assignment, or the call that stores: `setattr(self, …)`."""
        assert self.store.place is not None
        return self.store.place

    @property
    def value(self) -> Value:
        assert self.store.value is not None
        return self.store.value

    @property
    def function(self) -> Function:
        assert self.store.function is not None
        return self.store.function

    @property
    def path(self) -> Path:
        return self.store.path

    @cached_property
    def kind(self) -> str:
        """`list`, `tuple`, `set`, `dict`, `generator`, `instance`, `namespace`, `partial`, `function`.

        `container` if it differs.
        """
        kinds = {_kind(one) for one in self.containers}
        return kinds.pop() if len(kinds) == 1 else "container"

    @cached_property
    def is_one_tuple(self) -> bool:
        """True if only written tuples of one element are stored."""
        made = self._displays
        return bool(made) and all(len(each.args) == 1 and each.args[0].op is not Op.STARRED for each in made)

    @property
    def _displays(self) -> list[Value]:
        """The written tuples that are stored; empty if anything else is stored, too."""
        made = [one.value if isinstance(one, Shell) else None for one in self.containers]
        found = [value for value in made if value is not None and value.op is Op.TUPLE]
        return found if len(found) == len(made) else []

    @property
    def has_stray_comma(self) -> bool:
        """True if nothing but a comma behind the value makes it a tuple: `self.x = f(),`."""
        starts = [((made.line, made.offset), (made.args[0].line, made.args[0].offset)) for made in self._displays]
        return self.is_one_tuple and all(outer == inner for outer, inner in starts)

    @property
    def is_written_out(self) -> bool:
        """True if a list or tuple of one element, which is known, is stored and never grows."""
        return not self.later and all(
            isinstance(one, Shell) and one.kind in ("list", "tuple") and one.is_exact and len(one.entries) == 1
            for one in self.containers
        )

    @property
    def is_nested(self) -> bool:
        """True if the container has another container as an element."""
        entries = (entry for one in (*self.containers, *self.later) for entry in _entries(one))
        return any(map(_is_open, (atom for atoms, _ in entries for atom in atoms)))

    def holders(self) -> list[Shell]:
        """The objects among the containers and within them, as far as these are known."""
        return [one for one, _ in self._opened() if isinstance(one, Shell) and not one.is_container]

    def leaves(self) -> Iterator[tuple[Atom, Path]]:
        """The elements of the container and of nested ones, each with its path condition."""
        for one, path in self._opened():
            for atoms, taken in _entries(one):
                if not are_exclusive(path, taken):
                    whole = (*path, *(step for step in taken if step not in path))
                    yield from ((atom, whole) for atom in atoms if not _is_open(atom))

    def _opened(self) -> Iterator[tuple[Shell | FunctionRef, Path]]:
        """The container and nested ones, once each, with their path conditions."""
        seen: set[Shell | FunctionRef] = set()
        pending: list[tuple[Atom, Path]] = [(one, self.path) for one in (*self.later, *self.containers)]
        while pending:
            one, path = pending.pop()
            if not isinstance(one, Shell | FunctionRef) or one in seen:
                continue
            seen.add(one)
            yield one, path
            for atoms, taken in _entries(one):
                if not are_exclusive(path, taken):
                    whole = (*path, *(step for step in taken if step not in path))
                    pending += [(atom, whole) for atom in atoms if _is_open(atom)]


def _is_open(atom: Atom) -> bool:
    """True for a container, an object of a class of the project that is no layer, and a function that keeps layers."""
    if isinstance(atom, FunctionRef):
        return any(True for _ in shells_in(atoms for atoms, _ in _entries(atom)))
    if not isinstance(atom, Shell):
        return False
    return (
        atom.is_container
        or atom.kind == "namespace"
        or (atom.kind == "instance" and atom.model is not None and atom.model.cls is not None and not atom.is_layer)
    )


def _entries(one: Shell | FunctionRef) -> Iterator[tuple[Atoms, Path]]:
    """The elements of a container, the attributes of an object, or what a function keeps, with their paths."""
    if isinstance(one, FunctionRef):
        yield from ((atoms, ()) for atoms in one.arguments.all())
        if isinstance(one.code, Nested) and one.frame is not None:
            for value in calls_used_inside(one.code, one.frame.flow):
                yield one.frame.known(id(value)) or (), ()
    elif one.is_container:
        yield from ((entry.atoms, entry.path) for entry in one.entries)
    else:
        for known in one.history.values():
            yield from ((atoms() if callable(atoms) else atoms, path) for atoms, path in known)


def _kind(one: Shell | FunctionRef) -> str:
    if isinstance(one, Shell):
        return one.kind
    return "partial" if any(True for _ in one.arguments.all()) else "function"


def last_assignments(stores: Iterable[Store]) -> list[AttributeAssignment]:
    """The assignments of containers that are not overwritten later, with their extensions."""
    found: list[AttributeAssignment] = []
    for store in stores:
        one = _container_assignment(store)
        lasting, is_new = [], one is not None
        for before in found:
            if before.attribute != store.name or not set(store.path) <= set(before.path):
                lasting.append(before)
            elif one is not None and _extends(one, before):
                before.later.extend(one.containers)
                lasting.append(before)
                is_new = False
        found = [*lasting, one] if one is not None and is_new else lasting
    return found


def _container_assignment(store: Store) -> AttributeAssignment | None:
    """The assignment for a store of containers; None for a store of anything else."""
    containers = [atom for atom in store.atoms if isinstance(atom, Shell | FunctionRef) and _is_open(atom)]
    if not containers or not store.registers or store.name is None or None in (store.place, store.function):
        return None
    return AttributeAssignment(store.name, store, containers)


def _extends(one: AttributeAssignment, before: AttributeAssignment) -> bool:
    """True if the assignment stores the earlier container with more or fewer elements: `self.x += […]`."""
    is_same = any(shell in before.containers for shell in one.containers)
    return is_same or any(self_attribute(part) == before.attribute for part in one.value.walk())
