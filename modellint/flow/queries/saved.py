"""Tensors that are changed in place before a backward pass needs them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from modellint.flow.queries.classes import is_layer
from modellint.flow.queries.shapes import operations_changed
from modellint.flow.queries.ways import goes_on, is_of_option
from modellint.graph.value import EventKind, Op
from modellint.link.calls.doubts import subclasses
from modellint.link.calls.gradients import is_without_gradients, records_nothing
from modellint.link.searched import paths_mentioning
from modellint.link.values.callers import callers
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Site
    from modellint.flow.queries.shapes import RefusedOperation
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Flow, Value
    from modellint.link.project import Project

#: The methods of a layer that are called to train it, and those that run when an object is made.
_CALLED, _MAKING = frozenset(("forward", "__call__")), frozenset(("__init__", "__post_init__"))
#: Where layers are put in a `Sequential`: one that changes what another one keeps is called behind it.
_BUILDING = frozenset((*_MAKING, "<module>"))
#: Those that a run of an object carries out.
_TRIED = frozenset(("forward", "__init__"))
#: A statement that switches gradients off.
_OFF = re.compile(rb"^[ \t]*torch\.(?:autograd\.)?set_grad_enabled\(False\)", re.MULTILINE)
#: The most callers on the way from a function to `backward`.
_MAX_DEPTH = 3


class ChangedTensor(NamedTuple):
    """A tensor that is changed in place, at `operation`, before the backward pass needs it.

    `by` is the operator that changes it, such as `+=`, `[]=`, `add_` or `ReLU`, or the name of a function that does.
    `keeper` is the operator that needs it again, and `what` the tensor is for that: its `result` or an `operand`. A
    parameter is a `leaf`, which torch refuses to change at once, and has no keeper. `owner` is the class of layers
    whose `forward` leads there; None if another function does.
    """

    operation: RefusedOperation
    by: str
    keeper: str
    what: str
    owner: str | None


def tensors_changed(module: ModuleFacts, project: Project) -> list[ChangedTensor]:
    """The tensors that code of a file changes in place though a backward pass certainly needs them again, each once.

    Leaves out code that is never trained, for all that is known.
    """
    found: dict[object, ChangedTensor] = {}
    for one in operations_changed(module, project):
        if _is_certain(one, project):
            what, _, keeper = one.left.partition(" ")
            place = one.made[0].site.place if one.made else one.site.place
            found.setdefault((place, one.site.function), ChangedTensor(one, one.right, keeper, what, _owner(one)))
    return list(found.values())


def _owner(changed: RefusedOperation) -> str | None:
    root = (*changed.steps, changed.site)[0].function
    is_own = root is not None and root.owner is not None and root.module is changed.site.module
    return root.owner.qualname if is_own and root.name in _TRIED else None  # type: ignore[union-attr]


def _is_certain(changed: RefusedOperation, project: Project) -> bool:
    sites = (changed.site, *changed.steps, *(made.site for made in changed.made))
    functions = dict.fromkeys(site.function for site in sites if site.function is not None)
    root = (*changed.steps, changed.site)[0].function
    if root is None or any(is_without_gradients(one, project) for one in functions):
        return False
    if any(one.flow.once(sets_gradients) for one in _around(functions, project)):
        return False
    if any(map(_is_evaluating, sites)):
        return False
    if _is_switched_off(changed.site.module, project):
        return False
    if changed.left.startswith("leaf"):
        return _is_recorded(root, project)
    is_layer_made = changed.right[:1].isupper() and not changed.right.endswith("()") and root.name in _BUILDING
    if is_layer_made:
        return True
    return _is_reached(root, changed, project) and not is_of_option(changed.steps, changed.site)


def _is_evaluating(site: Site) -> bool:
    """True if an expression is evaluated only while a layer is not trained: `if not self.training`.

    Or only for callers that ask for it: a flag that is False by default decides, or what a function inside is given.
    """
    function = site.function
    events = () if function is None else function.flow.events
    guards = (one.guard for one in events if one.guard is not None and site.value in (one.value, one.target))
    links = (link for guard in guards for link in guard.chain())
    flags = {one.name for one in (() if function is None else function.parameters) if _is_off(one.default)}
    return any(
        (part.op is Op.ATTR and part.data == "training" and link.truthy is is_negated)
        or (part.op is Op.PARAM and part.data in flags and link.truthy is not is_negated)
        or part.op is Op.INNER
        for link in links
        for part, is_negated in _parts(link.test)
    )


def _is_off(default: Value | None) -> bool:
    return default is not None and default.op is Op.CONST and default.data is False


def _parts(test: Value) -> Iterator[tuple[Value, bool]]:
    """The parts of a test that hold with it, and if they are negated."""
    if test.op is Op.UNARY and test.data == "not":
        yield from ((part, not is_negated) for part, is_negated in _parts(test.args[0]))
    elif test.op is Op.BOOL:
        for arg in test.args:
            yield from _parts(arg)
    else:
        yield test, False


def _around(functions: Iterable[Function], project: Project) -> Iterator[Function]:
    """The functions, and all methods of their classes and of those that inherit from these."""
    for function in functions:
        yield function
        if function.owner is not None:
            for owner in (function.owner, *subclasses(project, function.owner)):
                for cls in project.of(Members).mro(owner):
                    yield from cls.methods.values()


def sets_gradients(flow: Flow) -> bool:
    """True if a body decides which tensors need gradients."""
    return any(
        event.target is not None and event.target.data == "requires_grad" for event in flow.of(EventKind.STORE)
    ) or any(
        event.value.callee.op is Op.ATTR and event.value.callee.data == "requires_grad_"
        for event in flow.of(EventKind.CALL)
    )


def _is_reached(root: Function, changed: RefusedOperation, project: Project) -> bool:
    """True if what is changed goes on to a result of a layer's `forward`, or to a loss that goes backward."""
    flow = root.flow
    if root.name in _CALLED and _is_of_layers(root, project):
        ends = [one.value for one in flow.events if one.kind in (EventKind.RETURN, EventKind.YIELD)]
        ends += [one.value for one in flow.of(EventKind.STORE) if one.target is not None and one.target.op is Op.ATTR]
    else:
        number = next((number for number, one in enumerate(flow.events) if _is_of(one, changed)), len(flow.events))
        ends = [one.value.callee.args[0] for one in flow.events[number:] if _is_backward(one)]
    return goes_on(changed.steps, changed.site, (made.site for made in changed.made), ends, project)


def _is_of_layers(method: Function, project: Project) -> bool:
    """True for a method of a layer, or of a class that layers inherit from."""
    owner = method.owner
    return owner is not None and (
        is_layer(owner, project) is True or any(is_layer(one, project) for one in subclasses(project, owner))
    )


def _is_of(event: Event, changed: RefusedOperation) -> bool:
    value = changed.steps[0].value if changed.steps else changed.site.value
    return value is event.value or value is event.target


def _is_recorded(function: Function, project: Project, depth: int = 0) -> bool:
    """True if gradients are recorded wherever a function is called that is known, and there is such a place."""
    if is_without_gradients(function, project):
        return False
    if function.owner is not None and function.name in (*_CALLED, *_MAKING):
        return _is_of_layers(function, project)
    if any(map(_is_backward, function.flow.of(EventKind.CALL))):
        return True
    calling = callers(project, function) if depth < _MAX_DEPTH else []
    return bool(calling) and all(
        all(_calls(one, function.name, project)) and _is_recorded(one, project, depth + 1) for one in calling
    )


def _is_backward(event: Event) -> bool:
    value = event.value
    return event.kind is EventKind.CALL and value.callee.op is Op.ATTR and value.callee.data == "backward"


def _calls(caller: Function, name: str, project: Project) -> Iterator[bool]:
    """True for each call of a function of this name that records gradients."""
    for event in caller.flow.of(EventKind.CALL):
        if event.value.callee.data == name:
            yield not any(records_nothing(one, caller.module, project, perhaps=True) for one in event.contexts)


def _is_switched_off(module: ModuleFacts, project: Project) -> bool:
    """True if a file of the project switches gradients off for good: `torch.set_grad_enabled(False)`."""
    return project.once(
        ("gradients off", module),
        lambda: any(
            _OFF.search(project.files.read(path) or b"")
            for path in (module.file, *paths_mentioning(project, module, "set_grad_enabled"))
        ),
    )
