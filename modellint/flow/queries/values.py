"""Values of a function as rules see them: of which kind they are, where they come from, and who uses them.

The answers follow the value graph, without running anything: through local variables, branches, calls of functions and
methods, attributes of objects, containers and files. They cost little, and know no numbers.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from modellint import operators
from modellint.flow.queries.functions import outcome
from modellint.graph.arguments import bind_call
from modellint.graph.definitions import DefinedClass, DefinedConstant, DefinedFunction, External
from modellint.graph.immutable import dataclass, replace
from modellint.graph.value import EventKind, Op
from modellint.link.calls.doubts import is_overridden
from modellint.link.calls.reached import CallReach, has_foreign
from modellint.link.values.callers import callers
from modellint.link.values.kinds import Kinds
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from modellint.finding import Place
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event, Nested, Value
    from modellint.link.calls.reached import Reached
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

T = TypeVar("T")

#: The most values that are visited to find where one comes from.
_MAX_VALUES = 300
#: The most calls between a value and where it comes from.
_MAX_CALLS = 6
#: The part of a value that is one of its elements, and the one that is a slice of it.
_ANY, _REST = "an element", "a slice"
#: Operators whose result has the elements of their operand, whatever its shape and type.
_PASSING = operators.functions("passed") | operators.functions("same-number")
_PASSING_METHODS = operators.methods("Tensor", "passed") | operators.methods("Tensor", "moves")
_SEQUENTIAL = "torch.nn.Sequential"
_PARTIAL = External("functools.partial")


class Kind(Enum):
    """The kind of a value. `SEVERAL` is a tuple of values, `OBJECT` of a class that is no layer."""

    TENSOR = "tensor"
    NUMBER = "number"
    TEXT = "text"
    NONE = "None"
    SEVERAL = "several values"
    CONTAINER = "container"
    LAYER = "layer"
    OBJECT = "object"
    CLASS = "class"
    FUNCTION = "function"
    UNKNOWN = "unknown"


_BY_OP = {
    Op.TUPLE: Kind.SEVERAL,
    Op.LIST: Kind.CONTAINER,
    Op.SET: Kind.CONTAINER,
    Op.DICT: Kind.CONTAINER,
    Op.COMPREHENSION: Kind.CONTAINER,
    Op.STRING: Kind.TEXT,
    Op.LAMBDA: Kind.FUNCTION,
}


@dataclass(frozen=True, slots=True)
class Context:
    """The call by which a function is reached, so that its parameters have arguments.

    `nested` is the function inside of a function that it runs; None for a function of its own.
    """

    call: Operand
    outer: Context | None
    depth: int
    nested: Nested | None = None
    #: The constants that parameters have by the call.
    constants: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operand:
    """A value in a function: an argument, a result, a callee.

    `part` is the key or index of the element of it that is meant, None for the value itself. `is_applied`: the value
    makes a layer, and the result of calling that is meant.
    """

    value: Value
    function: Function
    project: Project
    part: object = None
    is_applied: bool = False
    #: The call by which a search came to the value, None for one that nobody came to.
    context: Context | None = field(default=None, repr=False)

    def of(self, value: Value) -> Operand:
        """A value of the same function, reached by the same call."""
        return Operand(value, self.function, self.project, context=self.context)

    @property
    def place(self) -> Place:
        """The place where the value is made, which may be far from where it is used."""
        return self.function.module.place(self.value)

    @property
    def text(self) -> str:
        """The source of the value on one line; the name of a parameter."""
        return self.function.module.text_of(self.value)

    # -- kinds -----------------------------------------------------------------------------------------------------

    @property
    def is_tensor(self) -> bool:
        """True if the value is a tensor on every path: made by a factory, an operator or a layer of torch."""
        return kinds_in(self.function, self.project).is_tensor(self.value)

    @property
    def is_number(self) -> bool:
        """True if the value is a plain number on every path."""
        return kinds_in(self.function, self.project).is_number(self.value)

    @property
    def rank(self) -> int | None:
        """The number of dimensions of a tensor; None if it is unknown or depends on the path."""
        kinds = kinds_in(self.function, self.project)
        return kinds.rank(self.value) or kinds.rank_by_use(self.value)

    @property
    def commented_rank(self) -> int | None:
        """The number of dimensions in the comment behind the value, 3 for `# (B, T, T)`; None without one."""
        return kinds_in(self.function, self.project).rank_by_comment(self.value)

    @property
    def is_used_as_tensor(self) -> bool:
        """True if a method that only tensors have is called on the value, whatever path is taken."""
        return kinds_in(self.function, self.project).is_used_as_tensor(self.value)

    @property
    def lacks_method(self) -> bool:
        """True for a call of a method that tensors lack on a tensor: it raises, so its path ends there."""
        return kinds_in(self.function, self.project).is_unknown_method(self.value)

    def torch_layer(self, *beginnings: str) -> str | None:
        """The short name of the layer of torch that the value is, if it begins with one of some texts; else None."""
        return kinds_in(self.function, self.project).layer(self.value, beginnings)

    def kinds(self) -> frozenset[Kind]:
        """The kinds that the value has on its paths, `Kind.UNKNOWN` among them if one of them cannot be told.

        `out if flag else None` of a tensor is `{Kind.TENSOR, Kind.NONE}`.
        """
        return frozenset(leaf.kind() for leaf in self.origins(through_operators=False))

    def kind(self) -> Kind:
        """The kind of the value itself, `Kind.UNKNOWN` if its operation does not tell it."""
        value = self.value
        if self.part is not None or self.is_applied:
            return Kind.TENSOR if self.is_tensor and not self.is_applied else Kind.UNKNOWN
        if value.op in _BY_OP:
            return _BY_OP[value.op]
        if value.op is Op.CONST:
            if value.data is None:
                return Kind.NONE
            return Kind.TEXT if isinstance(value.data, str) else Kind.NUMBER if self.is_number else Kind.UNKNOWN
        if self.is_tensor:
            return Kind.TENSOR
        if self.is_number:
            return Kind.NUMBER
        definition = self.project.names.definition(self.function.module, value)
        if isinstance(definition, DefinedFunction):
            return Kind.FUNCTION
        if definition is not None and self.project.classes.of(definition) is not None:
            return Kind.CLASS
        made = self.made_class()
        return Kind.UNKNOWN if made is None else Kind.LAYER if made.is_module else Kind.OBJECT

    def made_class(self) -> ClassModel | None:
        """The class of the object that a call constructs; None for another value."""
        if self.value.op is not Op.CALL or self.part is not None:
            return None
        callee, names = self.value.callee, self.project.names
        if callee.op is Op.CALL and names.definition(self.function.module, callee.callee) == _PARTIAL:
            callee = callee.positional[0] if callee.positional else callee
        definition = names.definition(self.function.module, callee)
        is_class = isinstance(definition, DefinedClass | External)
        return self.project.classes.of(definition) if is_class else None

    def object_class(self) -> ClassModel | None:
        """The class of the object that the value is on every path; None if it is unknown or one of several.

        The class of `self.loss` where the constructor stores `nn.CrossEntropyLoss()`, of a global `criterion`, of an
        argument where every caller in sight passes an object of one class.
        """
        return self.conclude(_object_class)

    @property
    def is_none(self) -> bool:
        return self.value.op is Op.CONST and self.value.data is None

    # -- where a value comes from ----------------------------------------------------------------------------------

    def made_by(self, *names: str, barriers: Collection[str] = ()) -> Operand | None:
        """The call of one of these functions, methods or layers that makes the value on at least one path.

        Names are dotted: `torch.softmax`, `torch.Tensor.softmax`, `torch.nn.Softmax` (a call of such a layer). The
        search goes through operators that keep the elements, such as `view` and `to`, and stops at `barriers`.
        """
        wanted = frozenset(names)

        def first(leaves: Iterable[Operand]) -> Operand | None:
            return next((leaf for leaf in leaves if leaf.is_call_of(wanted)), None)

        return self.conclude(first, wanted, barriers, through_operators=True)

    def is_made_only_by(self, *names: str) -> bool:
        """True if each path to the value leads from a call of one of these functions, methods or layers."""
        wanted = frozenset(names)

        def are_all(leaves: Iterable[Operand]) -> bool | None:
            found = {leaf.is_call_of(wanted) for leaf in leaves}
            return True if found == {True} else None

        return bool(self.conclude(are_all, wanted, through_operators=True))

    def origins(
        self, wanted: Collection[str] = (), barriers: Collection[str] = (), *, through_operators: bool = True
    ) -> Iterator[Operand]:
        """The values that this one is on its paths, each followed as far as it can be; the nearest ones first."""
        return _Origins(self.project, frozenset(wanted) | frozenset(barriers), through_operators).of(self)

    def conclude(
        self,
        judge: Callable[[Iterable[Operand]], T | None],
        wanted: Collection[str] = (),
        barriers: Collection[str] = (),
        *,
        through_operators: bool = False,
    ) -> T | None:
        """The conclusion of `judge` from the origins of the value, None if it concludes nothing.

        For a `judge` that concludes nothing if one origin is a call of a method that it does not know. Whether a
        subclass overrides a method on the way is asked only where something is concluded: it may take every file of
        the project.
        """
        ends = frozenset(wanted) | frozenset(barriers)
        search = _Origins(self.project, ends, through_operators, follows_overridden=True)
        found = judge(search.of(self))
        if found is None or not search.followed_overridden():
            return found
        return judge(_Origins(self.project, ends, through_operators).of(self))

    def presume(self, judge: Callable[[Iterable[Operand]], T | None]) -> T | None:
        """The conclusion of `judge` from the origins of the value if no subclass overrides a method on the way."""
        return judge(_Origins(self.project, frozenset(), through_operators=False, follows_overridden=True).of(self))

    def is_call_of(self, names: Collection[str]) -> bool:
        """True if the value is a call of a function, method or layer with one of these dotted names.

        A method of tensors counts on an unknown receiver, too: on an argument, for example.
        """
        if self.value.op is not Op.CALL:
            return False
        if not called_names(self).isdisjoint(names):
            return True
        callee = self.value.callee
        return callee.op is Op.ATTR and f"torch.Tensor.{callee.data}" in names and self._may_be_method(callee)

    def _may_be_method(self, callee: Value) -> bool:
        """True if the receiver of a method may be a tensor, for all that is known."""
        if self.project.names.definition(self.function.module, callee) is not None:
            return False
        return self.of(callee.args[0]).object_class() is None

    def uses(self) -> list[Event]:
        """The events of the function that have the value as a part: calls, stores, returns, indices."""
        flow = self.function.flow
        found = (event for event in flow.events if event.value is not self.value)
        return [event for event in found if any(part is self.value for part in event.value.walk())]


def _object_class(leaves: Iterable[Operand]) -> ClassModel | None:
    found = {leaf.made_class() for leaf in leaves if not leaf.is_none}
    return found.pop() if len(found) == 1 else None


def kinds_in(function: Function, project: Project) -> Kinds:
    """The classifier of the values of a function, one for each."""
    return project.once(("kinds", function), lambda: Kinds(project, function))


def called_names(call: Operand) -> frozenset[str]:
    """The dotted names by which a call may be asked for: of the function, the method of a tensor, the layer's class."""
    if call.context is not None:
        return frozenset(_called_names(call))
    key = ("called names", call.value, call.is_applied)
    return call.project.once(key, lambda: frozenset(_called_names(call)))


def _called_names(call: Operand) -> Iterator[str]:
    callee, project = call.value.callee, call.project
    if call.is_applied:
        model = call.made_class()
        yield from () if model is None else _names_of_forward(model)
        return
    definition = project.names.definition(call.function.module, callee)
    if isinstance(definition, External):
        yield definition.name
        if definition.name.startswith("torch.functional."):
            yield definition.name.replace(".functional", "", 1)
        return
    if definition is not None and not isinstance(definition, DefinedConstant):
        return
    if callee.op is Op.ATTR and definition is None:
        owner = call.of(callee.args[0])
        if operators.row(f"Tensor.{callee.data}") is not None and owner.is_tensor:
            yield f"torch.Tensor.{callee.data}"
            return
    made = call.of(callee).object_class()
    if made is not None:
        yield from _names_of_forward(made)


def _names_of_forward(model: ClassModel) -> Iterator[str]:
    """The names of the classes whose `forward` an object's call runs: its own, or a base that defines it."""
    for current in model.mro():
        if current.cls is None:
            yield current.name
            return
        if current.facts.has_method("forward") or current.facts.has_method("__call__"):
            return


class _Origins:
    """A search backwards from a value. It visits each value once, and a bounded number of them."""

    def __init__(
        self, project: Project, ends: frozenset[str], through_operators: bool, *, follows_overridden: bool = False
    ) -> None:
        """With `follows_overridden`, methods are followed that subclasses may override."""
        self._project, self._ends = project, ends
        self._through_operators = through_operators
        self._follows_overridden = follows_overridden
        #: The methods that were followed without asking whether subclasses override them.
        self._unasked: list[Reached] = []
        self._seen: set[tuple[Value, _Keys, Value | None]] = set()

    def of(self, operand: Operand) -> Iterator[Operand]:
        pending: list[tuple[Operand, _Keys, Context | None]] = [(operand, (), operand.context)]
        while pending:
            at, key, context = pending.pop(0)
            visit = at.value, key, None if context is None else context.call.value
            if visit in self._seen:
                continue
            self._seen.add(visit)
            found = None if len(self._seen) > _MAX_VALUES else self._step(at, key, context)
            if found is None:
                yield replace(at, part=key or None, context=context) if key or context is not None else at
            else:
                pending += found

    def followed_overridden(self) -> bool:
        """True if the search followed a method that a subclass overrides."""
        return any(is_overridden(self._project, reached) for reached in self._unasked)

    def _step(self, at: Operand, key: _Keys, context: Context | None) -> _Steps | None:
        """The values that a value stands for; None if it is an origin.

        `key` are the keys and indices, first to last, of the part of it that is asked for.
        """
        value, op = at.value, at.value.op

        def each(values: Collection[Value], part: _Keys = ()) -> _Steps:
            return [(Operand(one, at.function, self._project), part, context) for one in values]

        if op is Op.CALL:
            return self._of_call(at, key, context)
        if op is Op.CHOICE or op is Op.BOOL:
            return each(value.args, key) if value.args else None
        if op is Op.PARAM:
            return self._of_parameter(at, key, context)
        if op is Op.INNER:
            return self._of_inner(at, key, context)
        if op is Op.ATTR:
            return self._of_attribute(replace(at, context=context), key)
        if op is Op.GLOBAL:
            definition = self._project.names.definition(at.function.module, value)
            if not isinstance(definition, DefinedConstant) or definition.name in definition.module.rebound:
                return None
            return [(Operand(definition.value, definition.module.body, self._project), key, None)]
        if op is Op.UNPACK:
            return each(value.args[:1], (value.data if value.data >= 0 else _REST, *key))
        if op is Op.INDEX:
            subscript = value.args[1]
            picked = _REST if subscript.op is Op.SLICE else _ANY
            return each(value.args[:1], (subscript.data if subscript.op is Op.CONST else picked, *key))
        if op is Op.ITEM:
            return each(value.args[:1], (_ANY, *key))
        if op is Op.UPDATE:
            return each(value.args[:1], key)
        return self._of_display(at, key[0], key[1:], context) if key else None

    def _of_display(self, at: Operand, key: object, others: _Keys, context: Context | None) -> _Steps | None:
        """The elements of a tuple, list or dictionary that a key or an index picks."""
        value, op = at.value, at.value.op
        if op is Op.DICT:
            pairs = list(zip(value.data, value.args, strict=False))
            found = [one for name, one in pairs if key is _ANY or _is_key(name, key)]
        elif op in (Op.TUPLE, Op.LIST) and all(part.op is not Op.STARRED for part in value.args):
            size = len(value.args)
            found = list(value.args) if key is _ANY else []
            if type(key) is int and -size <= key < size:
                found = [value.args[key]]
        else:
            return None
        return [(Operand(one, at.function, self._project), others, context) for one in found] or None

    def _of_call(self, at: Operand, key: _Keys, context: Context | None) -> _Steps | None:
        value = at.value
        if at.is_applied:
            return None
        if self._ends and at.is_call_of(self._ends):
            return None
        operand = self._kept_operand(at)
        if operand is not None:
            return [(Operand(operand, at.function, self._project), (), context)]
        if value.callee.op is Op.LAMBDA:
            is_readable = not has_foreign(value.callee.data.decorators, at.function, self._project)
            return self._of_nested(at, key, context) if is_readable else None
        last = self._last_layer(at)
        if last is not None:
            return [(last, (), None)]
        reached = CallReach(self._project, at.function).of(value)
        depth = 0 if context is None else context.depth
        if reached is None or reached.function is None or reached.is_made or depth >= _MAX_CALLS:
            return None
        if reached.may_be_overridden:
            if self._follows_overridden:
                self._unasked.append(reached)
            elif is_overridden(self._project, reached):
                return None
        given = constant_arguments(value, reached, {} if context is None else context.constants)
        returned = [event.value for event in return_events(reached.function) if is_possible(event, given)]
        if not returned:
            return None
        inner = Context(at, context, depth + 1, constants=given)
        return [(Operand(one, reached.function, self._project), key, inner) for one in returned]

    def _kept_operand(self, at: Operand) -> Value | None:
        """The operand of an operator that keeps its elements."""
        value, callee = at.value, at.value.callee
        if not self._through_operators:
            return None
        definition = self._project.names.definition(at.function.module, callee)
        if isinstance(definition, External):
            return value.argument(0, "input") if definition.name in _PASSING else None
        is_method = definition is None and callee.op is Op.ATTR and callee.data in _PASSING_METHODS
        return callee.args[0] if is_method else None

    def _last_layer(self, at: Operand) -> Operand | None:
        """A call that stands for the last layer of the `nn.Sequential` that is called."""
        callee = at.of(at.value.callee)
        if not self._through_operators or at.value.callee.op not in (Op.ATTR, Op.CALL, Op.GLOBAL, Op.PARAM):
            return None
        made = [leaf for leaf in callee.origins(through_operators=False) if leaf.value.op is Op.CALL]
        if len(made) != 1 or made[0].made_class() is None or not made[0].value.positional:
            return None
        model, last = made[0].made_class(), made[0].value.positional[-1]
        if model is None or model.name != _SEQUENTIAL or last.op is Op.STARRED:
            return None
        return Operand(last, made[0].function, self._project, is_applied=True)

    def _of_parameter(self, at: Operand, key: _Keys, context: Context | None) -> _Steps | None:
        """The arguments that a parameter gets: of the call that the search came by, or of the callers in sight."""
        name = str(at.value.data)
        if name == "self":
            return None
        if context is not None and context.nested is not None:  # it is a parameter of the function around that one
            return self._of_parameter(at, key, context.outer)
        if context is not None:
            call = context.call
            reached = CallReach(self._project, call.function).of(call.value)
            given = None if reached is None else bind_call(reached.parameters, call.value).certain.get(name)
            if given is None:
                parameter = at.function.parameter(name)
                default = None if parameter is None or call.value.has_unpacking else parameter.default
                return None if default is None else [(Operand(default, at.function, self._project), key, None)]
            return [(Operand(given, call.function, self._project), key, context.outer)]
        found: _Steps = []
        for caller in callers(self._project, at.function):
            reach = CallReach(self._project, caller)
            for event in caller.flow.of(EventKind.CALL):
                reached = reach.of(event.value)
                if reached is not None and reached.function is at.function:
                    given = bind_call(reached.parameters, event.value).certain.get(name)
                    if given is None:
                        return None
                    found.append((Operand(given, caller, self._project), key, None))
        return found or None

    def _of_nested(self, at: Operand, key: _Keys, context: Context | None) -> _Steps | None:
        """The values that a function inside of a function returns, to the call of it."""
        nested, depth = at.value.callee.data, 0 if context is None else context.depth
        returned = at.value.callee.args or nested.returns
        if not returned or depth >= _MAX_CALLS:
            return None
        inner = Context(at, context, depth + 1, nested)
        return [(Operand(one, at.function, self._project), key, inner) for one in returned]

    def _of_inner(self, at: Operand, key: _Keys, context: Context | None) -> _Steps | None:
        """The argument that a function inside of a function gets by the call that the search came by."""
        nested, name = None if context is None else context.nested, str(at.value.data)
        if context is None or nested is None or nested.parameters.get(name) is not at.value:
            return None
        call = context.call.value
        defaults = {one.name: one.default for one in nested.head}
        value = bind_call(nested.head, call).given.get(name) or defaults[name]
        return None if value is None or call.has_unpacking else [(context.call.of(value), key, context.outer)]

    def _of_attribute(self, at: Operand, key: _Keys) -> _Steps | None:
        """The stores of an attribute, and what a property returns."""
        value, name = at.value, str(at.value.data)
        if len(value.args) == 2:  # what this body stored there before
            return [(Operand(value.args[1], at.function, self._project), key, at.context)]
        owner = self._owner(at.of(value.args[0]))
        if owner is None:
            return None
        members = self._project.of(Members)
        stored = members.stores(owner, name) or self._stored_below(owner, name)
        if stored:
            return [(Operand(event.value, function, self._project), key, None) for function, event in stored]
        method = members.method(owner, name)
        if method is None or not method.is_property:
            return None
        return [(Operand(one, method, self._project), key, None) for one in returns(method)] or None

    def _owner(self, receiver: Operand) -> Class | None:
        """The class of the project whose object a value is: of `self`, and of what the search knows."""
        if receiver.value.op is Op.PARAM and receiver.value.data == "self" and receiver.function.owner is not None:
            return receiver.function.owner
        if receiver.value.op is Op.PARAM and receiver.context is not None:
            found = self._of_parameter(receiver, (), receiver.context)
            return self._owner(replace(found[0][0], context=found[0][2])) if found and len(found) == 1 else None
        model = receiver.object_class() if receiver.value.op in (Op.CALL, Op.GLOBAL, Op.CHOICE, Op.ATTR) else None
        return None if model is None else model.cls

    def _stored_below(self, owner: Class, name: str) -> list[tuple[Function, Event]]:
        """The stores of the classes in the same file that derive from a mixin."""
        project, members = self._project, self._project.of(Members)
        derived = [cls for cls in owner.module.classes.values() if cls is not owner and name in cls.assigned]
        below = [cls for cls in derived if any(model.cls is owner for model in project.classes.model(cls).mro())]
        return [one for cls in below for one in members.stores(cls, name)]


#: Keys and indices, `_ANY` and `_REST` among them.
_Keys = tuple[object, ...]
_Steps = list[tuple[Operand, _Keys, "Context | None"]]


def _is_key(name: object, key: object) -> bool:
    return getattr(name, "op", None) is Op.CONST and getattr(name, "data", None) == key


def returns(function: Function) -> list[Value]:
    """The values that a function returns, one for each `return`; none for a generator and a coroutine."""
    return [event.value for event in return_events(function)]


def return_events(function: Function) -> list[Event]:
    """The `return`s of a function; none for a generator and a coroutine."""
    if function.signature.is_async or any(event.kind is EventKind.YIELD for event in function.flow.events):
        return []
    return list(function.flow.of(EventKind.RETURN))


def constant_arguments(call: Value, target: Reached, known: Mapping[str, object]) -> dict[str, object]:
    """The constants that parameters have in a call, passed or by default; unknown ones are left out.

    `known` are those of the parameters of the function around the call.
    """
    given = bind_call(target.parameters, call).certain
    found: dict[str, object] = {}
    for parameter in target.parameters:
        value = given.get(parameter.name, None if call.has_unpacking else parameter.default)
        if value is not None and value.op is Op.CONST:
            found[parameter.name] = value.data
        elif value is not None and value.op is Op.PARAM and value.data in known and parameter.name in given:
            found[parameter.name] = known[value.data]
    return found


def is_possible(event: Event, constants: Mapping[str, object]) -> bool:
    """True if an event may happen in a call whose parameters have these constants."""
    chain = () if event.guard is None else event.guard.chain()
    return all(outcome(link.test, constants) in (None, link.truthy) for link in chain)
