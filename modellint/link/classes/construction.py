"""Constructs an object on paper: runs a class's `__init__` over value graphs and notes what it registers.

The run follows `super().__init__`, the class's own methods and readable functions, evaluates the conditions that
constants and arguments decide, and keeps the path of those that stay open. It is bounded in depth and in steps, and
what it cannot follow is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from modellint.graph.value import Event, EventKind, Guard, Op, Value, self_attribute
from modellint.link.classes import calls
from modellint.link.classes.conditions import open_part, truth
from modellint.link.classes.objects import (
    ANY_ARGUMENTS,
    BUFFER,
    NEVER,
    NOTHING,
    PLAIN,
    TENSOR,
    UNKNOWN,
    Arguments,
    Callable,
    Choice,
    ClassObject,
    Constant,
    Given,
    Group,
    Instance,
    Never,
    Object,
    Origin,
    Outside,
    Plain,
    Receiver,
    Tensor,
    Unknown,
    alternatives,
    choice,
    contents,
    element,
    made_by,
    merged,
    part,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.link.classes.methods import Method, Scope
    from modellint.link.classes.models import Classes, ClassModel

#: A number or the like, or None.
_MAYBE = choice([PLAIN, Constant(None)])
MAX_DEPTH = 10
MAX_STEPS = 6000
#: How deeply expressions may be nested, those of constructors that are run on the way included.
MAX_EXPRESSION = 100
#: The open conditions on the way to an event, outermost first: the test's identity and its outcome.
Path = tuple[tuple[int, bool], ...]
_REGISTRARS = frozenset(("add_module", "register_module"))
_TENSOR_REGISTRARS = frozenset(("register_parameter", "register_buffer"))
_ADDERS = frozenset(("append", "extend", "insert", "add_module", "register_module", "update", "add"))


@dataclass(frozen=True, slots=True)
class Registration:
    """Something that the constructor assigns to an attribute (None: of a name that is not known)."""

    attribute: str | None
    value: Object
    path: Path


class Frame:
    """One function body under evaluation."""

    __slots__ = ("above", "conditions", "method", "names", "results", "scope", "trail", "values")

    def __init__(
        self, method: Method | None, scope: Scope, names: dict[str, Object], above: int, trail: Origin = ()
    ) -> None:
        self.method = method
        self.scope = scope
        self.names = names
        #: How far up the MRO the method was found.
        self.above = above
        #: The calls that led here from the constructor.
        self.trail = trail
        self.values: dict[int, Object] = {}
        self.results: dict[int, Object] = {}
        #: What came of conditions when the first event under them was reached.
        self.conditions: dict[int, Path | None] = {}


@dataclass
class Construction:
    """The run of one constructor, and what came of it."""

    classes: Classes
    model: ClassModel
    depth: int
    attributes: dict[str, Object] = field(default_factory=dict)
    registrations: list[Registration] = field(default_factory=list)
    #: Paths on which the constructor raises: no object comes of them.
    failures: list[Path] = field(default_factory=list)
    #: Whether everything that could register something was followed.
    is_complete: bool = True
    _steps: int = 0
    _limit: int = MAX_STEPS
    _calls: int = 0
    #: Constants under evaluation, by identity.
    _constants: set[int] = field(default_factory=set)

    def run(self, arguments: Arguments) -> Construction:
        self.is_complete = self.model.is_complete
        self._method("__init__", 0, arguments, ())
        return self

    # -- methods -----------------------------------------------------------------------------------------------

    def _method(self, name: str, start: int, arguments: Arguments, path: Path, trail: Origin = ()) -> Object:
        """Run the method `name` as the classes of the MRO from `start` on define it."""
        mro = self.model.mro()
        for above in range(start, len(mro)):
            owner = mro[above]
            if name == "__init__" and owner.name in calls.CONTAINERS:
                self._fill(arguments, path)
                return PLAIN
            if owner.name == calls.MODULE:
                return PLAIN
            method = owner.own_method(name)
            if method is not None:
                return self._call(method, arguments, path, above, trail)
            if owner.facts.has_method(name):
                return UNKNOWN
        if name != "__init__":
            return UNKNOWN
        return PLAIN

    def _fill(self, arguments: Arguments, path: Path) -> None:
        """What a container's constructor is given becomes its children."""
        for value in (*arguments.positional, *arguments.keywords.values()):
            for item in contents(value):
                self._register(None, item, path)
        self.is_complete = self.is_complete and arguments.is_complete

    def _call(self, method: Method, arguments: Arguments, path: Path, above: int, trail: Origin) -> Object:
        if self._calls >= MAX_DEPTH or not self.classes.spend():
            self.is_complete = False
            return UNKNOWN
        self._calls += 1
        names = bind(self, method, arguments, above)
        frame = Frame(method, method.scope, names, above, trail)
        returned: list[Object] = []
        # A call may use up most of what is left, not all: whoever calls goes on.
        outer, self._limit = self._limit, self._steps + (self._limit - self._steps) * 3 // 4
        for event in method.flow.events:
            self._steps += 1
            if self._steps > self._limit:
                self.is_complete = False
                break
            conditions = self._conditions(event.guard, frame)
            if conditions is not None:
                self._event(event, frame, path + conditions, returned)
                if event.kind is EventKind.RETURN and not conditions:
                    break
        self._calls -= 1
        self._limit = outer
        return choice(returned) if returned else PLAIN

    def _conditions(self, guard: Guard | None, frame: Frame) -> Path | None:
        """The conditions of a guard that stay open, None if one of them does not hold."""
        if guard is None:
            return ()
        if id(guard) not in frame.conditions:
            frame.conditions[id(guard)] = self._decided(guard, frame)
        return frame.conditions[id(guard)]

    def _decided(self, guard: Guard, frame: Frame) -> Path | None:
        steps: list[tuple[int, bool]] = []
        for link in guard.chain():
            outcome = truth(link.test, lambda value: self.evaluate(value, frame))
            if outcome is None:
                if not link.raised:  # otherwise it holds where an object comes of it
                    test, negated = open_part(link.test, lambda value: self.evaluate(value, frame))
                    steps.append((id(test), link.truthy is not negated))
            elif outcome is not link.truthy:
                return None
        return tuple(reversed(steps))

    def _event(self, event: Event, frame: Frame, path: Path, returned: list[Object]) -> None:
        if event.kind is EventKind.CALL:
            self._effect(event.value, frame, path)
        elif event.kind is EventKind.STORE and event.target is not None:
            self._store(event.target, event.value, frame, path)
        elif event.kind is EventKind.RETURN:
            returned.append(self.evaluate(event.value, frame))
        elif event.kind is EventKind.RAISE and (event.guard is not None or not returned):
            self.failures.append(path)

    # -- effects -----------------------------------------------------------------------------------------------

    def _effect(self, call: Value, frame: Frame, path: Path) -> None:
        callee = call.callee
        if callee.op is Op.GLOBAL and callee.data.rpartition(".")[2] == "setattr" and len(call.positional) == 3:
            self._setattr(call, frame, path)
            return
        if callee.op is not Op.ATTR:
            return
        owner, name = callee.args[0], callee.data
        receiver = self._receiver(owner, frame)
        if receiver is not None:
            self._own_call(call, name, receiver, frame, path)
            return
        if name == "__init__":
            self._unbound_init(call, owner, frame, path)
        elif name in _ADDERS:
            attribute = _root_attribute(owner)
            if attribute is not None:
                self._add_to(attribute, call, name, frame, path)

    def _receiver(self, owner: Value, frame: Frame) -> Receiver | None:
        """The object under construction, if `owner` is `self` or a `super()` of it."""
        if owner.op is Op.PARAM and owner.data == "self":
            return Receiver()
        if owner.op is Op.CALL and owner.callee.op is Op.GLOBAL and owner.callee.data in ("super", "builtins.super"):
            start = frame.above
            if owner.positional:
                named = self.evaluate(owner.positional[0], frame)
                mro = self.model.mro()
                if isinstance(named, ClassObject):
                    start = next((i for i, model in enumerate(mro) if model.name == named.model.name), start)
            return Receiver(start + 1)
        return None

    def _own_call(self, call: Value, name: str, receiver: Receiver, frame: Frame, path: Path) -> None:
        if name in _REGISTRARS and len(call.args) > 2:
            value = self.evaluate(call.args[-1] if call.data else call.positional[-1], frame)
            # Anything but a layer (or None) raises: a class that may have been called has been called.
            layers = [option for option in alternatives(value) if not isinstance(option, ClassObject | Callable)]
            if layers:
                is_each = isinstance(value, Choice) and value.is_each
                self._assign(self._text(call, frame), choice(layers, is_each=is_each), path)
        elif name in _TENSOR_REGISTRARS:
            tensor = call.argument(1, "param" if name == "register_parameter" else "tensor")
            given = self.evaluate(tensor, frame) if tensor is not None else UNKNOWN
            if not (isinstance(given, Constant) and given.value is None):
                self._assign(self._text(call, frame), _as_tensor(given, trained=name == "register_parameter"), path)
        elif name in ("append", "extend", "insert", "update") and not self._defines(name):
            if self.model.is_container:
                for argument in call.positional:
                    for item in contents(self.evaluate(argument, frame)):
                        self._register(None, item, path)
        elif receiver.above or self._defines(name):
            arguments = self.arguments(call, frame)
            if arguments is not None:
                trail = (*frame.trail, id(call))
                frame.results[id(call)] = self._method(name, receiver.above, arguments, path, trail)

    def _defines(self, name: str) -> bool:
        torch = (calls.MODULE, *calls.CONTAINERS)
        return any(model.facts.has_method(name) for model in self.model.mro() if model.name not in torch)

    def _unbound_init(self, call: Value, owner: Value, frame: Frame, path: Path) -> None:
        """`Base.__init__(self, …)`."""
        named = self.evaluate(owner, frame)
        arguments = self.arguments(call, frame)
        if not isinstance(named, ClassObject) or arguments is None or not call.positional:
            return
        if self._receiver(call.positional[0], frame) is None:
            return
        for above, model in enumerate(self.model.mro()):
            if model.name == named.model.name:
                given = Arguments(arguments.positional[1:], arguments.keywords)
                self._method("__init__", above, given, path, (*frame.trail, id(call)))
                return
        self.is_complete = False

    def _setattr(self, call: Value, frame: Frame, path: Path) -> None:
        target, name, value = call.positional
        if self._receiver(target, frame) is not None:
            known = self.evaluate(name, frame)
            text = known.value if isinstance(known, Constant) and isinstance(known.value, str) else None
            self._assign(text, self.evaluate(value, frame), path)

    def _text(self, call: Value, frame: Frame) -> str | None:
        name = call.argument(0, "name")
        known = alternatives(self.evaluate(name, frame)) if name is not None else ()
        texts = {option.value for option in known if isinstance(option, Constant) and isinstance(option.value, str)}
        return texts.pop() if len(texts) == 1 else None

    def _add_to(self, attribute: str, call: Value, name: str, frame: Frame, path: Path) -> None:
        """`self.layers.append(layer)`: what is added is a child if `self.layers` is a container that registers."""
        held = self.attributes.get(attribute, UNKNOWN)
        added = [item for argument in call.args[1:] for item in contents(self.evaluate(argument, frame))]
        for option in alternatives(held):
            if isinstance(option, Group):
                self.attributes[attribute] = Group((*option.items, *added))
            elif isinstance(option, Instance) and option.model.is_module:
                builds = option.model.has_own_adder(name)
                for item in added:
                    self._register(attribute, _built(item) if builds else item, path)

    def _store(self, target: Value, value: Value, frame: Frame, path: Path) -> None:
        attribute = self_attribute(target)
        if attribute is not None:
            self._assign(attribute, self.evaluate(value, frame), path)
        elif target.op is Op.INDEX:
            attribute = _root_attribute(target.args[0])
            held = self.attributes.get(attribute) if attribute else None
            if isinstance(held, Instance) and held.model.is_module:
                self._register(attribute, self.evaluate(value, frame), path)
            elif isinstance(held, Group) and attribute:
                self.attributes[attribute] = Group((*held.items, self.evaluate(value, frame)))

    def _assign(self, attribute: str | None, value: Object, path: Path) -> None:
        if value is NEVER:
            return
        if attribute is not None:
            before = self.attributes.get(attribute)
            self.attributes[attribute] = value if before is None or not path else choice([before, value])
            if not path:
                self.registrations = [r for r in self.registrations if r.attribute != attribute]
        self._register(attribute, value, path)

    def _register(self, attribute: str | None, value: Object, path: Path) -> None:
        self.registrations.append(Registration(attribute, value, path))

    # -- expressions -------------------------------------------------------------------------------------------

    def evaluate(self, value: Value, frame: Frame) -> Object:
        """What a value amounts to in this run."""
        key = id(value)
        known = frame.results.get(key)
        if known is None:
            known = frame.values.get(key)
        if known is not None:
            return known
        frame.values[key] = NEVER  # what a loop leads back to adds nothing
        self._steps += 1
        self.classes.depth += 1
        is_bounded = self._steps <= self._limit and self.classes.depth <= MAX_EXPRESSION
        result = self._evaluate(value, frame) if is_bounded else UNKNOWN
        self.classes.depth -= 1
        if value.op is Op.PARAM or (value.op is Op.ATTR and len(value.args) == 1) or value.op is Op.CALL:
            # What these stand for changes as the run goes on.
            del frame.values[key]
        else:
            frame.values[key] = result
        return result

    def _evaluate(self, value: Value, frame: Frame) -> Object:
        op = value.op
        if op is Op.CONST:
            return Constant(value.data)
        if op is Op.PARAM:
            return Receiver() if value.data == "self" else frame.names.get(value.data, UNKNOWN)
        if op is Op.GLOBAL:
            return self._global(value, frame.scope)
        if op is Op.ATTR:
            return self._attribute(value, frame)
        if op is Op.CALL:
            return self._result(value, frame)
        if op in (Op.LIST, Op.TUPLE, Op.SET):
            return Group(tuple(self._elements(value.args, frame)))
        if op is Op.DICT:
            return self._dict(value, frame)
        if op is Op.COMPREHENSION:
            return Group((self.evaluate(value.args[-1], frame),))
        if op in (Op.ITEM, Op.STARRED):
            inner = self.evaluate(value.args[0], frame)
            return element(inner) if op is Op.ITEM else inner
        if op is Op.UNPACK:
            return part(self.evaluate(value.args[0], frame), value.data if value.data >= 0 else None)
        if op is Op.INDEX:
            index = self.evaluate(value.args[1], frame)
            owner = self.evaluate(value.args[0], frame)
            if value.args[1].op is Op.SLICE:
                return owner
            return part(owner, index.value if isinstance(index, Constant) else None)
        if op is Op.CHOICE:
            return self._choice(value, frame)
        if op is Op.BOOL:
            return self._bool(value, frame)
        if op is Op.UPDATE:
            return self._update(value, frame)
        if op is Op.BIN:
            return self._binary(value, frame)
        if op is Op.LAMBDA:
            return Callable(None, value.args[-1] if value.args else None, frame)
        if op in (Op.COMPARE, Op.UNARY):
            outcome = truth(value, lambda inner: self.evaluate(inner, frame))
            return PLAIN if outcome is None else Constant(outcome)
        return PLAIN if op in (Op.STRING, Op.SLICE) else UNKNOWN

    def _elements(self, args: tuple[Value, ...], frame: Frame) -> Iterator[Object]:
        for arg in args:
            value = self.evaluate(arg, frame)
            if arg.op is Op.STARRED:
                yield from contents(value)
            else:
                yield value

    def _dict(self, value: Value, frame: Frame) -> Object:
        items: list[Object] = []
        keys: list[object] = []
        is_plain = True
        for key, arg in zip(value.data, value.args, strict=True):
            inner = self.evaluate(arg, frame)
            if key is None:
                is_known = isinstance(inner, Group) and inner.keys is not None
                items.extend(inner.items if isinstance(inner, Group) else contents(inner) or (PLAIN,))
                keys.extend(inner.keys or () if isinstance(inner, Group) else ())
                is_plain = is_plain and is_known
            else:
                items.append(inner)
                known = self.evaluate(key, frame)
                is_plain = is_plain and isinstance(known, Constant)
                keys.append(known.value if isinstance(known, Constant) else None)
        return Group(tuple(items), tuple(keys) if is_plain else None)

    def _attribute(self, value: Value, frame: Frame) -> Object:
        owner = value.args[0]
        if owner.op is Op.PARAM and owner.data == "self":
            return self._own_attribute(value.data)
        found = self._global(value, frame.scope)
        if not isinstance(found, Unknown):
            return found
        inner = self.evaluate(owner, frame)
        if isinstance(inner, Outside):
            return Outside(f"{inner.name}.{value.data}")
        if isinstance(inner, Instance):
            return self.classes.attribute(inner, value.data)
        if isinstance(inner, Receiver) and value.data == "__class__":
            return ClassObject(self.model)
        if isinstance(inner, Choice) and all(isinstance(option, Outside) for option in inner.options):
            return choice([Outside(f"{o.name}.{value.data}") for o in inner.options if isinstance(o, Outside)])
        return calls.attribute_of(inner, value.data)

    def _global(self, value: Value, scope: Scope) -> Object:
        definition = scope.definition(value)
        if definition is None:
            return UNKNOWN
        constant = scope.constant(definition)
        if constant is None:
            return self.classes.object_of(definition)
        stated, home = constant
        if id(stated) in self._constants:
            return NEVER
        self._constants.add(id(stated))
        self._steps += 1
        result = self.evaluate(stated, Frame(None, home, {}, 0))
        self._constants.discard(id(stated))
        return result

    def _own_attribute(self, name: str) -> Object:
        if name in self.attributes:
            return self.attributes[name]
        for model in self.model.mro():
            value = model.facts.attributes.get(name)
            if value is not None:
                return self.evaluate(value, Frame(None, model.facts.scope, {}, 0))
            method = model.own_method(name)
            if method is not None:
                return Callable(method)
        return UNKNOWN

    def _choice(self, value: Value, frame: Frame) -> Object:
        if isinstance(value.data, Value) and len(value.args) == 2:
            outcome = truth(value.data, lambda inner: self.evaluate(inner, frame))
            if outcome is not None:
                return self.evaluate(value.args[0 if outcome else 1], frame)
        options = [self.evaluate(arg, frame) for arg in value.args]
        return merged(options, is_loop=value.data is None)

    def _bool(self, value: Value, frame: Frame) -> Object:
        options: list[Object] = []
        for number, arg in enumerate(value.args):
            outcome = truth(arg, lambda inner: self.evaluate(inner, frame))
            is_last = number == len(value.args) - 1
            if is_last or outcome is None:
                options.append(self.evaluate(arg, frame))
            elif outcome is (value.data == "or"):
                options.append(self.evaluate(arg, frame))
                break
        return choice(options)

    def _update(self, value: Value, frame: Frame) -> Object:
        owner = self._before_loops(value.args[0], frame)
        if value.data in ("pop", "remove", "clear"):
            return owner
        added = self.evaluate(value.args[-1], frame) if len(value.args) > 1 else NOTHING
        more = contents(added) if value.data in ("extend", "update") else (added,)
        if isinstance(owner, Group):
            keys = owner.keys
            if value.data == "[]=" and keys is not None:
                key = self.evaluate(value.args[1], frame)
                keys = (*keys, key.value) if isinstance(key, Constant) else None
            elif more:
                keys = None
            return Group((*owner.items, *more), keys)
        if isinstance(owner, Instance):
            return replace(owner, contents=(*owner.contents, *contents(Group(more))))
        return owner

    def _before_loops(self, value: Value, frame: Frame) -> Object:
        """What a value is; for one that a loop under way makes of itself, what it was before."""
        owner = self.evaluate(value, frame)
        while owner is NEVER and value.op is Op.CHOICE and value.data is None:
            value = value.args[0]
            owner = self.evaluate(value, frame)
        return NOTHING if owner is NEVER else owner

    def _binary(self, value: Value, frame: Frame) -> Object:
        if value.data not in ("+", "*"):
            return PLAIN
        left, right = self._before_loops(value.args[0], frame), self.evaluate(value.args[1], frame)
        held = [option for option in alternatives(left) if isinstance(option, Instance)]
        if value.data == "+" and held:  # `ModuleList() + [layer]`, which registers it
            return choice([replace(option, contents=(*option.contents, *contents(right))) for option in held])
        groups = [side for side in (left, right) if isinstance(side, Group | Given)]
        if not any(isinstance(side, Group) for side in groups):
            return PLAIN
        return Group(tuple(inner for side in groups for inner in contents(side)))

    # -- calls -------------------------------------------------------------------------------------------------

    def arguments(self, call: Value, frame: Frame) -> Arguments | None:
        """The arguments of a call, evaluated; None if one is an element of something empty."""
        positional: list[Object] = []
        complete = True
        for arg in call.positional:
            value = self.evaluate(arg, frame)
            if arg.op is Op.STARRED:
                complete = complete and isinstance(value, Group)
                positional.extend(contents(value) if isinstance(value, Group) else ())
                if not isinstance(value, Group):
                    # How many they are is unknown; what is given stands for each of its parts.
                    one = value if isinstance(value, Given) else UNKNOWN
                    return Arguments((*positional, one), {}, False)
            elif value is NEVER:
                return None
            else:
                positional.append(value)
        keywords: dict[str, Object] = {}
        start = len(call.args) - len(call.data)
        for number, name in enumerate(call.data):
            value = self.evaluate(call.args[start + number], frame)
            if value is NEVER:
                return None
            if name is not None:
                keywords[name] = value
            elif isinstance(value, Group) and value.keys is not None:
                keywords.update({str(k): v for k, v in zip(value.keys, value.items, strict=False)})
            else:
                complete = False
        return Arguments(tuple(positional), keywords, complete)

    def _result(self, call: Value, frame: Frame) -> Object:
        callee = call.callee
        trail = (*frame.trail, id(call))
        arguments = self.arguments(call, frame)
        if arguments is None:
            return NEVER
        if callee.op is Op.ATTR:
            receiver = self._receiver(callee.args[0], frame)
            if receiver is not None:
                method = self._method_of(callee.data)
                if method is not None:
                    return self._returned(method, arguments, frame, trail)
            else:
                owner = self.evaluate(callee.args[0], frame)
                result = calls.method_result(owner, callee.data)
                if result is not None:
                    return result
        function = self.evaluate(callee, frame)
        is_each = isinstance(function, Choice) and function.is_each
        results = [self._apply(option, arguments, frame, trail) for option in alternatives(function)]
        return made_by(choice(results, is_each=is_each), trail)

    def _method_of(self, name: str) -> Method | None:
        return (
            None
            if name in self.attributes
            else next((m for m in (model.own_method(name) for model in self.model.mro()) if m is not None), None)
        )

    def _apply(self, function: Object, arguments: Arguments, frame: Frame, trail: Origin) -> Object:
        if isinstance(function, ClassObject):
            full = function.arguments.then(arguments)
            return _tensor(function.model.name, full) or Instance(function.model, full)
        if isinstance(function, Never):
            return NEVER
        if isinstance(function, Outside):
            found = self.classes.named(function.name, self.model)
            if found is not None:
                return Instance(found, arguments)
            if function.name == "builtins.map" and len(arguments.positional) > 1:
                each = Arguments(tuple(element(given) for given in arguments.positional[1:]))
                return Group((made_by(self._apply(arguments.positional[0], each, frame, trail), trail),))
            result = calls.external_result(function.name, arguments)
            return made_by(result, trail, afresh=True) if function.name in calls.COPIES else result
        if isinstance(function, Plain | Constant):
            return PLAIN
        if isinstance(function, Callable):
            if function.method is not None:
                return self._returned(function.method, arguments, frame, trail)
            if function.body is not None and function.frame is not None:
                return self.evaluate(function.body, function.frame)
        return UNKNOWN

    def _returned(self, method: Method, arguments: Arguments, frame: Frame, trail: Origin) -> Object:
        """What a function returns; its effects on the object under construction are not repeated."""
        if self._calls >= MAX_DEPTH:
            return UNKNOWN
        self._calls += 1
        inner = Frame(method, method.scope, bind(self, method, arguments, frame.above), frame.above, trail)
        returned = [
            self.evaluate(event.value, inner)
            for event in method.flow.of(EventKind.RETURN)
            if self._conditions(event.guard, inner) is not None
        ]
        self._calls -= 1
        return choice(returned) if returned else PLAIN


def bind(run: Construction, method: Method, arguments: Arguments, above: int) -> dict[str, Object]:
    """The parameters of a method by name, with what the arguments or the defaults make of them."""
    parameters = method.parameters[1:] if method.has_receiver else method.parameters
    defaults = Frame(None, method.scope, {}, above)
    bound: dict[str, Object] = {}
    positional = list(arguments.positional)
    keywords = dict(arguments.keywords)
    for parameter in parameters:
        name = parameter.name
        if parameter.kind == "var-positional":
            bound[name] = Group(tuple(positional)) if arguments.is_complete or positional else Given(name)
            positional = []
        elif parameter.kind == "var-keyword":
            is_known = arguments.is_complete or keywords
            bound[name] = Group(tuple(keywords.values()), tuple(keywords)) if is_known else Given(name)
        elif parameter.kind == "positional" and positional:
            bound[name] = positional.pop(0)
        elif name in keywords:
            bound[name] = keywords.pop(name)
        elif parameter.default is not None and arguments.is_complete:
            bound[name] = run.evaluate(parameter.default, defaults)
        else:
            bound[name] = Given(name)
        if isinstance(bound[name], Unknown | Given) and name in method.plain:
            default = parameter.default
            may_be_none = default is not None and default.op is Op.CONST and default.data is None
            bound[name] = _MAYBE if may_be_none else PLAIN
    return bound


def _built(item: Object) -> Object:
    """What a method that takes classes and builds them makes of what it is given."""
    return Instance(item.model, item.arguments.then(ANY_ARGUMENTS)) if isinstance(item, ClassObject) else item


def _tensor(name: str, arguments: Arguments) -> Object | None:
    """The parameter or buffer that calling the class `name` gives; None for any other class."""
    if name not in calls.TENSOR_CLASSES:
        return None
    flag = arguments.keywords.get("requires_grad", arguments.positional[1] if len(arguments.positional) > 1 else None)
    is_frozen = isinstance(flag, Constant) and not flag.value
    return BUFFER if name.endswith("Buffer") or is_frozen else TENSOR


def _as_tensor(given: Object, *, trained: bool) -> Object:
    """What `register_buffer` or `register_parameter` is given: a tensor, unless it may be None."""
    options = alternatives(given)
    if any(isinstance(option, Given) or (isinstance(option, Constant) and option.value is None) for option in options):
        return UNKNOWN
    if isinstance(given, Tensor):
        return given if trained else replace(given, trained=False)
    return TENSOR if trained else BUFFER


def _root_attribute(value: Value) -> str | None:
    """`layers` of `self.layers`, `self.layers[-1]`."""
    while value.op is Op.INDEX:
        value = value.args[0]
    while value.op is Op.UPDATE:
        value = value.args[0]
    return self_attribute(value)
