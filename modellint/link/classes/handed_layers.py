"""Plain containers of layers that the project passes to constructors which store them unchanged."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.built import has_state
from modellint.flow.domain import ANY_ARGUMENTS, NONE, FunctionRef
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell, Slot, opened
from modellint.flow.runs import started
from modellint.graph.immutable import dataclass
from modellint.graph.python import REST
from modellint.graph.value import NOWHERE, EventKind, Op, Value, called_name, self_attribute
from modellint.link.classes.definitions import SourceMethod
from modellint.link.names import DefinedClass
from modellint.link.values.callers import neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Arguments, Atoms
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Parameter
    from modellint.link.project import Project

_COPYING = frozenset(("list", "tuple", "dict"))
_MOVES = operators.methods("Tensor", "moves")
#: Operations that take an element of a container, or iterate over it.
_TAKING = frozenset((Op.ITEM, Op.UNPACK, Op.INDEX))
#: Operations whose result may be a container that the caller made.
_MADE = frozenset((Op.LIST, Op.TUPLE, Op.DICT, Op.COMPREHENSION, Op.UPDATE, Op.CHOICE, Op.CALL))
_MAX_CALLERS = 3


def handed_layers(cls: Class, project: Project) -> dict[str, Shell]:
    """The containers of new layers that callers in sight pass to stored parameters, by parameter name."""
    wanted = _stored_parameters(cls)
    model = project.classes.model(cls) if wanted else None
    if model is None or model.is_module is not True:
        return {}
    found: dict[str, Shell] = {}
    for caller in islice(_callers(cls, wanted, project), _MAX_CALLERS):
        for name, container in _passed_containers(caller, cls, wanted, project):
            found.setdefault(name, container)
    return found


def keeps_given(cls: Class) -> bool:
    """True if the constructor stores parameters whose elements the methods call."""
    return bool(_stored_parameters(cls))


def _stored_parameters(cls: Class) -> dict[str, _Wanted]:
    """The constructor parameters that are stored and whose elements methods call, by name."""
    constructor = cls.methods.get("__init__")
    called = _attributes_with_called_elements(cls) if constructor is not None else set()
    if constructor is None or not called:
        return {}
    names: set[str] = set()
    rest = {one.name for one in constructor.parameters if one.kind in REST}
    for attribute in called:
        for event in constructor.flow.stores.get(attribute, ()):
            name = argument_of(event.value)
            parts = {part.data for part in event.value.walk() if part.op is Op.PARAM}
            names.update({name} if name is not None else rest & parts)
    parameters = enumerate(constructor.parameters[1:])
    named = frozenset(one.name for one in constructor.parameters)
    return {one.name: _Wanted(one, number, named) for number, one in parameters if one.name in names}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A constructor parameter, its position in a call, and the names of all parameters."""

    parameter: Parameter
    number: int
    named: frozenset[str]

    @property
    def is_rest(self) -> bool:
        """True for `*layers` and `**heads`: it takes the arguments that no other parameter does."""
        return self.parameter.kind.startswith("var")

    def is_made(self, call: Value) -> bool:
        """True if the argument for this parameter may be a container that the caller makes."""
        if self.parameter.kind == "var-positional":
            return bool(call.positional[self.number :])
        if self.parameter.kind == "var-keyword":
            return any(name not in self.named for name in call.keywords)
        given = call.argument(self.number, self.parameter.name)
        return given is not None and given.op in _MADE and not call.has_unpacking

    def value_in(self, arguments: Arguments) -> Atoms:
        """The value of the parameter in a call with these arguments."""
        if not self.is_rest:
            return arguments.argument(self.number, self.parameter.name) or ()
        is_list = self.parameter.kind == "var-positional"
        container = Shell("tuple" if is_list else "dict", None, ())
        for atoms in arguments.positional[self.number :] if is_list else ():
            container.put(atoms, ())
        for name, atoms in () if is_list else arguments.keywords.items():
            if name not in self.named:
                container.put(atoms, (), name)
        return (container,)


def argument_of(stored: Value) -> str | None:
    """The parameter that a stored value is, perhaps copied or filtered for None; None for other values."""
    if stored.op is Op.CALL and called_name(stored.callee) in _COPYING and len(stored.positional) == 1:
        stored = stored.positional[0]
    if stored.op is Op.COMPREHENSION and stored.args[-1].op is Op.ITEM:
        stored = stored.args[-1].args[0]
    return str(stored.data) if stored.op is Op.PARAM else None


def _attributes_with_called_elements(cls: Class) -> set[str]:
    """The attributes of which methods other than the constructor call elements."""
    found: set[str] = set()
    for name, method in cls.methods.items():
        for event in method.flow.of(EventKind.CALL) if name != "__init__" else ():
            if event.value.callee.op in _TAKING:
                found.update(filter(None, map(self_attribute, event.value.callee.walk())))
    return found


def _callers(cls: Class, wanted: dict[str, _Wanted], project: Project) -> Iterator[Function]:
    """The functions in sight that pass containers of their own to the constructor."""
    for module in neighbours(project, cls.module, cls.name):
        for caller in (*module.all_functions(), module.body):
            calls = caller.flow.of(EventKind.CALL) if cls.name in caller.words and caller.owner is not cls else ()
            for call in (event.value for event in calls):
                is_made = any(one.is_made(call) for one in wanted.values())
                if is_made and project.names.definition(module, call.callee) == DefinedClass(cls):
                    yield caller
                    break


def _passed_containers(
    caller: Function, cls: Class, wanted: dict[str, _Wanted], project: Project
) -> Iterator[tuple[str, Shell]]:
    """The containers of new layers that a function passes to the constructor and registers nowhere else."""
    run = started(project)
    owner = caller.owner
    receiver = None if owner is None else Shell("instance", None, (id(owner),), project.classes.model(owner))
    if receiver is not None and receiver.is_layer:
        run.objects.construct(receiver)
    method = SourceMethod(caller, project.names)
    run.calls.apply(FunctionRef(method, None, receiver), ANY_ARGUMENTS, class_frame(method.scope, id(caller)), NOWHERE)
    objects = [*run.shells(), *([receiver] if receiver is not None else [])] if run.is_complete else []
    models = [one for one in objects if one.model is not None and one.model.cls is cls and one.kind == "instance"]
    registered = _registered_layers(objects, cls, wanted)
    for shell in models if models and not _is_moved(run, caller, cls, models) else ():
        for name, one in wanted.items():
            for atom in one.value_in(shell.arguments):
                container = _container(atom, registered) if isinstance(atom, Shell) else None
                if container is not None:
                    yield name, container
    run.close()


def _registered_layers(objects: list[Shell], cls: Class, wanted: dict[str, _Wanted]) -> set[Shell]:
    """The layers that objects register or get as arguments themselves, except through `*layers` of the constructor."""
    found: set[Shell] = set()
    for shell in objects:
        if shell.is_layer:
            held = [store.atoms for store in shell.stores if store.registers]
            held += [entry.atoms for entry in shell.entries] if shell.is_module_container else []
            rest = [one for one in wanted.values() if one.is_rest] if shell.model and shell.model.cls is cls else []
            kept = {part for one in rest for atom in one.value_in(shell.arguments) for part in opened((atom,))}
            given = (atom for atoms in shell.arguments.all() for atom in atoms if atom not in kept)
            found.update(atom for atom in (*chain.from_iterable(held), *given) if isinstance(atom, Shell))
    return found


def _container(given: Shell, registered: set[Shell]) -> Shell | None:
    """A copy of a plain container that holds only new layers; None for anything else."""
    if not given.is_container or given.kind == "generator" or not given.entries:
        return None
    container = Shell(given.kind, given.value, ())
    container.function, container.is_exact = given.function, False
    for layer in (atom for entry in given.entries for atom in entry.atoms if atom != NONE[0]):
        is_new = isinstance(layer, Shell) and layer.is_layer and layer not in registered
        if not is_new or not isinstance(layer, Shell) or layer.model is None or layer.model.is_container:
            return None
        if has_state(layer.model) is not False:
            known = Shell("pretrained", layer.value, (), layer.model)
            known.function = layer.function
            container.entries.append(Slot(None, (known,), ()))
    return container if container.entries else None


def _is_moved(run: Interpreter, caller: Function, cls: Class, models: list[Shell]) -> bool:
    """True if a function, or a callee, moves anything but the objects of the class that it makes."""
    made = {id(shell.value) for shell in models}
    return any(
        event.value.callee.op is Op.ATTR
        and event.value.callee.data in _MOVES
        and id(event.value.callee.args[0]) not in made
        for function in {caller, *run.calls.done}
        if function.owner is not cls
        for event in function.flow.of(EventKind.CALL)
    )
