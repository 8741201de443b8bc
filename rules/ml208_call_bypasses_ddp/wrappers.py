"""Layers that a script calls around their wrapper: `model.module.loss(x)`, `compiled.generate(x)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.flow.queries import Act
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: Wrappers that synchronise gradients when they are called, and the attribute that is the layer inside.
_SYNCHRONISING = frozenset(
    (
        *("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel"),
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    )
)
_INSIDE, _COMPILE = "module", "torch.compile"
#: Words of code that synchronises gradients by hand, or that waits with it on purpose.
_BY_HAND = frozenset(("all_reduce", "reduce_scatter", "no_sync", "prepare_for_backward", "_set_static_graph"))
#: Operations that give an object that may be called.
_OBJECTS = (Op.PARAM, Op.CALL, Op.CHOICE, Op.ATTR, Op.GLOBAL, Op.INNER, Op.INDEX, Op.ITEM, Op.UNPACK)
_MAX_VALUES, _MAX_DEPTH = 400, 3


@dataclass(frozen=True, eq=False, slots=True)
class Around:
    """A call of the layer inside of the wrapper `made`: `name` is what is called, in words; `loss` learns from it."""

    function: Function
    value: Value
    name: str
    wrapper: str
    made: queries.Operand
    loss: queries.Action | None


# -- wrappers that synchronise gradients -----------------------------------------------------------------------------


def calls_around_wrappers(module: ModuleFacts, project: Project) -> Iterator[Around]:
    """The calls in a file by which losses learn from a layer around its wrapper."""
    if f".{_INSIDE}" not in module.text:
        return
    told: set[int] = set()
    for course in queries.courses(module, project):
        if any(not _BY_HAND.isdisjoint(function.words) for function in course.functions):
            continue
        for loss in course.of(Act.BACKWARD, Act.ENGINE):
            for call in _calls_in(loss):
                if call.function.module is not module or id(call.value) in told:
                    continue
                found = _around(call, loss, course)
                if found is not None and course.is_whole:
                    told.add(id(call.value))
                    yield found


def _calls_in(loss: queries.Action) -> Iterator[queries.Operand]:
    """The calls that a loss is made of, also in helpers."""
    given = loss.subject if loss.act is Act.BACKWARD else None
    if loss.act is Act.ENGINE and loss.value.args[1:]:
        given = loss.operand(loss.value.args[1])
    pending = [] if given is None else [(given, 0)]
    seen: set[int] = set()
    for operand, depth in pending:
        for part in operand.value.walk():
            if part.op is not Op.CALL or id(part) in seen or len(seen) > _MAX_VALUES:
                continue
            seen.add(id(part))
            call = operand.of(part)
            yield call
            if depth < _MAX_DEPTH:
                leaves = (leaf for leaf in call.origins(through_operators=False) if leaf.value is not part)
                pending += [(leaf, depth + 1) for leaf in leaves]


def _around(call: queries.Operand, loss: queries.Action, course: queries.Course) -> Around | None:
    inside, method = _inside(call.value)
    if inside is None:
        return None
    owner = inside.args[0]
    wrappers = [leaf for leaf in call.of(owner).origins(through_operators=False) if _wrapper(leaf)]
    if not wrappers or _is_quiet(call) or any(made.value.argument(99, "static_graph") for made in wrappers):
        return None
    if method is not None and not all(_learns(made, method) for made in wrappers):
        return None
    if any(_is_wrapper_called(function, wrappers, course.project) for function in course.functions):
        return None
    name = call.function.module.text_of(call.value.callee)
    return Around(call.function, call.value, name, _wrapper(wrappers[0]), wrappers[0], loss)


def _inside(call: Value) -> tuple[Value | None, str | None]:
    """`model.module` of the calls `model.module(x)` and `model.module.loss(x)`, perhaps on one path; the method."""
    callee = call.callee
    found = _layer_inside(callee)
    if found is not None or callee.op is not Op.ATTR:
        return found, None
    found = _layer_inside(callee.args[0])
    return found, None if callee.data in ("forward", "__call__") else str(callee.data)


def _layer_inside(value: Value) -> Value | None:
    """`model.module` that a value is, or may be."""
    parts = value.args if value.op is Op.CHOICE else (value,)
    return next((one for one in parts if one.op is Op.ATTR and one.data == _INSIDE), None)


def _wrapper(leaf: queries.Operand) -> str:
    """The short name of the wrapper that a value is; empty if it is none."""
    if leaf.value.op is not Op.CALL or leaf.part is not None:
        return ""
    definition = leaf.project.names.definition(leaf.function.module, leaf.value.callee)
    is_one = isinstance(definition, External) and definition.name in _SYNCHRONISING
    return definition.name.rpartition(".")[2] if is_one and isinstance(definition, External) else ""


def _is_quiet(call: queries.Operand) -> bool:
    """True if no gradients are recorded where a call is made."""
    at: queries.Operand | None = call
    while at is not None:
        event = at.function.flow.circumstances(at.value)
        if event is None or queries.is_quiet(event, at.function, at.project):
            return True
        at = None if at.context is None else at.context.call
    return False


def _learns(made: queries.Operand, method: str) -> bool:
    """True if a method of the wrapped layer certainly calls parts of it."""
    pairs = [(model.method(method), model) for model in _models(made)]
    found = [(one, model) for one, model in pairs if one is not None]
    return bool(found) and all(queries.learns_from(one, model, made.project) for one, model in found)


def _models(made: queries.Operand) -> list[queries.ClassModel]:
    """The classes of the layers that a wrapper may hold; none if one is not known."""
    given = made.value.argument(0, "module")
    return [] if given is None else queries.classes_made(made.of(given)) or []


def _is_wrapper_called(function: Function, wrappers: list[queries.Operand], project: Project) -> bool:
    """True if a function calls one of some wrappers, or gives it away."""
    made = set(map(queries.ModeObject, wrappers))
    for event in function.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op not in _OBJECTS:
            continue
        if callee.op is Op.ATTR and self_attribute(callee) is None:
            continue
        operand = queries.Operand(callee, function, project)
        if any(queries.ModeObject(leaf) in made for leaf in operand.origins(through_operators=False)):
            return True
    return False


# -- compiled layers -------------------------------------------------------------------------------------------------


def calls_around_compiled(module: ModuleFacts, project: Project) -> Iterator[Around]:
    """The first calls of methods of compiled layers that nothing calls."""
    names = {"compile", *(name for name, full in module.imports.items() if full == _COMPILE)}
    for function in (*module.all_functions(), module.body):
        for event in function.flow.of(EventKind.CALL) if not names.isdisjoint(function.words) else ():
            definition = project.names.definition(module, event.value.callee)
            given = event.value.argument(0, "model")
            if isinstance(definition, External) and definition.name == _COMPILE and given is not None:
                found = _method_of_compiled(event.value, given, function, project)
                if found is not None:
                    yield found


def _method_of_compiled(made: Value, given: Value, function: Function, project: Project) -> Around | None:
    """The first call of a method of a compiled layer, if nothing calls the layer itself, or may do so."""
    models = queries.classes_made(queries.Operand(given, function, project))
    if not models or any(model.cls is None or not model.is_module for model in models):
        return None
    first: Event | None = None
    for owner, event, value in _uses(made, function):
        callee = event.value.callee if event.kind is EventKind.CALL else None
        if callee is None or callee.op is not Op.ATTR or callee.args[0] is not value:
            return None
        name = str(callee.data)
        methods = [model.method(name) for model in models]
        is_torchs = name in (queries.layer_members("torch.nn.Module") or ())
        if name == "forward" or not (is_torchs or all(methods)):
            return None
        runs = all(
            method is not None and queries.runs_parts(method, model, project)
            for method, model in zip(methods, models, strict=True)
        )
        if runs and first is None and not queries.is_trial(owner, event, project):
            first = event
    if first is None:
        return None
    name = function.module.text_of(first.value.callee)
    return Around(function, first.value, name, "torch.compile", queries.Operand(made, function, project), None)


def _uses(made: Value, function: Function) -> Iterator[tuple[Function, Event, Value]]:
    """The events that use a value or a choice of it and other values, each with what it uses."""
    names = _aliases(made, function)
    for event in function.flow.events:
        if event.value is made or any(event.value is one for one in names):
            if event.kind is EventKind.CALL and event.value is made:
                continue
            yield function, event, event.value
            continue
        for part in _parts(event):
            if part is made or any(part is one for one in names):
                yield function, event, part
                break


def _parts(event: Event) -> Iterable[Value]:
    """The parts of an event's value that are nearer than the next call."""
    pending = [event.value]
    if event.target is not None:
        pending += event.target.args
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if value is event.value or value.op is not Op.CALL:
            pending += value.args


def _aliases(made: Value, function: Function) -> list[Value]:
    """The choices of a value and others, as branches and loops make them."""
    found: list[Value] = []
    pending = [made]
    choices = {id(part): part for value in function.flow.evaluated() for part in value.walk() if part.op is Op.CHOICE}
    while pending:
        value = pending.pop()
        for choice in choices.values():
            if any(one is value for one in choice.args) and all(choice is not one for one in found):
                found.append(choice)
                pending.append(choice)
    return found
