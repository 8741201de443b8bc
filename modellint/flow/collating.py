"""Collate functions of a `DataLoader`: their arguments haven't been moved to a device yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.names import DefinedClass, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.link.project import Project

#: The class whose objects give batches, and the argument that makes a batch of items.
LOADER = "torch.utils.data.DataLoader"
COLLATING = "collate_fn"


def is_collating(function: Function, project: Project) -> bool:
    """True for a method that is a `collate_fn`, or that only such methods of its class call."""
    cls = function.owner
    if cls is None or COLLATING not in cls.module.text:
        return False
    found = project.once(("collating", cls.module.path, cls.qualname, cls.line), lambda: _collating(cls, project))
    return function.name in found


def _collating(cls: Class, project: Project) -> frozenset[str]:
    functions = (*cls.module.all_functions(), cls.module.body)
    found = {name for one in functions if COLLATING in one.words for name in _given_to_loaders(one, cls, project)}
    callers: dict[str, set[str]] = {}
    for method in cls.methods.values() if found else ():
        for event in method.flow.of(EventKind.CALL):
            callers.setdefault(self_attribute(event.value.callee) or "", set()).add(method.name)
    while more := {name for name, by in callers.items() if by <= found and name in cls.methods} - found:
        found |= more
    return frozenset(found)


def _given_to_loaders(function: Function, cls: Class, project: Project) -> Iterator[str]:
    """The names of methods of a class that a function passes to loaders as `collate_fn`."""
    for event in function.flow.of(EventKind.CALL):
        given = event.value.keywords.get(COLLATING)
        if given is None or not _makes_loader(event.value, function, project):
            continue
        for part in given.walk():
            is_own = self_attribute(part) is None or function.owner is cls
            if part.op is Op.ATTR and part.data in cls.methods and is_own:
                yield str(part.data)


def _makes_loader(call: Value, function: Function, project: Project) -> bool:
    definition = project.names.definition(function.module, call.callee)
    if isinstance(definition, External) and definition.name == LOADER:
        return True
    model = project.classes.of(definition) if isinstance(definition, DefinedClass | External) else None
    return model is not None and any(
        isinstance(base, External) and base.name == LOADER for one in model.mro() for base in one.facts.bases
    )
