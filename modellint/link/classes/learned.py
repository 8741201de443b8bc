"""Tensors with `requires_grad` in plain attributes of a layer: neither trained nor saved with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.heap import Shell
from modellint.flow.tensor_devices import Fresh
from modellint.graph.arguments import bind
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute, walk_all
from modellint.link.calls.reached import CallReach
from modellint.link.classes.object_runs import ObjectRuns
from modellint.link.names import DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.flow.domain import Atom
    from modellint.flow.heap import Store
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Parameter, Value
    from modellint.link.classes.object_runs import FinishedObject
    from modellint.link.project import Project

_ASKING = "requires_grad"
_RECOMPUTING = "torch.utils.checkpoint.checkpoint"
#: Through how many calls a tensor is followed.
_MAX_DEPTH = 3


@dataclass(frozen=True, eq=False)
class Learned:
    """A tensor with `requires_grad` that a constructor stores in `target`.

    `is_handed_out`: a method returns or stores it, alone or in a list, or passes it to an optimizer, so it may be
    trained by hand. `container` is the kind of the container that holds it: `list`, `dict`, …; empty if none does.
    """

    cls: Class
    function: Function
    target: Value
    attribute: str
    is_handed_out: bool
    container: str = ""


def learned(module: ModuleFacts, project: Project) -> tuple[Learned, ...]:
    """The tensors of a file's layers that require gradients and are no parameters."""
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
        asked = (
            {name for method in cls.methods.values() for name in _attributes_requiring_grad(method)}
            if subjects
            else set()
        )
        for model in subjects if subjects and project.of(ObjectRuns).may_strand(cls) else ():
            finished = project.of(ObjectRuns).of(model)
            for store in finished.first_stores:
                name, target, function = store.name, store.target, store.function
                if name is None or target is None or function is None or function.module is not module:
                    continue
                made = [atom for atom in _stored_atoms(store) if isinstance(atom, Fresh)]
                if id(target) not in told and any(atom.is_learned or name in asked for atom in made):
                    lives = [finished, *project.of(ObjectRuns).below(model, cls)]
                    if _is_kept_and_used(name, lives, project):
                        told.add(id(target))
                        holder = next((atom.kind for atom in store.atoms if isinstance(atom, Shell)), "")
                        yield Learned(cls, function, target, name, _is_handed_out(name, lives, project), holder)


def _is_kept_and_used(name: str, lives: list[FinishedObject], project: Project) -> bool:
    """True if some of the objects calculate with the tensor in an attribute, and all keep it as a plain one."""
    used = [life for life in lives if life.is_used(name) or _is_computed_with(name, life)]
    if not used or not all(_is_plain(name, life) for life in lives):
        return False
    return not all(_only_asks(name, life, project) for life in used)


def _stored_atoms(store: Store) -> Iterator[Atom]:
    """The atoms that are stored, and those in the containers among them."""
    for atom in store.atoms:
        if isinstance(atom, Shell) and atom.is_container:
            yield from atom.contents()
        else:
            yield atom


def _only_asks(name: str, finished: FinishedObject, project: Project) -> bool:
    """True if an attribute is only passed to checkpointed functions, none of which is known to compute with it.

    Checkpointing gives gradients to a layer only if one of the tensors that it is called with requires them.
    """
    reads = [(read.function, read.value) for read in finished.reads(name) if read.function.name != "__init__"]
    needs = _Needs(finished, project)
    return bool(reads) and not any(
        needs.computes(function, lambda value, read=read: value is read)  # type: ignore[misc]
        for function, read in reads
    )


class _Needs:
    """Tells functions that compute with an argument from those that only pass it on to checkpointed functions."""

    def __init__(self, finished: FinishedObject, project: Project) -> None:
        self._finished, self._project = finished, project

    def computes(self, function: Function, is_it: Callable[[Value], bool], depth: int = 0) -> bool:
        """True if a function uses a value for anything but an argument of functions that do not compute with it."""
        values = list(function.flow.evaluated())
        if depth > _MAX_DEPTH or any(map(is_it, values)):
            return True
        users = [value for value in walk_all(values) if any(map(is_it, value.args))]
        return any(user.op is not Op.CALL or self._is_used(user, function, is_it, depth) for user in users)

    def _is_used(self, call: Value, function: Function, is_it: Callable[[Value], bool], depth: int) -> bool:
        """True if the callee may compute with the value; the callee of `checkpoint` only if it is known to."""
        definition = self._project.names.definition(function.module, call.callee)
        is_recomputed = isinstance(definition, External) and definition.name == _RECOMPUTING and bool(call.positional)
        if is_recomputed:
            given, called = call.positional[1:], self._checkpointed_functions(call.positional[0], function)
        else:
            reached = CallReach(self._project, function).of(call)
            given = call.positional
            called = [(reached.function, reached.parameters)] if reached and reached.function else []
        if not called or call.has_unpacking:
            return not is_recomputed
        for target, taken in called:
            bound = bind(taken, given, call.keywords)
            names = [name for name, arg in (*bound.given.items(), *bound.options.items()) if is_it(arg)]
            if not names or any(self.computes(target, _is_named(name), depth + 1) for name in names):
                return True
        return False

    def _checkpointed_functions(
        self, callee: Value, function: Function
    ) -> list[tuple[Function, tuple[Parameter, ...]]]:
        """The functions that `checkpoint` may call, as far as they are known, with their parameters."""
        is_part = callee.op in (Op.INDEX, Op.ITEM)
        attribute = self_attribute(callee.args[0] if is_part else callee)
        if attribute is None:
            definition = self._project.names.definition(function.module, callee)
            found = definition.function if isinstance(definition, DefinedFunction) else None
            return [(found, found.parameters)] if found is not None else []
        method = self._finished.model.method(attribute)
        methods = {method: method.open_parameters} if method is not None else {}
        atoms = [atom for store in self._finished.stores_of(attribute) for atom in store.atoms]
        if is_part:
            entries = [entry for atom in atoms if isinstance(atom, Shell) for entry in atom.entries]
            atoms = [part for entry in entries for part in entry.atoms]
        for atom in atoms:
            model = atom.model if isinstance(atom, Shell) else None
            if model is not None and (called := model.method("forward")) is not None:
                methods[called] = called.parameters[1:]
        return list(methods.items())


def _is_named(name: str) -> Callable[[Value], bool]:
    return lambda value: value.op is Op.PARAM and value.data == name


def _may_ask(function: Function) -> bool:
    """True if a function may set `requires_grad` on a new tensor or on one that an object stores."""
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
    return value.op in (Op.CALL, Op.BIN) or self_attribute(value) is not None


def _is_plain(name: str, finished: FinishedObject) -> bool:
    """True if no module, parameter or buffer is stored in the attribute."""
    stores = (store for store in finished.stores if store.name == name)
    return not any(
        isinstance(atom, Shell) and not atom.is_container for store in stores for atom in _stored_atoms(store)
    )


def _attributes_requiring_grad(function: Function) -> set[str]:
    """The attributes on which a function sets `requires_grad`: `self.scale.requires_grad = True`."""
    found: set[str | None] = set()
    for event in function.flow.events if _ASKING in function.text else ():
        target, call = event.target, event.value
        if event.kind is EventKind.STORE and target is not None and target.op is Op.ATTR and target.data == _ASKING:
            found.add(self_attribute(target.args[0]) if call.op is Op.CONST and call.data is True else None)
        elif event.kind is EventKind.CALL and call.callee.op is Op.ATTR and call.callee.data == f"{_ASKING}_":
            wanted = call.argument(0, _ASKING)
            is_asked = wanted is None or (wanted.op is Op.CONST and wanted.data is True)
            found.add(self_attribute(call.callee.args[0]) if is_asked else None)
    return {name for name in found if name is not None}


def _is_computed_with(name: str, finished: FinishedObject) -> bool:
    """True if a method other than the constructor calculates with an attribute."""
    reads = {id(read.value): read.function for read in finished.reads(name) if read.function.name != "__init__"}
    return any(
        part.op is Op.BIN and any(id(_whole(arg)) in reads for arg in part.args)
        for function in dict.fromkeys(reads.values())
        for part in walk_all(function.flow.evaluated())
    )


def _whole(value: Value) -> Value:
    """The tensor that an expression takes a part of."""
    return _whole(value.args[0]) if value.op in (Op.INDEX, Op.UNARY) else value


def _is_handed_out(name: str, lives: list[FinishedObject], project: Project) -> bool:
    """True if a method returns, yields or stores the attribute, alone or in a list, or passes it to an optimizer."""
    owners = {owner.cls for life in lives for owner in life.model.mro() if owner.cls is not None}
    return any(
        any(self_attribute(part) == name for part in given.walk())
        for cls in owners
        for method in cls.methods.values()
        for event in (method.flow.events if name in method.words else ())
        for given in _handed_out(event, method, project)
    )


def _handed_out(event: Event, function: Function, project: Project) -> tuple[Value, ...]:
    """The values by which an event hands attributes out."""
    value = event.value
    if event.kind is EventKind.CALL:
        definition = project.names.definition(function.module, value.callee)
        is_optimizer = isinstance(definition, External) and definition.name.startswith("torch.optim.")
        return value.args[1:] if is_optimizer else ()
    is_out = event.kind in (EventKind.RETURN, EventKind.STORE, EventKind.YIELD)
    return (value,) if is_out and value.op in (Op.ATTR, Op.LIST, Op.TUPLE) else ()
