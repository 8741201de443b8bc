"""Layers that are made while a layer runs: constructors in `forward` and in functions that it calls.

The run makes an object and calls its entry. A layer that is constructed there and called is a new one at each call.
A layer that is kept from the first call (`if self.x is None:`), or whose parameters are computed from others
(`conv.weight = kernel`), does not count, nor does one that is not called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, walk_all

from .first_call import FirstCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

#: Methods that run whenever a layer does.
ENTRIES = ("forward", "__call__", "training_step")
#: Decorators that keep a function's results.
_KEEPS = frozenset(f"functools.{name}" for name in ("cache", "lru_cache", "cached_property"))


@dataclass(frozen=True, eq=False)
class Creation:
    """A layer with parameters that `entry` makes at each call on an object of `cls`.

    `function` holds the constructor `call`; `route` are the calls that lead there, outermost first; `use` is the call
    of the new layer. `is_certain`: the layer has parameters whatever its arguments. `is_conditional`: a condition on
    arguments decides whether it is made.
    """

    cls: Class | None
    entry: Function
    function: Function
    call: Value
    model: queries.ClassModel
    route: tuple[queries.Step, ...]
    use: queries.Step
    is_certain: bool
    is_conditional: bool
    attribute: str | None = None


class Creations:
    """Finds layers that are made while a layer runs. Reached as `project.of(Creations)`; one for each file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._first_call = FirstCall(project)

    def of(self, module: ModuleFacts) -> Iterator[Creation]:
        """The creations that a file takes part in, each constructor once.

        Those are made by its classes' `forward` methods, or by its functions for a neighbouring file's.
        """
        seen: set[int] = set()
        for creation in (*self._by_entries(module), *self._for_neighbours(module)):
            if id(creation.call) not in seen:
                seen.add(id(creation.call))
                yield creation

    def _for_neighbours(self, module: ModuleFacts) -> Iterator[Creation]:
        others: dict[str, ModuleFacts] = {}
        for function in module.functions.values():
            if queries.may_make_layers(function, None, self._project):
                modules = (caller.module for caller in queries.flow(function.module, self._project).callers(function))
                others.update((other.path, other) for other in modules)
        others.pop(module.path, None)
        for other in others.values():
            yield from (creation for creation in self._by_entries(other) if creation.function.module is module)

    def _by_entries(self, module: ModuleFacts) -> Iterator[Creation]:
        for cls in module.classes.values():
            if not cls.methods and self._is_of_torch(cls):
                continue
            model = self._project.classes.model(cls)
            for name in ENTRIES:
                entry = model.method(name)
                if entry is not None and self._is_worth_a_run(entry, cls, model):
                    for creation in self._made_by(entry, model):
                        steps = (*creation.route, creation.use)
                        if any(step.function.module is module for step in steps):
                            yield creation

    def _is_of_torch(self, cls: Class) -> bool:
        """True if all bases of a class are torch's."""
        bases = (self._project.names.definition(cls.module, base) for base in cls.bases)
        return all(isinstance(base, External) and base.name.startswith("torch.") for base in bases)

    def _is_worth_a_run(self, entry: Function, cls: Class, model: queries.ClassModel) -> bool:
        """True if a method may make layers, and reaches code that is the class's own, or of no layer."""
        if model.is_module is False or not queries.may_make_layers(entry, model, self._project):
            return False
        owners = {function.owner for function in queries.reached_on_object(entry, model, self._project)} - {None}
        return any(
            owner is cls or self._project.classes.model(owner).is_module is not True
            for owner in owners
            if owner is not None
        )

    # -- one object at work ----------------------------------------------------------------------------------------

    def _made_by(self, entry: Function, model: queries.ClassModel) -> Iterator[Creation]:
        for layer in queries.flow(entry.module, self._project).late_layers(entry, model):
            condition = self._condition(layer, model)
            has_parameters = False if condition is None else layer.has_parameters
            use = layer.use() if has_parameters is not False else None
            if condition is None or use is None or layer.model is None:
                continue
            *route, made = layer.route
            is_certain = has_parameters is True
            steps = made.function, made.value, layer.model, tuple(route), use
            yield Creation(model.cls, entry, *steps, is_certain, condition, layer.attribute)

    def _condition(self, layer: queries.LateLayer, model: queries.ClassModel) -> bool | None:
        """True if a condition on the route depends on arguments; None if the route runs once only, or is cached."""
        if any(_keeps_results(function, self._project) for function in dict.fromkeys(s.function for s in layer.route)):
            return None
        found = False
        for step in layer.route:
            module = step.function.module
            condition = self._first_call.condition(step.guard, model.cls, module, step.value, layer.attribute)
            if condition is None:
                return None
            found = found or condition
        return found


def _keeps_results(function: Function, project: Project) -> bool:
    """True if a decorator caches a function's results: a known one, or one that can be read and stores."""
    for decorator in function.signature.decorators:
        name = decorator.callee if decorator.op is Op.CALL else decorator
        found = project.names.definition(function.module, name)
        if isinstance(found, External) and found.name in _KEEPS:
            return True
        if isinstance(found, DefinedFunction) and _stores(found.function):
            return True
    return False


def _stores(decorator: Function) -> bool:
    """True if a decorator stores the result of the function that it or its wrapper is given."""
    flow = decorator.flow
    given = {id(value) for nested in flow.nested for value in nested.parameters.values()}

    def gives(value: Value) -> bool:
        return value.op is Op.CALL and (value.callee.op is Op.PARAM or id(value.callee) in given)

    for event in flow.events:
        is_stored = event.kind is EventKind.STORE or (event.kind is EventKind.CALL and not gives(event.value))
        stored = event.value.args[1:] if event.kind is EventKind.CALL else (event.value,)
        if is_stored and any(map(gives, walk_all(stored))):
            return True
    return False
