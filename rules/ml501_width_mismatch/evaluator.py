"""Which objects a value may be, and which function a call runs: evaluated backwards, on demand.

An `Activation` is a function together with what is known of its call: the values of its parameters and the object it is
called on. Whatever cannot be followed is unknown, and unknown is empty or None.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.definitions import DefinedClass, DefinedFunction, External
from modellint.graph.immutable import dataclass
from modellint.graph.python import alternatives
from modellint.graph.value import EventKind, Op, Value, dotted, is_super
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.rule import Project

#: How many steps a value is followed through calls, attributes and parameters.
_MAX_DEPTH = 24
#: How many calls may be under way.
_MAX_FRAMES = 6
#: A value that may be more objects than this is unknown.
_MAX_OBJECTS = 8

#: Methods of a module that give back the module itself.
_SAME_MODULE = operators.methods("Module", "itself")
#: Wrappers that give back the module they are given.
_WRAPPERS = operators.functions("wraps")
#: Operations whose result is never an object with methods of its own.
_NO_OBJECTS = frozenset((Op.CONST, Op.GLOBAL, Op.BIN, Op.COMPARE, Op.UNARY, Op.TUPLE, Op.LIST, Op.DICT, Op.STRING))


@dataclass(eq=False, slots=True)
class Instance:
    """An object: of a class of the project, None for a library's, built by `call` in `frame` if known."""

    cls: Class | None = None
    call: Value | None = None
    frame: Activation | None = None


@dataclass(eq=False, slots=True)
class Activation:
    """A function and what is known of its call. `arguments` are values of the `caller` frame."""

    function: Function
    arguments: dict[str, Value] = field(default_factory=dict)
    caller: Activation | None = None
    receiver: Instance | None = None
    depth: int = 0
    call: Value | None = None

    @property
    def module(self) -> ModuleFacts:
        return self.function.module


@dataclass(eq=False, slots=True)
class Located:
    """A value and the frame in which its parameters have a meaning."""

    value: Value
    frame: Activation


class Evaluator:
    """Answers about values; one per project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._budget = project.budget
        self._frames: dict[Function, Activation] = {}
        #: The target of each call in functions without a known caller; bodies are lowered once, so values are keys.
        self._targets: dict[Value, Activation | None] = {}
        self._instances: dict[Value, tuple[Instance, ...]] = {}

    def root(self, function: Function) -> Activation:
        """The frame of a function of which no call is known."""
        frame = self._frames.get(function)
        if frame is None:
            receiver = Instance(cls=function.owner) if function.owner is not None else None
            frame = self._frames[function] = Activation(function, receiver=receiver)
        return frame

    # -- objects ----------------------------------------------------------------------------------------------------

    def instances(self, value: Value, frame: Activation, depth: int = 0) -> tuple[Instance, ...]:
        """The objects that a value may be, as far as they are known."""
        if depth > _MAX_DEPTH or value.op in _NO_OBJECTS:
            return ()
        self._budget.spend()
        if frame.caller is not None:
            return _distinct(self._objects(value, frame, depth))
        known = self._instances.get(value)
        if known is None:
            known = _distinct(self._objects(value, frame, depth))
            if depth <= _MAX_DEPTH // 2:
                self._instances[value] = known
        return known

    def _objects(self, value: Value, frame: Activation, depth: int) -> tuple[Instance, ...]:
        match value.op:
            case Op.CALL:
                return self._instances_of_call(value, frame, depth)
            case Op.PARAM:
                return self._parameter_instances(value, frame, depth)
            case Op.ATTR:
                return tuple(
                    found
                    for located in self.attribute(value, frame, depth + 1)
                    for found in self.instances(located.value, located.frame, depth + 1)
                )
            case Op.CHOICE | Op.BOOL:
                return tuple(found for arg in value.args for found in self.instances(arg, frame, depth + 4))
            case _:
                return ()

    def _instances_of_call(self, call: Value, frame: Activation, depth: int) -> tuple[Instance, ...]:
        callee = call.callee
        found = self.project.names.definition(frame.module, callee)
        if isinstance(found, DefinedClass):
            return (Instance(cls=found.cls, call=call, frame=frame),)
        if isinstance(found, External):
            if found.name in _WRAPPERS and call.positional:
                return self.instances(call.positional[0], frame, depth + 1)
            return (Instance(call=call, frame=frame),)
        if callee.op is Op.ATTR and callee.data in _SAME_MODULE:
            return self.instances(callee.args[0], frame, depth + 1)
        inner = self.call_frame(call, frame, depth + 1)
        if inner is None:
            return ()
        return tuple(
            instance
            for event in inner.function.flow.of(EventKind.RETURN)
            for instance in self.instances(event.value, inner, depth + 4)
        )

    def _constructors(self, instance: Instance) -> Iterator[Activation]:
        """The activations of the constructors that run when an object is built, the object's own class first."""
        if instance.cls is None or instance.call is None or instance.frame is None:
            return
        members = self.project.of(Members)
        call: Value | None = instance.call
        frame, constructor = instance.frame, members.method(instance.cls, "__init__")
        while constructor is not None and constructor.owner is not None and call is not None:
            frame = self._bind(constructor, call, frame, instance)
            yield frame
            call = _super_init(constructor)
            constructor = members.method_after(instance.cls, constructor.owner, "__init__")

    def _parameter_instances(self, value: Value, frame: Activation, depth: int) -> tuple[Instance, ...]:
        if value.data == "self" and frame.receiver is not None:
            return (frame.receiver,)
        bound = self.argument(value, frame)
        if bound is not None:
            return self.instances(bound.value, bound.frame, depth + 1)
        cls = self.annotated_class(value, frame)
        return () if cls is None else (Instance(cls=cls),)

    def argument(self, parameter: Value, frame: Activation) -> Located | None:
        """The argument that the frame's call binds to a parameter, located in the caller; None if there is none."""
        bound = frame.arguments.get(str(parameter.data))
        return None if bound is None or frame.caller is None else Located(bound, frame.caller)

    def annotated_class(self, parameter: Value, frame: Activation) -> Class | None:
        """The project class that a parameter's annotation names (`X`, `"X"`, `Optional[X]`, `X | None`)."""
        declared = frame.function.parameter(str(parameter.data))
        annotation = None if declared is None else declared.annotation
        for part in () if annotation is None else alternatives(annotation):
            name = dotted(part)
            found = None if name is None else self.project.names.resolve(frame.module, name)
            if isinstance(found, DefinedClass):
                return found.cls
        return None

    def attribute(self, value: Value, frame: Activation, depth: int = 0) -> list[Located]:
        """The values that an attribute may hold: those that its object's class stores, in its constructor first."""
        if depth > _MAX_DEPTH:
            return []
        if len(value.args) > 1:
            return [Located(value.args[1], frame)]
        owner = value.args[0]
        if owner.op is Op.PARAM and owner.data == "self":
            owners: tuple[Instance, ...] = (frame.receiver,) if frame.receiver is not None else ()
        else:
            owners = self.instances(owner, frame, depth + 1)
        return [found for instance in owners for found in self.stored_values(instance, value.data)]

    def stored_values(self, instance: Instance, name: str) -> list[Located]:
        """The values that an object may hold under an attribute: stores to it, else a value in the class body."""
        if instance.cls is None:
            return []
        held = self.project.of(Members).attribute(instance.cls, name)
        frames = (
            self.method_frame(one.function, instance) if one.function.owner else Activation(one.function)
            for one in held
        )
        found = [Located(one.value, frame) for one, frame in zip(held, frames, strict=True)]
        return found or self._kept_by_base(instance, instance.cls, name)

    def _kept_by_base(self, instance: Instance, cls: Class, name: str) -> list[Located]:
        """A parameter passed to an unreadable base, which is taken to store it under its own name (`config`)."""
        constructor = cls.methods.get("__init__")
        if constructor is None or constructor.parameter(name) is None:
            return []
        passed = _super_init(constructor)
        given = () if passed is None else (*passed.positional, *passed.keywords.values())
        inner = self.method_frame(constructor, instance)
        return [Located(value, inner) for value in given[:1] if value.op is Op.PARAM and value.data == name]

    def method_frame(self, function: Function, instance: Instance) -> Activation:
        """The frame of a method of an object; of a constructor, with the arguments that the object was built with."""
        if function.name == "__init__":
            for frame in self._constructors(instance):
                if frame.function is function:
                    return frame
        return Activation(function, receiver=instance)

    def _bind(self, function: Function, call: Value, frame: Activation, receiver: Instance | None) -> Activation:
        return Activation(function, function.bind(call), frame, receiver, frame.depth + 1, call)

    # -- calls ------------------------------------------------------------------------------------------------------

    def call_frame(self, call: Value, frame: Activation, depth: int = 0) -> Activation | None:
        """The frame of the project's function that a call runs; None if it runs none, or is nested too deep."""
        if frame.depth > _MAX_FRAMES:
            return None
        targets = self._targets if frame.caller is None else {}
        found = targets[call] if call in targets else self._target(call, frame, depth)
        if depth <= _MAX_DEPTH // 2:
            targets[call] = found
        return None if found is None or self.is_recursive(found) else found

    def _target(self, call: Value, frame: Activation, depth: int) -> Activation | None:
        self._budget.spend()
        callee = call.callee
        found = self.project.names.definition(frame.module, callee)
        if isinstance(found, DefinedFunction):
            return self._bind(found.function, call, frame, None)
        if found is not None or callee.op is not Op.ATTR or depth > _MAX_DEPTH:
            return None
        members, owner = self.project.of(Members), callee.args[0]
        if is_super(owner):
            receiver, below = frame.receiver, frame.function.owner
            if below is None or receiver is None or receiver.cls is None:
                return None
            function = members.method_after(receiver.cls, below, callee.data)
            return None if function is None else self._bind(function, call, frame, receiver)
        for instance in self.instances(owner, frame, depth + 1):
            function = None if instance.cls is None else members.method(instance.cls, callee.data)
            if function is not None:
                return self._bind(function, call, frame, instance)
        return None

    @staticmethod
    def is_recursive(frame: Activation) -> bool:
        """True if a frame's function is already running further out."""
        outer = frame.caller
        while outer is not None:
            if outer.function is frame.function:
                return True
            outer = outer.caller
        return False

    def returns(self, call: Value, frame: Activation, depth: int = 0) -> Iterator[Located]:
        """The values that a call of a project function may return."""
        if call.op is not Op.CALL or depth > _MAX_DEPTH:
            return
        inner = self.call_frame(call, frame, depth)
        if inner is not None:
            for event in inner.function.flow.of(EventKind.RETURN):
                yield Located(event.value, inner)

    @staticmethod
    def top_level(module: ModuleFacts) -> Activation:
        """The frame of a file's own code."""
        return Activation(module.body)


def _distinct(instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
    """Each object once, told apart by its call and class; empty if there are too many."""
    if len(instances) < 2:
        return instances
    seen: dict[tuple[int, ...], Instance] = {}
    for instance in instances:
        seen.setdefault((id(instance.call), id(instance.cls)), instance)
    return tuple(seen.values()) if len(seen) <= _MAX_OBJECTS else ()


def _super_init(constructor: Function) -> Value | None:
    """The `super().__init__(…)` of a constructor."""
    for event in constructor.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data == "__init__" and is_super(callee.args[0]):
            return event.value
    return None
