"""May a number that a function rounds be the side of an image? The value graph and the names of calls tell.

This is asked before anything is run, and over-approximates: from the dividend it goes backwards through the function,
the arguments of its callers and the attributes of its class to an operation that measures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.arguments import possible_arguments
from modellint.graph.definitions import DefinedClass, DefinedFunction
from modellint.graph.value import EventKind, Nested, Op, is_self, walk_all

from .rounding import MEASURING, called_as, nested_returns, ratios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.rule import Project

    from .rounding import Reach

    #: Yields the functions that mention one of those given, each with the name under which it does.
    Mentioning: TypeAlias = Callable[[Iterable[Function]], Iterator[tuple[Function, str]]]


class Measured:
    """Follows numbers back to measured sizes, through no more than `calls` callers of a function."""

    def __init__(self, project: Project, reach: Reach, mentioning: Mentioning, calls: int) -> None:
        self._project = project
        self._reach = reach
        self._mentioning = mentioning
        self._calls = calls
        self._known: dict[tuple[int, int], bool] = {}
        self._arriving: dict[tuple[Function, str, int], bool] = {}
        self._uses: dict[Function, list[tuple[Function, Value | None]]] = {}

    def rounds_measured(self, function: Function) -> bool:
        """True if the function may round a size that it or one of its callers has measured."""
        divided = (ratio.args[0] for ratio in ratios(function))
        return any(self._may_be(value, function, self._calls) for value in divided)

    def _may_be(self, value: Value, function: Function, calls: int) -> bool:
        """True if the value may be, or be computed from, a measured size."""
        pending, seen = [value], {id(value)}
        for part in pending:
            key = id(part), calls
            if key not in self._known:
                self._known[key] = False  # a loop, which adds nothing by itself
                self._known[key] = self._is_measured(part, function, calls)
            if self._known[key]:
                return True
            for inner in (*part.args, *nested_returns(part)):
                if id(inner) not in seen:
                    seen.add(id(inner))
                    pending.append(inner)
        return False

    def _is_measured(self, value: Value, function: Function, calls: int) -> bool:
        """True if the value itself is a measured size, whatever it is computed from."""
        if value.op is Op.PARAM:
            return not is_self(value) and self._arrives(function, str(value.data), calls)
        if value.op is Op.ATTR:
            if value.data in MEASURING:
                return True
            is_own = is_self(value.args[0]) and function.owner is not None
            return is_own and self._is_kept(str(value.data), function, calls)
        if value.op is Op.LAMBDA:
            return isinstance(value.data, Nested) and value.data.flow is not None
        return value.op is Op.CALL and self._gives(value.callee, function)

    def _gives(self, callee: Value, function: Function) -> bool:
        """True if the callee may measure something, judged by the names that it mentions."""
        if callee.op is not Op.GLOBAL and callee.op is not Op.ATTR:
            return False
        name = str(callee.data)
        if name in MEASURING:
            return True
        called = [other for other in function.module.all_functions() if called_as(other) == name]
        definition = self._project.names.definition(function.module, callee)
        if isinstance(definition, DefinedFunction):
            called.append(definition.function)
        elif isinstance(definition, DefinedClass):
            called += definition.cls.methods.values()
        elif callee.op is Op.ATTR and function.owner is not None:
            models = self._project.classes.model(function.owner).mro()
            called += [model.cls.methods[name] for model in models if model.cls and name in model.cls.methods]
        return any(map(self._reach.may_measure, called))

    def _is_kept(self, name: str, function: Function, calls: int) -> bool:
        """True if the attribute `name` of the method's object may hold a measured size."""
        assert function.owner is not None
        for model in self._project.classes.model(function.owner).mro():
            for method in () if model.cls is None else model.cls.methods.values():
                for event in method.flow.of(EventKind.STORE) if name in method.words else ():
                    is_named = event.target is not None and _is_named(event.target, name)
                    if is_named and self._may_be(event.value, method, calls):
                        return True
        return False

    def _arrives(self, function: Function, name: str, calls: int) -> bool:
        """True if a caller may pass a measured size for the parameter `name`."""
        if not calls:
            return False
        key = function, name, calls
        if key not in self._arriving:
            self._arriving[key] = False
            self._arriving[key] = any(
                call is None or self._is_given(call, name, function, user, calls - 1)
                for user, call in self._calls_of(function)
            )
        return self._arriving[key]

    def _is_given(self, call: Value, name: str, function: Function, user: Function, calls: int) -> bool:
        """True if the call passes a measured size to the function, or beside the class that the function constructs."""
        is_called = call.callee.op in (Op.GLOBAL, Op.ATTR) and call.callee.data == called_as(function)
        pairs = (
            possible_arguments(function.open_parameters, call) if is_called else ((name, arg) for arg in call.args[1:])
        )
        return any(self._may_be(arg, user, calls) for other, arg in pairs if other == name)

    def _calls_of(self, function: Function) -> list[tuple[Function, Value | None]]:
        """The calls of a function with their callers; None for a caller that passes the function on.

        A call that is passed the class which the function constructs counts as one of its calls: arguments from
        elsewhere are settings.
        """
        if function not in self._uses:
            users = dict.fromkeys(user for user, _ in self._mentioning([function]))
            self._uses[function] = [(user, call) for user in users for call in _uses(user, function)]
        return self._uses[function]


def _uses(user: Function, function: Function) -> Iterator[Value | None]:
    """The calls in a function that call another one, or are given its class; None where it is mentioned otherwise."""
    name, is_method_of_class = called_as(function), function.name.startswith("__")
    told: set[int] = set()
    mentions: list[Value] = []
    for value in walk_all(user.flow.values):
        if value.op is Op.CALL:
            handed = [arg for arg in value.args[1:] if _is_named(arg, name)] if is_method_of_class else []
            if _is_named(value.callee, name) or handed:
                told.update(map(id, (value.callee, *handed)))
                yield value
        elif _is_named(value, name):
            mentions.append(value)
    if any(id(value) not in told for value in mentions):
        yield None


def _is_named(value: Value, name: str) -> bool:
    return value.op in (Op.GLOBAL, Op.ATTR) and value.data == name
