"""The functions of a file that lead to optimizers, and their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import ANY_ARGUMENTS, ClassRef, FunctionRef
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell
from modellint.flow.training import Training, Weights
from modellint.graph.immutable import dataclass
from modellint.graph.python import WORK
from modellint.graph.value import NOWHERE, EventKind, Op, self_attribute
from modellint.link.classes.calls import ADDERS
from modellint.link.classes.definitions import SourceMethod

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.flow.domain import Atom
    from modellint.flow.interp import Interpreter
    from modellint.flow.training import BuiltOptimizer
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event
    from modellint.link.classes.models import ClassModel
    from modellint.rule import Project


@dataclass(frozen=True, eq=False, slots=True)
class Start:
    """A function that was run, the optimizers that it led to, and how much their layers held in the end."""

    function: Function
    optimizers: list[BuiltOptimizer]
    stores: Mapping[Shell, int]
    entries: Mapping[Shell, int]


def run_from(functions: list[Function], objects: dict[Class, Shell], run: Interpreter, project: Project) -> list[Start]:
    """Run the functions that no other one of them has called, and return the optimizers that each led to."""
    found: list[Start] = []
    for function in functions:
        if function in run.calls.done or not run.is_complete:
            continue
        known = len(run.of(Training).built)
        for receiver in _receivers(function, objects, project):
            run.steps = 0 if run.is_complete else run.steps
            if function.name == "__init__" and isinstance(receiver, Shell):
                run.objects.construct(receiver)
                continue
            code = SourceMethod(function, project.names)
            frame = class_frame(code.scope, id(function))
            run.calls.apply(FunctionRef(code, None, receiver), ANY_ARGUMENTS, frame, NOWHERE)
        made = run.of(Training).built[known:]
        if made:
            stores = {shell: len(shell.stores) for one in made for shell in one.stores}
            entries = {shell: len(shell.entries) for one in made for shell in one.entries}
            found.append(Start(function, made, stores, entries))
    return found


def _receivers(function: Function, objects: dict[Class, Shell], project: Project) -> Iterator[Atom | None]:
    """The receivers of a function: objects of its class, and of the classes in the file that derive from it."""
    owner = function.owner
    if owner is None or function.is_static:
        yield None
        return
    model = project.classes.model(owner)
    if function.is_class_method:
        yield ClassRef(model)
        return
    others = [project.classes.model(cls) for cls in function.module.classes.values() if cls is not owner]
    derived = [other for other in others if model in other.mro() and _runs(other, function)]
    is_whole = model.is_module is True and any(model.method(name) is not None for name in WORK)
    for each in (model, *derived) if is_whole or not derived else derived:
        assert each.cls is not None
        if each.cls not in objects:
            objects[each.cls] = Shell("instance", None, (id(each.cls),), each, ANY_ARGUMENTS)
        yield objects[each.cls]


def _runs(model: ClassModel, function: Function) -> bool:
    """True if objects of a class run a method: as their own, or from a constructor that calls `super`."""
    found = model.method(function.name)
    return found is function or (function.name == "__init__" and found is not None and "super" in found.words)


def is_filled_elsewhere(shell: Shell, run: Interpreter) -> bool:
    """True if methods that were not run may store to the attributes in which an object keeps parameters."""
    assert shell.model is not None
    names = {store.name for store in shell.stores if any(map(_may_hold_parameters, store.atoms))}
    methods = (method for model in shell.model.mro() if model.cls is not None for method in model.cls.methods.values())
    return any(
        _stored_in(event) in names
        for method in (methods if names else ())
        if method not in run.calls.done
        for event in method.flow.events
    )


def _may_hold_parameters(atom: Atom) -> bool:
    """True if an atom is a container that holds parameters, or nothing yet."""
    if not isinstance(atom, Shell) or not atom.is_container:
        return False
    return not atom.entries or any(isinstance(inner, Weights) for inner in atom.contents())


def _stored_in(event: Event) -> str | None:
    """The attribute of an object that an event stores something in or under, or that it adds to."""
    target = event.target if event.kind is EventKind.STORE else None
    if event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR and event.value.callee.data in ADDERS:
        target = event.value.callee.args[0]
    while target is not None and target.op is Op.INDEX:
        target = target.args[0]
    return None if target is None else self_attribute(target)
