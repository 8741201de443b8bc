"""Models of a function or script whose loss goes backward, and that none of the optimizers beside them is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.built import state_in
from modellint.flow.heap import Shell, shells_in
from modellint.flow.training import Training
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op
from modellint.link.classes.calls import SAME
from modellint.link.names import External
from modellint.operators import functions as named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.interp import Interpreter
    from modellint.flow.training import BuiltOptimizer
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

    from .starts import Start

#: Attributes and methods through which no gradient goes, and contexts under which none are recorded.
_CUTTING = frozenset(("detach", "data", "item", "numpy", "argmax", "tolist"))
_QUIET = named("no-gradients")


@dataclass(frozen=True, eq=False)
class Beside:
    """A model that is called in `function`, where its loss goes backward, and that none of the optimizers is given."""

    name: str
    layer: Shell
    function: Function
    backward: Value
    optimizer: BuiltOptimizer
    given: tuple[str, ...]


def beside(run: Interpreter, starts: list[Start], module: ModuleFacts, project: Project) -> Iterator[Beside]:
    """The models that a function makes beside optimizers of others, once each."""
    training = run.of(Training)
    optimizers = [built for start in starts for built in start.optimizers]
    given = {part for built in optimizers for shell in built.given or () for part in _within(shell)}
    taken = training.settled | training.kept | training.asked
    for built in optimizers:
        home = built.function
        if home is None or home.module is not module or built is not _first_of(home, optimizers):
            continue
        names = tuple(dict.fromkeys(_name(one) for other in optimizers for one in other.given or () if _name(one)))
        for layer in list(run.shells()):
            name, parts = _name(layer), _within(layer)
            if layer.function is not home or not name or not layer.is_layer or not _is_own(layer, training):
                continue
            if not parts.isdisjoint(given) or not parts.isdisjoint(taken) or _is_held(layer, run):
                continue
            event = home.flow.circumstances(layer.value) if layer.value is not None else None
            run.objects.construct(layer)
            if event is None or event.guard is not None or not state_in(run, layer, trained=True):
                continue
            found = next(_uses(layer, name, home, module, project), None)
            if found is not None:
                yield Beside(name, layer, *found, built, names)


def _first_of(home: Function, optimizers: list[BuiltOptimizer]) -> BuiltOptimizer:
    return next(built for built in optimizers if built.function is home)


def _name(shell: Shell) -> str:
    """The variable that a layer is stored in, perhaps after it was moved to a device; empty if there is none."""
    value, function = shell.value, shell.function
    while value is not None and not value.target and function is not None:
        value = next((one for one in function.flow.values if _is_moved(one, value)), None)
    return "" if value is None else value.target or ""


def _is_moved(call: Value, layer: Value) -> bool:
    """True for a call such as `layer.to(device)`."""
    callee = call.callee if call.op is Op.CALL else call
    return callee is not call and callee.op is Op.ATTR and callee.data in SAME and callee.args[0] is layer


def _is_own(layer: Shell, training: Training) -> bool:
    """True for a layer of a class of the project that the function calls itself."""
    model, value = layer.model, layer.value
    if model is None or model.cls is None or value is None or value.op is not Op.CALL or not model.are_bases_known:
        return False
    return not training.is_foreign(model.cls)


def _is_held(layer: Shell, run: Interpreter) -> bool:
    """True if another object holds a layer."""
    return any(
        layer in shells_in((*(store.atoms for store in shell.stores), *(entry.atoms for entry in shell.entries)))
        for shell in run.shells()
        if shell is not layer
    )


def _within(layer: Shell) -> set[Shell]:
    """A layer and all that is in it."""
    found, pending = {layer}, [layer]
    while pending:
        inner = pending.pop()
        held = [store.atoms for store in inner.stores] + [entry.atoms for entry in inner.entries]
        new = [part for part in shells_in((*held, *inner.arguments.all())) if part not in found]
        found.update(new)
        pending += new
    return found


def _uses(
    layer: Shell, name: str, home: Function, module: ModuleFacts, project: Project
) -> Iterator[tuple[Function, Value]]:
    """The functions in which what a layer gives goes backward, each with the call of `backward`."""
    others = module.all_functions() if home is module.body else ()
    for function in (home, *others):
        for event in function.flow.of(EventKind.CALL):
            callee = event.value.callee
            if callee.op is Op.ATTR and callee.data == "backward" and callee.args:
                for call in _calls_behind(callee.args[0]):
                    is_one = _is_layer(call.callee, layer, name, is_global=function is not home)
                    if is_one and not _is_quiet(call, function, project):
                        yield function, event.value


def _calls_behind(value: Value) -> Iterator[Value]:
    """The calls that a value is computed of, but for those behind what cuts the gradient."""
    seen, pending = {id(value)}, [value]
    while pending:
        current = pending.pop()
        if current.op is Op.CALL:
            yield current
        if current.op is Op.ATTR and current.data in _CUTTING:
            continue
        for part in current.args:
            if id(part) not in seen:
                seen.add(id(part))
                pending.append(part)


def _is_layer(callee: Value, layer: Shell, name: str, *, is_global: bool) -> bool:
    """True if a callee is the layer, or the layer moved to a device."""
    while callee.op is Op.CALL and callee is not layer.value and callee.callee.op is Op.ATTR:
        if callee.callee.data not in SAME:
            return False
        callee = callee.callee.args[0]
    return callee.op is Op.GLOBAL and callee.data == name if is_global else callee is layer.value


def _is_quiet(call: Value, function: Function, project: Project) -> bool:
    """True if no gradients are recorded where a call is made, or perhaps none."""
    event = function.flow.circumstances(call)
    contexts = (*(() if event is None else event.contexts), *function.signature.decorators)
    for context in contexts:
        found = project.names.definition(function.module, context.callee if context.op is Op.CALL else context)
        if isinstance(found, External) and found.name in _QUIET:
            return True
    return False
