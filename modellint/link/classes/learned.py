"""Tensors that ask for gradients and that a layer keeps as plain attributes: neither trained nor saved with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.heap import Shell
from modellint.flow.tensor_devices import Fresh
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute, walk_all
from modellint.link.classes.object_runs import ObjectRuns
from modellint.link.classes.spoken import values_of
from modellint.link.names import DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.objects import AttributeRead
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.classes.object_runs import FinishedObject
    from modellint.link.project import Project

_ASKING = "requires_grad"
_RECOMPUTING = "torch.utils.checkpoint.checkpoint"


@dataclass(frozen=True, eq=False)
class Learned:
    """A tensor that a constructor keeps by `target`, and that asks for gradients.

    `is_handed_out`: a method gives it to whoever trains it, by itself or in a list.
    """

    cls: Class
    function: Function
    target: Value
    attribute: str
    is_handed_out: bool


def learned(module: ModuleFacts, project: Project) -> tuple[Learned, ...]:
    """The tensors of the layers of a file that ask for gradients and are no parameters."""
    if _ASKING not in module.text:
        return ()
    return project.once(("learned", module.path), lambda: tuple(_search(module, project)))


def _search(module: ModuleFacts, project: Project) -> Iterator[Learned]:
    told: set[int] = set()
    is_helped = any(map(_may_ask, module.functions.values()))
    for cls in module.classes.values():
        if not is_helped and not any(map(_may_ask, cls.methods.values())):
            continue
        subjects = [model for model in project.of(ObjectRuns).subjects(cls) if model.is_module is True]
        asked = {name for method in cls.methods.values() for name in _told(method)} if subjects else set()
        for model in subjects if subjects and project.of(ObjectRuns).may_strand(cls) else ():
            finished = project.of(ObjectRuns).of(model)
            for store in finished.first_stores:
                name, target, function = store.name, store.target, store.function
                if name is None or target is None or function is None or function.module is not module:
                    continue
                made = [atom for atom in store.atoms if isinstance(atom, Fresh)]
                is_learned = any(atom.is_learned or name in asked for atom in made)
                if is_learned and id(target) not in told and _is_plain(name, finished) and finished.is_used(name):
                    told.add(id(target))
                    if not _only_asks(name, finished, project):
                        yield Learned(cls, function, target, name, _is_handed_out(name, cls))


def _only_asks(name: str, finished: FinishedObject, project: Project) -> bool:
    """Whether an attribute is given to checkpointed functions only, and no known one of them computes with it.

    Checkpointing gives gradients to a layer only where one of the tensors that it is called with asks for them.
    """
    reads = [read for read in finished.reads(name) if read.function.name != "__init__"]
    return bool(reads) and all(_is_ignored(read, finished, project) for read in reads)


def _is_ignored(read: AttributeRead, finished: FinishedObject, project: Project) -> bool:
    """Whether all that is done with what was read is to give it to a checkpointed function that does not need it."""
    values = list(values_of(read.function.flow))
    users = [value for value in walk_all(values) if any(arg is read.value for arg in value.args)]
    return not any(value is read.value for value in values) and all(
        _is_checkpointed(user, read, project) and not _computes_with(user, read, finished, project) for user in users
    )


def _is_checkpointed(call: Value, read: AttributeRead, project: Project) -> bool:
    definition = project.names.definition(read.function.module, call.callee) if call.op is Op.CALL else None
    return isinstance(definition, External) and definition.name == _RECOMPUTING


def _computes_with(call: Value, read: AttributeRead, finished: FinishedObject, project: Project) -> bool:
    """Whether a checkpointed function is known, and one that reads the parameter which gets what was read."""
    given = next((at for at, arg in enumerate(call.positional) if arg is read.value), None)
    keyword = next((name for name, arg in call.keywords.items() if arg is read.value), None)
    for function, bound in _called(call.positional[0], read, finished, project) if call.positional else ():
        if given is not None and not call.has_unpacking and given - 1 + bound < len(function.parameters):
            keyword = function.parameters[given - 1 + bound].name
        if any(value.op is Op.PARAM and value.data == keyword for value in walk_all(values_of(function.flow))):
            return True
    return False


def _called(
    callee: Value, read: AttributeRead, finished: FinishedObject, project: Project
) -> Iterator[tuple[Function, int]]:
    """The functions that a value may be, and how many of their parameters are bound."""
    is_part = callee.op in (Op.INDEX, Op.ITEM)
    attribute = self_attribute(callee.args[0] if is_part else callee)
    if attribute is None:
        definition = project.names.definition(read.function.module, callee)
        if isinstance(definition, DefinedFunction):
            yield definition.function, 0
        return
    if (method := finished.model.method(attribute)) is not None:
        yield method, 1
    atoms = [atom for store in finished.stores_of(attribute) for atom in store.atoms]
    if is_part:
        atoms = [part for atom in atoms if isinstance(atom, Shell) for entry in atom.entries for part in entry.atoms]
    for atom in atoms:
        if isinstance(atom, Shell) and atom.model is not None and (called := atom.model.method("forward")) is not None:
            yield called, 1


def _may_ask(function: Function) -> bool:
    """Whether a function may make a tensor that asks for gradients, or tell one that an object keeps to do so."""
    return _ASKING in function.text and any(map(_asks, function.flow.events))


def _asks(event: Event) -> bool:
    if event.kind is EventKind.CALL:
        asked, callee = event.value.keywords.get(_ASKING), event.value.callee
        if asked is not None:
            return not (asked.op is Op.CONST and asked.data is False)
        return callee.op is Op.ATTR and callee.data == f"{_ASKING}_" and _may_be_kept(callee.args[0])
    target = event.target
    return target is not None and target.op is Op.ATTR and target.data == _ASKING and _may_be_kept(target.args[0])


def _may_be_kept(value: Value) -> bool:
    return value.op is Op.CALL or self_attribute(value) is not None


def _is_plain(name: str, finished: FinishedObject) -> bool:
    """Whether nothing that an object keeps under a name is registered."""
    return not any(isinstance(atom, Shell) for store in finished.stores if store.name == name for atom in store.atoms)


def _told(function: Function) -> set[str]:
    """The attributes that a function tells to ask for gradients: `self.scale.requires_grad = True`."""
    found: set[str | None] = set()
    for event in function.flow.events if _ASKING in function.text else ():
        target, call = event.target, event.value
        if event.kind is EventKind.STORE and target is not None and target.op is Op.ATTR and target.data == _ASKING:
            found.add(self_attribute(target.args[0]) if call.op is Op.CONST and call.data is True else None)
        elif event.kind is EventKind.CALL and call.callee.op is Op.ATTR and call.callee.data == f"{_ASKING}_":
            found.add(self_attribute(call.callee.args[0]) if len(call.args) == 1 else None)
    return {name for name in found if name is not None}


def _is_handed_out(name: str, cls: Class) -> bool:
    """Whether a method gives the attribute, or a list of such, or keeps it in one."""
    return any(
        event.value.op in (Op.ATTR, Op.LIST, Op.TUPLE)
        and any(self_attribute(part) == name for part in event.value.walk())
        for method in cls.methods.values()
        for event in method.flow.events
        if event.kind in (EventKind.RETURN, EventKind.STORE, EventKind.YIELD)
    )
