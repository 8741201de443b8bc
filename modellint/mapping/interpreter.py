"""Builds objects with numbers: runs constructors over value graphs, loops unrolled, to count the parameters.

This is a narrow interpreter. Numbers may be symbolic, calls go to functions and classes that can be read, and what
it cannot follow is UNKNOWN; an object that something unknown may have been put into has no known number of parameters.
Nothing that is read is ever run.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from modellint.graph.size import Size, Symbol
from modellint.graph.value import Event, EventKind, Guard, Loop, Op, Value
from modellint.knowledge import parameter_counts
from modellint.link.classes import calls
from modellint.link.classes.definitions import SourceFacts, SourceMethod
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction, External
from modellint.mapping import builtin_calls
from modellint.mapping.objects import (
    UNKNOWN,
    ClassRef,
    Function,
    Text,
    Thing,
    UncertainError,
    Weights,
    number,
    perhaps,
    same,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modellint.graph.python import Function as Body
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Flow
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition
    from modellint.link.project import Project

_MAX_STEPS = 400_000
#: How deeply calls may be nested.
_MAX_CALLS = 24
_MAX_TURNS = 512
_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_EXACT = {
    "//": operator.floordiv,
    "/": operator.truediv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "|": operator.or_,
    "&": operator.and_,
}
_COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: No result may be larger: this is about numbers of parameters.
_LARGEST = 10**30


class _Frame:
    """One function body that runs: `names` are its parameters, `memo` what its values came to, innermost turn last."""

    __slots__ = ("above", "flow", "inside", "memo", "module", "names", "receiver")

    def __init__(
        self, module: ModuleFacts, flow: Flow, names: Mapping[str, Any], receiver: Thing | None, above: int
    ) -> None:
        self.module = module
        self.flow = flow
        self.names = names
        self.receiver = receiver
        #: How far up the MRO the method was found.
        self.above = above
        self.memo: list[dict[int, Any]] = [{}]
        #: Events inside of comprehensions, which are evaluated where their lists are needed.
        self.inside = {n for loop in flow.loops if loop.result is not None for n in range(loop.first, loop.last)}


class Interpreter:
    """Runs constructors. One is good for one question: it gives up after so many steps."""

    def __init__(self, project: Project) -> None:
        self.project = project
        #: Objects made of what stands in a recipe, by its identity.
        self.made: dict[int, Any] = {}
        self._steps = 0
        self._calls = 0

    # -- objects -----------------------------------------------------------------------------------------------

    def build(self, model: ClassModel, positional: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """What calling a class gives. Raises UncertainError if that takes too long to find out."""
        name = model.name
        if name in calls.TENSOR_CLASSES:
            return builtin_calls.parameter(positional, keywords, is_parameter=not name.endswith("Buffer"))
        thing = Thing(model)
        if parameter_counts.describes(name):
            thing.describe(name, tuple(positional), keywords)
        elif name in calls.CONTAINERS:
            thing.fill([*positional, *keywords.values()])
        elif isinstance(model.facts, SourceFacts):
            self._construct(thing, 0, positional, keywords)
        elif model.has_state() is not False:
            thing.is_open = True
        return thing

    def generic(self, model: ClassModel) -> Thing:
        """An object built with symbols for what has no default: parameters called by their names."""
        keywords = {}
        for parameter in model.signature or ():
            if parameter.kind in ("positional", "keyword") and parameter.default is None:
                keywords[parameter.name] = Size.symbol(Symbol(model.name, parameter.name))
        thing = Thing(model)
        if isinstance(model.facts, SourceFacts):
            self._construct(thing, 0, (), keywords)
        return thing

    def _construct(self, thing: Thing, start: int, positional: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Run the constructor that the classes of the MRO from `start` on define."""
        mro = thing.model.mro()
        for above in range(start, len(mro)):
            owner = mro[above]
            if owner.name == calls.MODULE:
                return
            if parameter_counts.describes(owner.name):
                thing.describe(owner.name, tuple(positional), keywords)
                return
            if owner.name in calls.CONTAINERS:
                thing.fill([*positional, *keywords.values()])
                return
            method = owner.own_method("__init__")
            if isinstance(method, SourceMethod):
                self._run(method.function, thing, above, positional, keywords)
                return
            if owner.facts.fields is not None and isinstance(owner.facts, SourceFacts):
                self._set_fields(thing, owner.facts, positional, keywords)
                return
            if owner.facts.has_method("__init__"):
                thing.is_open = thing.is_open or owner.is_module is not False
                return
        thing.is_open = thing.is_open or not thing.model.is_complete

    def _set_fields(self, thing: Thing, facts: SourceFacts, given: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        for index, field in enumerate(facts.fields or ()):
            if index < len(given):
                thing.attributes[field.name] = given[index]
            elif field.name in keywords:
                thing.attributes[field.name] = keywords[field.name]
            elif field.default is not None:
                thing.attributes[field.name] = self._elsewhere(field.default, facts.cls.module)

    # -- functions ---------------------------------------------------------------------------------------------

    def _run(
        self, body: Body, receiver: Thing | None, above: int, positional: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any:
        if self._calls >= _MAX_CALLS:
            raise UncertainError
        self._calls += 1
        try:
            names = self._bound(body, receiver is not None, positional, keywords)
            frame = _Frame(body.module, body.flow, names, receiver, above)
            done, result = self._block(frame, None, 0, len(frame.flow.events))
            return result if done else None
        finally:
            self._calls -= 1

    def _bound(
        self, body: Body, is_method: bool, positional: Sequence[Any], keywords: Mapping[str, Any]
    ) -> dict[str, Any]:
        parameters = body.parameters[1:] if is_method and not body.is_static else body.parameters
        bound: dict[str, Any] = {}
        rest, named = list(positional), dict(keywords)
        for parameter in parameters:
            if parameter.kind == "var-positional":
                bound[parameter.name], rest = tuple(rest), []
            elif parameter.kind == "var-keyword":
                bound[parameter.name], named = dict(named), {}
            elif parameter.kind == "positional" and rest:
                bound[parameter.name] = rest.pop(0)
            elif parameter.name in named:
                bound[parameter.name] = named.pop(parameter.name)
            elif parameter.default is not None:
                bound[parameter.name] = self._elsewhere(parameter.default, body.module)
            else:
                bound[parameter.name] = UNKNOWN
        return bound

    def _elsewhere(self, value: Value, module: ModuleFacts) -> Any:
        """What a default or a constant comes to, outside of any function."""
        return self.evaluate(value, _Frame(module, module.body.flow, {}, None, 0))

    def _block(self, frame: _Frame, within: Loop | None, start: int, end: int) -> tuple[bool, Any]:
        """Run the events from `start` to `end`; whether the function returned, and what."""
        position = start
        for loop in _loops_in(frame.flow, within, start, end):
            if loop.result is not None or loop.first < position:
                continue
            outcome = self._events(frame, position, loop.first)
            if not outcome[0]:
                outcome = self._loop(frame, loop)
            if outcome[0]:
                return outcome
            position = loop.last
        return self._events(frame, position, end)

    def _events(self, frame: _Frame, start: int, end: int) -> tuple[bool, Any]:
        for position in range(start, end):
            if position in frame.inside:
                continue
            event = frame.flow.events[position]
            self._spend()
            holds = self._holds(event.guard, frame)
            if holds is False:
                continue
            if event.kind is EventKind.RETURN:
                if holds is None:
                    raise UncertainError
                return True, self.evaluate(event.value, frame)
            if event.kind is EventKind.RAISE:
                if holds:
                    raise UncertainError
            elif holds:
                self._do(event, frame)
            else:
                self._may_do(event, frame)
        return False, None

    def _loop(self, frame: _Frame, loop: Loop) -> tuple[bool, Any]:
        outer = frame.memo[-1]
        elements = None
        if len(loop.turns) == 1 and not loop.is_left:
            elements = builtin_calls.elements(self.evaluate(loop.turns[0][1], frame))
        if elements is None or len(elements) > _MAX_TURNS:
            self._may_turn(frame, loop)
            return False, None
        for choice in loop.carried:
            outer[id(choice)] = self.evaluate(choice.args[0], frame) if choice.args else UNKNOWN
        last: dict[int, Any] = {}
        for element in elements:
            frame.memo.append({id(loop.turns[0][0]): element})
            outcome = self._block(frame, loop, loop.first, loop.last)
            after = [(choice, self.evaluate(choice.args[1], frame)) for choice in loop.carried if len(choice.args) > 1]
            last = frame.memo.pop()
            if outcome[0]:
                return outcome
            outer.update({id(choice): value for choice, value in after})
        for key, value in last.items():  # what names hold after the loop
            outer.setdefault(key, value)
        return False, None

    def _may_turn(self, frame: _Frame, loop: Loop) -> None:
        """A loop runs any number of times."""
        for choice in loop.carried:
            frame.memo[-1][id(choice)] = UNKNOWN
        frame.memo.append({id(item): UNKNOWN for item, _ in loop.turns})
        for position in range(loop.first, loop.last):
            event = frame.flow.events[position]
            self._spend()
            if position in frame.inside or self._holds(event.guard, frame) is False:
                continue
            if event.kind is EventKind.RETURN:
                raise UncertainError
            self._may_do(event, frame)
        frame.memo.pop()

    def _spend(self) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise UncertainError

    # -- conditions --------------------------------------------------------------------------------------------

    def _holds(self, guard: Guard | None, frame: _Frame) -> bool | None:
        """Whether all conditions of a guard hold; inside of nested functions nothing happens."""
        result: bool | None = True
        links = list(guard.chain()) if guard is not None else []
        for link in reversed(links):
            if link.test.op is Op.UNKNOWN and link.test.data in ("nested", "except"):
                return False
            truth = self._truth(self.evaluate(link.test, frame))
            if truth is None:
                if not (link.early and link.truthy):  # an assertion holds where an object comes of it
                    result = None
            elif truth is not link.truthy:
                return False
        return result

    @staticmethod
    def _truth(value: Any) -> bool | None:
        if value is UNKNOWN or isinstance(value, Text):
            return None
        if isinstance(value, Size):
            return None if value.constant is None else bool(value.constant)
        if isinstance(value, Thing | ClassRef | Function | Weights):
            return True
        return bool(value)

    # -- effects -----------------------------------------------------------------------------------------------

    def _do(self, event: Event, frame: _Frame) -> None:
        if event.kind is EventKind.CALL:
            self.evaluate(event.value, frame)
        elif event.kind is EventKind.STORE and event.target is not None:
            self._store(event.target, self.evaluate(event.value, frame), frame)

    def _store(self, target: Value, value: Any, frame: _Frame) -> None:
        owner = self.evaluate(target.args[0], frame)
        if target.op is Op.ATTR:
            if isinstance(owner, Thing):
                owner.keep(str(target.data), value)
        elif isinstance(owner, Thing):
            owner.fill([value])
        elif isinstance(owner, list | dict):
            key = number(self.evaluate(target.args[1], frame))
            try:
                owner[key] = value
            except (TypeError, IndexError, KeyError):
                raise UncertainError from None

    def _may_do(self, event: Event, frame: _Frame) -> None:
        """Something happens or not: what it may add to an object is not known any more."""
        if event.kind is EventKind.STORE and event.target is not None:
            target = event.target
            owner = self.evaluate(target.args[0], frame)
            before = owner.attributes.get(str(target.data)) if isinstance(owner, Thing) else None
            value = self.evaluate(event.value, frame)
            if target.op is Op.ATTR and isinstance(owner, Thing):
                owner.attributes[str(target.data)] = perhaps(before, value)
            elif isinstance(owner, Thing):
                owner.is_open = True
            elif target.op is Op.INDEX and isinstance(owner, list | dict):
                raise UncertainError
        elif event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR:
            owner = self.evaluate(event.value.callee.args[0], frame)
            name = str(event.value.callee.data)
            if isinstance(owner, list | dict) and name in builtin_calls.MUTATORS:
                raise UncertainError
            if isinstance(owner, Thing) and (name in builtin_calls.ADDERS or owner is frame.receiver):
                owner.is_open = True

    # -- expressions -------------------------------------------------------------------------------------------

    def evaluate(self, value: Value, frame: _Frame) -> Any:
        """What a value comes to, now."""
        key = id(value)
        for memo in reversed(frame.memo):
            if key in memo:
                return memo[key]
        self._spend()
        result = self._evaluate(value, frame)
        # Attributes change as the run goes on.
        if value.op is not Op.ATTR:
            frame.memo[-1][key] = result
        return result

    def _evaluate(self, value: Value, frame: _Frame) -> Any:
        op = value.op
        if op is Op.CONST:
            return value.data
        if op is Op.PARAM:
            return frame.receiver if value.data == "self" else frame.names.get(value.data, UNKNOWN)
        if op is Op.GLOBAL:
            return self._global(value, frame)
        if op is Op.ATTR:
            return self._attribute(value, frame)
        if op is Op.CALL:
            return self._call(value, frame)
        if op is Op.BIN:
            return _binary(value.data, self.evaluate(value.args[0], frame), self.evaluate(value.args[1], frame))
        if op is Op.LIST:
            return list(self._items(value.args, frame))
        if op is Op.TUPLE:
            return tuple(self._items(value.args, frame))
        if op is Op.DICT:
            return self._dict(value, frame)
        if op is Op.COMPREHENSION:
            return self._comprehension(value, frame)
        if op is Op.CHOICE:
            return self._choice(value, frame)
        if op is Op.COMPARE:
            return _compare(value.data, self.evaluate(value.args[0], frame), self.evaluate(value.args[1], frame))
        if op is Op.BOOL:
            return self._bool(value, frame)
        if op is Op.UNARY:
            return _unary(value.data, self.evaluate(value.args[0], frame))
        if op is Op.INDEX:
            return self._index(value, frame)
        if op is Op.UNPACK:
            return builtin_calls.part(self.evaluate(value.args[0], frame), value.data if value.data >= 0 else UNKNOWN)
        if op is Op.UPDATE:
            owner = self.evaluate(value.args[0], frame)
            return owner if isinstance(owner, list | dict | Thing) else UNKNOWN
        return Text() if op is Op.STRING else UNKNOWN

    def _items(self, args: Sequence[Value], frame: _Frame) -> Iterator[Any]:
        for arg in args:
            if arg.op is Op.STARRED:
                inner = builtin_calls.elements(self.evaluate(arg.args[0], frame))
                if inner is None:
                    raise UncertainError
                yield from inner
            else:
                yield self.evaluate(arg, frame)

    def _dict(self, value: Value, frame: _Frame) -> Any:
        result: dict[Any, Any] = {}
        for key, arg in zip(value.data, value.args, strict=True):
            inner = self.evaluate(arg, frame)
            if key is None:
                if not isinstance(inner, dict):
                    return UNKNOWN
                result.update(inner)
                continue
            name = number(self.evaluate(key, frame))
            if not isinstance(name, str | int | float | None):
                return UNKNOWN
            result[name] = inner
        return result

    def _comprehension(self, value: Value, frame: _Frame) -> Any:
        loop = next((loop for loop in frame.flow.loops if loop.result is value), None)
        if loop is None or value.data not in ("list", "generator", "dict"):
            return UNKNOWN
        found: list[Any] = []
        self._turns(value, loop.turns, frame, found)
        if value.data == "dict":
            pairs = [(number(key), item) for key, item in found]
            return dict(pairs) if all(isinstance(key, str | int) for key, _ in pairs) else UNKNOWN
        return found

    def _turns(self, value: Value, turns: tuple[tuple[Value, Value], ...], frame: _Frame, found: list[Any]) -> None:
        if not turns:
            holds = self._holds(value.guard, frame)
            if holds is None:
                raise UncertainError
            if holds:
                made = [self.evaluate(arg, frame) for arg in value.args]
                found.append(made[0] if len(made) == 1 else tuple(made))
            return
        (item, iterable), *rest = turns
        elements = builtin_calls.elements(self.evaluate(iterable, frame))
        if elements is None or len(elements) > _MAX_TURNS:
            raise UncertainError
        for element in elements:
            frame.memo.append({id(item): element})
            self._turns(value, tuple(rest), frame, found)
            frame.memo.pop()

    def _choice(self, value: Value, frame: _Frame) -> Any:
        if isinstance(value.data, Value) and len(value.args) == 2:
            truth = self._truth(self.evaluate(value.data, frame))
            if truth is not None:
                return self.evaluate(value.args[0 if truth else 1], frame)
        if isinstance(value.data, Value) or len(value.args) != 1:
            options = [self.evaluate(arg, frame) for arg in value.args]
            return options[0] if all(same(options[0], other) for other in options[1:]) else UNKNOWN
        return self.evaluate(value.args[0], frame)

    def _bool(self, value: Value, frame: _Frame) -> Any:
        result: Any = UNKNOWN
        is_open = False
        for arg in value.args:
            result = self.evaluate(arg, frame)
            truth = self._truth(result)
            if truth is None:
                is_open = True
            elif truth is (value.data == "or"):
                # It decides the truth of the whole, though not which operand it is.
                return UNKNOWN if is_open and value.data == "or" and not isinstance(result, bool) else result
        return UNKNOWN if is_open else result

    def _index(self, value: Value, frame: _Frame) -> Any:
        owner, subscript = self.evaluate(value.args[0], frame), value.args[1]
        if subscript.op is Op.SLICE:
            bounds = [number(self.evaluate(arg, frame)) for arg in subscript.args]
            if not isinstance(owner, list | tuple) or not all(isinstance(bound, int | None) for bound in bounds):
                return UNKNOWN
            return owner[slice(*bounds)]
        return builtin_calls.part(owner, self.evaluate(subscript, frame))

    def _global(self, value: Value, frame: _Frame) -> Any:
        return self._stands_for(self.project.names.definition(frame.module, value))

    def _stands_for(self, definition: Definition | None) -> Any:
        if isinstance(definition, DefinedConstant):
            return self._elsewhere(definition.value, definition.module)
        if isinstance(definition, DefinedFunction):
            return Function(definition.function)
        if isinstance(definition, DefinedClass | External):
            model = self.project.classes.of(definition)
            if model is not None:
                return ClassRef(model)
            return Function(None, name=definition.name) if isinstance(definition, External) else UNKNOWN
        return UNKNOWN

    def _attribute(self, value: Value, frame: _Frame) -> Any:
        name = str(value.data)
        definition = self.project.names.definition(frame.module, value)
        if definition is not None:
            return self._stands_for(definition)
        owner = self.evaluate(value.args[0], frame)
        if isinstance(owner, Size) and owner.only_symbol is not None:
            symbol = owner.only_symbol
            return Size.symbol(Symbol(symbol.owner, f"{symbol.name}.{name}"))
        return self._member(owner, name) if isinstance(owner, Thing) else UNKNOWN

    def _member(self, owner: Thing, name: str) -> Any:
        """An attribute of an object: stored, a method, or of its class."""
        if name in owner.attributes:
            return owner.attributes[name]
        for above, model in enumerate(owner.model.mro()):
            method = model.own_method(name)
            if isinstance(method, SourceMethod):
                if method.function.is_property:
                    return self._run(method.function, owner, above, (), {})
                return Function(method.function, owner=owner, above=above)
            stored = model.facts.attributes.get(name)
            if stored is not None and isinstance(model.facts, SourceFacts):
                return self._elsewhere(stored, model.facts.cls.module)
        return UNKNOWN

    # -- calls -------------------------------------------------------------------------------------------------

    def _call(self, call: Value, frame: _Frame) -> Any:
        callee = call.callee
        if callee.op is Op.ATTR and self._is_super(callee.args[0], frame):
            positional, keywords = self._arguments(call, frame)
            return self._super(callee.args[0], str(callee.data), frame, positional, keywords)
        function = self._callee(callee, frame)
        positional, keywords = self._arguments(call, frame)
        return self.apply(function, positional, keywords, frame)

    def _callee(self, callee: Value, frame: _Frame) -> Any:
        """What is called; the method of an object that has no such attribute of its own is known by name."""
        found = self.evaluate(callee, frame)
        if found is UNKNOWN and callee.op is Op.ATTR:
            owner = self.evaluate(callee.args[0], frame)
            if isinstance(owner, Thing | Weights | list | tuple | dict | str):
                return Function(None, name=str(callee.data), owner=owner)
        return found

    def _arguments(self, call: Value, frame: _Frame) -> tuple[list[Any], dict[str, Any]]:
        positional = list(self._items(call.positional, frame))
        keywords: dict[str, Any] = {}
        start = len(call.args) - len(call.data)
        for index, name in enumerate(call.data):
            value = self.evaluate(call.args[start + index], frame)
            if name is not None:
                keywords[name] = value
            elif isinstance(value, dict):
                keywords.update({str(key): item for key, item in value.items()})
            else:
                raise UncertainError
        return positional, keywords

    def apply(self, function: Any, positional: list[Any], keywords: dict[str, Any], frame: _Frame | None) -> Any:
        """What calling something gives."""
        if isinstance(function, ClassRef):
            return self.build(function.model, [*function.positional, *positional], {**function.keywords, **keywords})
        if not isinstance(function, Function):
            self._given_away([*positional, *keywords.values()], frame)
            return UNKNOWN
        if function.body is not None:
            owner = function.owner if isinstance(function.owner, Thing) else None
            if function.body.name == "__init__" and owner is None and positional and isinstance(positional[0], Thing):
                return UNKNOWN
            return self._run(function.body, owner, function.above, positional, keywords)
        result = builtin_calls.call(function, positional, keywords)
        if result is UNKNOWN and function.name not in builtin_calls.ONLOOKERS:
            self._given_away([*positional, *keywords.values()], frame)
        return result

    @staticmethod
    def _given_away(values: list[Any], frame: _Frame | None) -> None:
        """Whoever is given the object under construction may add to it."""
        if frame is not None and frame.receiver is not None and any(value is frame.receiver for value in values):
            frame.receiver.is_open = True

    @staticmethod
    def _is_super(owner: Value, frame: _Frame) -> bool:
        return owner.op is Op.CALL and owner.callee.op is Op.GLOBAL and owner.callee.data == "super"

    def _super(self, owner: Value, name: str, frame: _Frame, positional: list[Any], keywords: dict[str, Any]) -> Any:
        receiver = frame.receiver
        if receiver is None:
            return UNKNOWN
        mro = receiver.model.mro()
        start = frame.above
        if owner.positional:
            named = self.evaluate(owner.positional[0], frame)
            if isinstance(named, ClassRef):
                start = next((above for above, model in enumerate(mro) if model is named.model), start)
        if name == "__init__":
            self._construct(receiver, start + 1, positional, keywords)
            return None
        for above, model in enumerate(mro):
            method = model.own_method(name) if above > start else None
            if isinstance(method, SourceMethod):
                return self._run(method.function, receiver, above, positional, keywords)
        return builtin_calls.call(Function(None, name=name, owner=receiver), positional, keywords)


def _loops_in(flow: Flow, within: Loop | None, start: int, end: int) -> Iterator[Loop]:
    """The loops that begin between two events, those inside of others and of `within` itself left out."""
    position = start
    begun = within is None
    for loop in flow.loops:
        if loop is within:
            begun = True
        elif begun and start <= loop.first and loop.last <= end and loop.first >= position:
            yield loop
            if loop.result is None:
                position = max(position, loop.last)


def _binary(symbol: str, left: Any, right: Any) -> Any:
    left, right = number(left), number(right)
    if isinstance(left, Size) or isinstance(right, Size):
        first, second = whole(left), whole(right)
        if first is None or second is None or symbol not in _ARITHMETIC:
            return UNKNOWN
        result: Size = _ARITHMETIC[symbol](first, second)
        return number(result)
    if isinstance(left, list | tuple | str) or isinstance(right, list | tuple | str):
        return _joined(symbol, left, right)
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        return UNKNOWN
    if symbol in ("**", "<<") and (abs(right) > 64 or abs(left) > _LARGEST):
        return UNKNOWN
    try:
        found = {**_ARITHMETIC, **_EXACT}[symbol](left, right)
    except (KeyError, TypeError, ArithmeticError, ValueError):
        return UNKNOWN
    return found if isinstance(found, int | float) and abs(found) < _LARGEST else UNKNOWN


def _joined(symbol: str, left: Any, right: Any) -> Any:
    if symbol == "+" and type(left) is type(right):
        return left + right
    if symbol == "*":
        times, items = (left, right) if isinstance(left, int) else (right, left)
        if isinstance(times, int) and isinstance(items, list | tuple) and len(items) * times <= _MAX_TURNS:
            return items * times
    return UNKNOWN


def _unary(symbol: str, value: Any) -> Any:
    if symbol == "not":
        truth = Interpreter._truth(value)
        return UNKNOWN if truth is None else not truth
    if isinstance(value, Size):
        return -value if symbol == "-" else UNKNOWN
    return -value if symbol == "-" and isinstance(value, int | float) else UNKNOWN


def _compare(symbol: str, left: Any, right: Any) -> Any:
    left, right = number(left), number(right)
    if symbol in ("is", "is not"):
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        if any(isinstance(side, Size) and any("." in s.name for s in side.symbols) for side in (left, right)):
            return UNKNOWN
        if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
            return (left is right) is (symbol == "is")
        return UNKNOWN
    if any(side is UNKNOWN or isinstance(side, Text | Thing) for side in (left, right)):
        return UNKNOWN
    if symbol in ("in", "not in"):
        if not isinstance(right, list | tuple | dict | str) or isinstance(left, Size):
            return UNKNOWN
        if isinstance(right, list | tuple) and any(item is UNKNOWN or isinstance(item, Size) for item in right):
            return UNKNOWN
        try:
            return (left in right) is (symbol == "in")
        except TypeError:
            return UNKNOWN
    if isinstance(left, Size) or isinstance(right, Size):
        return True if symbol == "==" and same(left, right) else UNKNOWN
    try:
        return _COMPARISONS[symbol](left, right)
    except (KeyError, TypeError):
        return UNKNOWN
