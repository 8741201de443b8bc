"""Models of a function or script whose loss goes backward, and that none of the optimizers beside them is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.built import state_in
from modellint.flow.heap import Shell, shells_in
from modellint.flow.training import Training
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.calls.doubts import subclasses
from modellint.link.calls.gradients import records_nothing
from modellint.link.classes.calls import SAME

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from modellint.flow.interp import Interpreter
    from modellint.flow.training import BuiltOptimizer
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

    from .starts import Start

#: Attributes and methods through which no gradient goes.
_CUTTING = frozenset(("detach", "data", "item", "numpy", "argmax", "tolist"))


@dataclass(frozen=True, eq=False)
class Beside:
    """A model that is called in `function`, where its loss goes backward, and that none of the optimizers is given."""

    name: str
    layer: Shell
    function: Function
    backward: Value
    optimizer: BuiltOptimizer
    given: tuple[str, ...]


def beside(
    run: Interpreter, objects: Iterable[Shell], starts: list[Start], module: ModuleFacts, project: Project
) -> Iterator[Beside]:
    """The models that functions, and methods of `objects`, call beside optimizers of others, once each."""
    shells = [*run.shells(), *objects]
    training = run.of(Training)
    optimizers = [built for start in starts for built in start.optimizers]
    given = {part for built in optimizers for shell in built.given or () for part in within(shell)}
    taken = training.settled | training.kept | training.asked
    names = tuple(filter(None, dict.fromkeys(_name(one, shells) for built in optimizers for one in built.given or ())))
    told: set[Shell] = set()
    for home in dict.fromkeys(built.function for built in optimizers):
        if home is None or home.module is not module:
            continue
        for layer, function, backward in _layers_behind(home, shells, run, project):
            if layer in told or not _is_own(layer, training) or _is_held(layer, home, shells):
                continue
            if not within(layer).isdisjoint(given | taken) or not _is_sure(layer):
                continue
            run.objects.construct(layer)
            if within(layer).isdisjoint(given | taken) and state_in(run, layer, trained=True):
                told.add(layer)
                yield Beside(_name(layer, shells), layer, function, backward, _first_of(home, optimizers), names)


def _first_of(home: Function, optimizers: list[BuiltOptimizer]) -> BuiltOptimizer:
    return next(built for built in optimizers if built.function is home)


def _name(shell: Shell, shells: Iterable[Shell]) -> str:
    """The variable or attribute that a layer is stored in, perhaps after it was moved; empty if there is none."""
    value, function = shell.value, shell.function
    while value is not None and not value.target and function is not None:
        value = next((one for one in function.flow.values if _is_moved(one, value)), None)
    if value is not None:
        return value.target or ""
    stores = (store for one in shells for store in one.stores if store.atoms == (shell,))
    return next((f"self.{store.name}" for store in stores if store.name is not None), "")


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


def _is_held(layer: Shell, home: Function, shells: Iterable[Shell]) -> bool:
    """True if another object holds a layer, other than one whose method `home` makes it."""
    return any(
        layer in shells_in((*(store.atoms for store in shell.stores), *(entry.atoms for entry in shell.entries)))
        for shell in shells
        if shell is not layer and not _is_object_of(shell, home)
    )


def _is_object_of(shell: Shell, home: Function) -> bool:
    """True for an object of the class of a method that is no layer, and of no class that derives from it."""
    model = shell.model
    return home.owner is not None and model is not None and model.cls is home.owner and model.is_module is False


def within(layer: Shell) -> set[Shell]:
    """A layer and all that is in it."""
    found, pending = {layer}, [layer]
    while pending:
        inner = pending.pop()
        held = [store.atoms for store in inner.stores] + [entry.atoms for entry in inner.entries]
        new = [part for part in shells_in((*held, *inner.arguments.all())) if part not in found]
        found.update(new)
        pending += new
    return found


def _layers_behind(
    home: Function, shells: Collection[Shell], run: Interpreter, project: Project
) -> Iterator[tuple[Shell, Function, Value]]:
    """The layers whose results go backward in a function, with the call of `backward`.

    Those of a script may be called in its functions.
    """
    calls = run.of(Training).calls
    for event, call in calls_before_backward(home, project):
        layers = calls.get(id(call), set())
        if len(layers) == 1:
            yield next(iter(layers)), home, event
    if home is home.module.body:
        by_name = {_name(shell, shells): shell for shell in shells if shell.function is home and shell.is_layer}
        for function in home.module.all_functions():
            for event, call in calls_before_backward(function, project):
                found = by_name.get(str(call.callee.data)) if call.callee.op is Op.GLOBAL else None
                if found is not None:
                    yield found, function, event
    if home.owner is not None and not subclasses(project, home.owner):
        for shell in shells:
            if _is_object_of(shell, home):
                yield from _layers_of_object(shell, home.owner, project)


def _layers_of_object(shell: Shell, cls: Class, project: Project) -> Iterator[tuple[Shell, Function, Value]]:
    """The layers that an object holds under one name each, and that its methods call where a loss goes backward."""
    held: dict[str | None, list[Shell]] = {}
    for store in shell.stores:
        held.setdefault(store.name, []).extend(atom for atom in store.atoms if isinstance(atom, Shell))
    calls = [event.value for method in cls.methods.values() for event in method.flow.of(EventKind.CALL)]
    for name in {self_attribute(given) for call in calls for given in call.args[1:]} - {None}:
        held.pop(name, None)  # others get the layer, and may train it
    for method in cls.methods.values():
        for event, call in calls_before_backward(method, project):
            layers = held.get(self_attribute(call.callee), [])
            if len(layers) == 1 and layers[0].is_layer:
                yield layers[0], method, event


def calls_before_backward(function: Function, project: Project) -> Iterator[tuple[Value, Value]]:
    """The calls of `backward` in a function, each with those that compute its tensor while gradients are recorded."""
    for event in function.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data == "backward" and callee.args:
            for call in _calls_behind(callee.args[0]):
                if not _is_quiet(call, function, project):
                    yield event.value, call


def _is_sure(layer: Shell) -> bool:
    """True if a layer is made under no condition."""
    value, function = layer.value, layer.function
    event = None if value is None or function is None else function.flow.circumstances(value)
    return event is None or event.guard is None


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


def _is_quiet(call: Value, function: Function, project: Project) -> bool:
    """True if no gradients are recorded where a call is made, or perhaps none."""
    event = function.flow.circumstances(call)
    contexts = (*(() if event is None else event.contexts), *function.signature.decorators)
    return any(records_nothing(context, function.module, project, perhaps=True) for context in contexts)
