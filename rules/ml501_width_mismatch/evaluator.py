"""Following values across functions, classes and files.

An `Activation` is a function together with what is known of its call: the values of its parameters and the object it is
called on. The evaluator answers, for a value in a frame, which function or layer a call reaches, which object a
value is, and which size a number has. Whatever it cannot follow is unknown, and unknown is empty or None.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.immutable import dataclass
from modellint.graph.python import alternatives
from modellint.graph.value import EventKind, Op, Value, dotted, self_attribute
from modellint.link.names import DefinedClass, DefinedFunction, External
from modellint.link.values.members import Members, is_super, super_init

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: How many steps a value is followed through calls, attributes and parameters.
MAX_DEPTH = 24

#: A value that may be more objects than this is unknown.
_MAX_OBJECTS = 8

#: Methods of a module that give back the module itself.
_SAME_MODULE = operators.methods("Module", "itself")
#: Wrappers that give back the module they are given.
_WRAPPERS = operators.functions("wraps")
#: What is never an object with methods of its own.
_NO_OBJECTS = frozenset((Op.CONST, Op.GLOBAL, Op.BIN, Op.COMPARE, Op.UNARY, Op.TUPLE, Op.LIST, Op.DICT, Op.STRING))
#: Containers, and what their constructors call their contents.
_CONTAINERS = operators.arguments("holds")
#: Functions and methods that give what is in a container, and where methods take what they add.
_CONTENTS = operators.functions("contents")
_CONTENTS_BY_METHOD = operators.methods("dict", "contents")
_ADDED_BY = operators.arguments("adds", "list", "deque", "set") | {"[]=": (2, "")}
_EXTENDED_BY = operators.arguments("extends", "list", "deque")
_APPENDING = tuple(sorted(operators.methods("ModuleList", "adds")))


@dataclass(eq=False, slots=True)
class Instance:
    """An object: of a class of the project, or of a library's (`external`), built by `call` in `frame` if known."""

    cls: Class | None = None
    external: str | None = None
    call: Value | None = None
    frame: Activation | None = None

    @property
    def name(self) -> str:
        return self.cls.name if self.cls is not None else (self.external or "").rpartition(".")[2]


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


@dataclass(eq=False, slots=True)
class Callee:
    """What a call reaches: a project `function` (in a new `frame`), a layer or a library's function by `name`.

    `method` is the name of a method of an object that is not known, most often a tensor's.
    """

    name: str | None = None
    method: str | None = None
    owner: Value | None = None
    layer: Instance | None = None
    frame: Activation | None = None


class Evaluator:
    """Answers about values; one per project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._budget = project.budget
        self._frames: dict[Function, Activation] = {}
        #: What calls reach in functions of which no call is known; bodies are lowered once, so values are keys.
        self._targets: dict[Value, Callee] = {}
        self._instances: dict[Value, tuple[Instance, ...]] = {}

    def root(self, function: Function) -> Activation:
        """The frame of a function of which no call is known."""
        frame = self._frames.get(function)
        if frame is None:
            receiver = Instance(cls=function.owner) if function.owner is not None else None
            frame = self._frames[function] = Activation(function, receiver=receiver)
        return frame

    # -- names ------------------------------------------------------------------------------------------------------

    def definition(self, value: Value, module: ModuleFacts) -> Definition | None:
        """What a dotted name stands for, None for a value that is no name or a local one."""
        parts: list[str] = []
        while value.op is Op.ATTR:
            parts.append(value.data)
            value = value.args[0]
        if value.op is not Op.GLOBAL:
            return None
        parts.append(value.data)
        return self.project.names.resolve(module, parts[0] if len(parts) == 1 else ".".join(reversed(parts)))

    def external_name(self, value: Value, module: ModuleFacts) -> str | None:
        """The canonical dotted name of a library's object (`torch.nn.Embedding`)."""
        found = self.definition(value, module)
        return found.name if isinstance(found, External) else None

    # -- objects ----------------------------------------------------------------------------------------------------

    def instances(self, value: Value, frame: Activation, depth: int = 0) -> tuple[Instance, ...]:
        """The objects that a value may be, as far as they are known."""
        if depth > MAX_DEPTH or value.op in _NO_OBJECTS:
            return ()
        self._budget.spend()
        if frame.caller is not None:
            return _distinct(self._objects(value, frame, depth))
        known = self._instances.get(value)
        if known is None:
            known = _distinct(self._objects(value, frame, depth))
            if depth <= MAX_DEPTH // 2:
                self._instances[value] = known
        return known

    def _objects(self, value: Value, frame: Activation, depth: int) -> tuple[Instance, ...]:
        match value.op:
            case Op.CALL:
                return self._built(value, frame, depth)
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
            case Op.INDEX | Op.ITEM | Op.UNPACK:
                return tuple(
                    found
                    for located in self.elements(value, frame, depth + 1)
                    for found in self.instances(located.value, located.frame, depth + 1)
                )
            case _:
                return ()

    def _built(self, call: Value, frame: Activation, depth: int) -> tuple[Instance, ...]:
        callee = call.callee
        found = self.definition(callee, frame.module)
        if isinstance(found, DefinedClass):
            return (Instance(cls=found.cls, call=call, frame=frame),)
        if isinstance(found, External):
            if found.name in _WRAPPERS and call.positional:
                return self.instances(call.positional[0], frame, depth + 1)
            return (Instance(external=found.name, call=call, frame=frame),)
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
        """The constructors that run when an object is built, with what each of them gets, the object's own first."""
        if instance.cls is None or instance.call is None or instance.frame is None:
            return
        members = self.project.of(Members)
        call: Value | None = instance.call
        frame, constructor = instance.frame, members.method(instance.cls, "__init__")
        while constructor is not None and constructor.owner is not None and call is not None:
            frame = self._bound(constructor, call, frame, instance)
            yield frame
            call = super_init(constructor)
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
        """What a parameter is bound to by the frame's call."""
        return self.argument_named(str(parameter.data), frame)

    def argument_named(self, parameter: str, frame: Activation) -> Located | None:
        """What the parameter of that name is bound to by the frame's call."""
        if frame.caller is None or frame.call is None:
            return None
        bound = frame.arguments.get(parameter)
        if bound is not None:
            return Located(bound, frame.caller)
        for name, value in zip(reversed(frame.call.data), reversed(frame.call.args), strict=False):
            if name is None:
                found = self.entries(value, parameter, frame.caller)
                if found:
                    return found[0]
        return None

    def _builds_output(self, call: Value, frame: Activation) -> bool:
        """Whether a call builds a record of a project class that declares its fields (`ModelOutput(logits=…)`)."""
        found = self.definition(call.callee, frame.module)
        return isinstance(found, DefinedClass) and bool(found.cls.annotations)

    def entries(self, value: Value, key: str, frame: Activation, depth: int = 0) -> list[Located]:
        """What a dict (or an output object) may hold under `key`."""
        if depth > MAX_DEPTH:
            return []
        match value.op:
            case Op.DICT:
                return [
                    Located(arg, frame)
                    for name, arg in zip(value.data, value.args, strict=True)
                    if name is not None and name.op is Op.CONST and name.data == key
                ]
            case Op.UPDATE if value.data == "[]=" and value.args[1].op is Op.CONST and value.args[1].data == key:
                return [Located(value.args[2], frame)]
            case Op.UPDATE:
                return self.entries(value.args[0], key, frame, depth + 1)
            case Op.CHOICE:
                return [found for arg in value.args for found in self.entries(arg, key, frame, depth + 8)]
            case Op.CALL:
                callee = value.callee
                if key in value.keywords and (callee.data == "dict" or self._builds_output(value, frame)):
                    return [Located(value.keywords[key], frame)]
                return [
                    found
                    for located in self.returns(value, frame, depth + 1)
                    for found in self.entries(located.value, key, located.frame, depth + 4)
                ]
            case Op.PARAM:
                bound = self.argument(value, frame)
                return [] if bound is None else self.entries(bound.value, key, bound.frame, depth + 1)
            case _:
                return []

    def annotated_class(self, parameter: Value, frame: Activation) -> Class | None:
        """The project class that a parameter's annotation names (`X`, `"X"`, `Optional[X]`, `X | None`)."""
        declared = frame.function.parameter(str(parameter.data))
        if declared is None or declared.annotation is None:
            return None
        return self.class_of_annotation(declared.annotation, frame.module)

    def class_of_annotation(self, annotation: Value, module: ModuleFacts) -> Class | None:
        for part in alternatives(annotation):
            name = dotted(part)
            if name is not None:
                found = self.project.names.resolve(module, name)
                if isinstance(found, DefinedClass):
                    return found.cls
        return None

    def attribute(self, value: Value, frame: Activation, depth: int = 0) -> list[Located]:
        """What an attribute may hold: what its object's class stores there, in its constructor first."""
        if depth > MAX_DEPTH:
            return []
        if len(value.args) > 1:
            return [Located(value.args[1], frame)]
        owner = value.args[0]
        if owner.op is Op.PARAM and owner.data == "self":
            owners: tuple[Instance, ...] = (frame.receiver,) if frame.receiver is not None else ()
        else:
            owners = self.instances(owner, frame, depth + 1)
        return [found for instance in owners for found in self.stored(instance, value.data)]

    def stored(self, instance: Instance, name: str) -> list[Located]:
        """What an object holds under an attribute."""
        if instance.cls is None:
            return []
        members = self.project.of(Members)
        found = [
            Located(event.value, self.method_frame(function, instance))
            for function, event in members.stored(instance.cls, name)
        ]
        if found:
            return found
        for function, event in members.buffers(instance.cls, name):
            if len(event.value.positional) > 1:
                return [Located(event.value.positional[1], self.method_frame(function, instance))]
        owner = members.attribute(instance.cls, name)
        if owner is None:
            return self._kept_by_base(instance, instance.cls, name)
        return [Located(owner.attributes[name], Activation(owner.module.body))]

    def _kept_by_base(self, instance: Instance, cls: Class, name: str) -> list[Located]:
        """What a constructor passes to that of a base which is not read: it is kept under its own name (`config`)."""
        constructor = cls.methods.get("__init__")
        if constructor is None or constructor.parameter(name) is None:
            return []
        passed = super_init(constructor)
        given = () if passed is None else (*passed.positional, *passed.keywords.values())
        inner = self.method_frame(constructor, instance)
        return [Located(value, inner) for value in given[:1] if value.op is Op.PARAM and value.data == name]

    def method_frame(self, function: Function, instance: Instance) -> Activation:
        """The frame of a method of an object. A constructor's parameters are those the object was built with."""
        if function.name == "__init__":
            for frame in self._constructors(instance):
                if frame.function is function:
                    return frame
        return Activation(function, receiver=instance)

    def _bound(self, function: Function, call: Value, frame: Activation, receiver: Instance | None) -> Activation:
        return Activation(function, function.bind(call), frame, receiver, frame.depth + 1, call)

    def elements(self, value: Value, frame: Activation, depth: int = 0) -> list[Located]:
        """What an element of a sequence (INDEX, ITEM, UNPACK) may be."""
        if depth > MAX_DEPTH or not value.args:
            return []
        source = value.args[0]
        if value.op is Op.UNPACK:
            if source.op is Op.ITEM:
                return self._unpacked_item(value, source, frame, depth)
            if source.op in (Op.TUPLE, Op.LIST) and 0 <= value.data < len(source.args):
                return [Located(source.args[value.data], frame)]
            return [
                Located(found.value.args[value.data], found.frame)
                for found in self.returns(source, frame, depth + 1)
                if found.value.op is Op.TUPLE and 0 <= value.data < len(found.value.args)
            ]
        return self.contained(source, frame, depth + 1)

    def _unpacked_item(self, value: Value, item: Value, frame: Activation, depth: int) -> list[Located]:
        """`for i, x in enumerate(xs)`, `for x, y in zip(xs, ys)`, `for name, x in layers.items()`."""
        iterable = item.args[0]
        if iterable.op is not Op.CALL:
            return []
        callee = iterable.callee
        if callee.op is Op.GLOBAL and callee.data == "enumerate" and value.data == 1 and iterable.positional:
            return self.contained(iterable.positional[0], frame, depth + 1)
        if callee.op is Op.GLOBAL and callee.data == "zip" and 0 <= value.data < len(iterable.positional):
            return self.contained(iterable.positional[value.data], frame, depth + 1)
        if callee.op is Op.ATTR and callee.data == "items" and value.data == 1:
            return self.contained(callee.args[0], frame, depth + 1)
        return []

    def contained(self, value: Value, frame: Activation, depth: int = 0) -> list[Located]:
        """What a container's elements may be."""
        if depth > MAX_DEPTH:
            return []
        match value.op:
            case Op.LIST | Op.TUPLE | Op.SET | Op.DICT:
                return [found for arg in value.args for found in self._element_or_contents(arg, frame, depth)]
            case Op.COMPREHENSION:
                return [Located(value.args[-1], frame)]
            case Op.UPDATE:
                added = _ADDED_BY.get(value.data)
                found = self.contained(value.args[0], frame, depth + 1)
                if added is not None and len(value.args) > added[0]:
                    found.append(Located(value.args[added[0]], frame))
                elif value.data in _EXTENDED_BY and len(value.args) > 1:
                    found.extend(self.contained(value.args[1], frame, depth + 1))
                return found
            case Op.CHOICE:
                return [found for arg in value.args for found in self.contained(arg, frame, depth + 8)]
            case Op.BIN:
                if value.data == "+":
                    return [found for arg in value.args for found in self.contained(arg, frame, depth + 1)]
                return self.contained(value.args[0], frame, depth + 1) if value.data == "*" else []
            case Op.CALL:
                return self._contained_in_call(value, frame, depth)
            case Op.INDEX if value.args[1].op is Op.SLICE:
                return self.contained(value.args[0], frame, depth + 1)
            case Op.ATTR:
                found = [
                    inner
                    for located in self.attribute(value, frame, depth + 1)
                    for inner in self.contained(located.value, located.frame, depth + 1)
                ]
                return found + self._appended(value, frame)
            case Op.PARAM:
                bound = self.argument(value, frame)
                return [] if bound is None else self.contained(bound.value, bound.frame, depth + 1)
            case _:
                return []

    def _element_or_contents(self, arg: Value, frame: Activation, depth: int) -> list[Located]:
        if arg.op is Op.STARRED:
            return self.contained(arg.args[0], frame, depth + 1)
        return [Located(arg, frame)]

    def _contained_in_call(self, call: Value, frame: Activation, depth: int) -> list[Located]:
        callee = call.callee
        name = callee.data if callee.op is Op.GLOBAL else None
        if f"builtins.{name}" in _CONTENTS and call.positional:
            return self.contained(call.positional[0], frame, depth + 1)
        if callee.op is Op.ATTR and callee.data in _CONTENTS_BY_METHOD:
            return self.contained(callee.args[0], frame, depth + 1)
        held = _CONTAINERS.get(self.external_name(callee, frame.module) or "")
        if held is not None:
            given = call.positional or tuple(filter(None, [call.argument(*held)]))
            if len(given) == 1 and given[0].op is not Op.CALL:
                inner = given[0]
                found = self._element_or_contents(inner, frame, depth) if inner.op is Op.STARRED else []
                return found or self.contained(inner, frame, depth + 1) or [Located(inner, frame)]
            return [found for arg in given for found in self._element_or_contents(arg, frame, depth)]
        return [
            inner
            for located in self.returns(call, frame, depth + 1)
            for inner in self.contained(located.value, located.frame, depth + 4)
        ]

    def _appended(self, value: Value, frame: Activation) -> list[Located]:
        """What `self.layers.append(…)` adds in the methods of the class."""
        name = self_attribute(value)
        if name is None or frame.receiver is None or frame.receiver.cls is None:
            return []
        found = []
        for function, event in self.project.of(Members).calls_on(frame.receiver.cls, name, _APPENDING):
            if event.value.positional:
                found.append(Located(event.value.positional[-1], self.method_frame(function, frame.receiver)))
        return found

    # -- calls ------------------------------------------------------------------------------------------------------

    def target(self, call: Value, frame: Activation, depth: int = 0) -> Callee:
        """The definition that a call reaches."""
        if frame.caller is not None:
            return self._target(call, frame, depth)
        known = self._targets.get(call)
        if known is None:
            known = self._target(call, frame, depth)
            if depth <= MAX_DEPTH // 2:
                self._targets[call] = known
        return known

    def _target(self, call: Value, frame: Activation, depth: int) -> Callee:
        self._budget.spend()
        callee = call.callee
        found = self.definition(callee, frame.module)
        if isinstance(found, DefinedFunction):
            return Callee(frame=self._bound(found.function, call, frame, None))
        if isinstance(found, External):
            return Callee(name=found.name)
        if isinstance(found, DefinedClass) or depth > MAX_DEPTH:
            return Callee()
        if callee.op is Op.ATTR:
            reached = self._method(call, callee, frame, depth)
            if reached is not None:
                return reached
            layer = self._layer(callee, call, frame, depth)
            return layer or Callee(method=callee.data, owner=callee.args[0])
        if callee.op is Op.GLOBAL:
            return Callee(name=callee.data)
        return self._layer(callee, call, frame, depth) or Callee()

    def _method(self, call: Value, callee: Value, frame: Activation, depth: int) -> Callee | None:
        owner = callee.args[0]
        if is_super(owner):
            if frame.function.owner is None or frame.receiver is None or frame.receiver.cls is None:
                return None
            cls = frame.receiver.cls
            function = self.project.of(Members).method_after(cls, frame.function.owner, callee.data)
            return None if function is None else Callee(frame=self._bound(function, call, frame, frame.receiver))
        for instance in self.instances(owner, frame, depth + 1):
            if instance.cls is None:
                continue
            function = self.project.of(Members).method(instance.cls, callee.data)
            if function is not None:
                return Callee(frame=self._bound(function, call, frame, instance))
        return None

    def _layer(self, callee: Value, call: Value, frame: Activation, depth: int) -> Callee | None:
        """A call of an object: its `forward` (or `__call__`), or the library's layer."""
        for instance in self.instances(callee, frame, depth + 1):
            if instance.cls is None:
                return Callee(layer=instance)
            members = self.project.of(Members)
            function = members.method(instance.cls, "forward") or members.method(instance.cls, "__call__")
            if function is not None:
                return Callee(layer=instance, frame=self._bound(function, call, frame, instance))
            return Callee(layer=instance)
        return None

    def call_frame(self, call: Value, frame: Activation, depth: int = 0) -> Activation | None:
        """The frame of the project function that a call runs, None if it is none or nested too deep."""
        if frame.depth > 6:
            return None
        found = self.target(call, frame, depth).frame
        return None if found is None or self.is_recursive(found) else found

    @staticmethod
    def is_recursive(frame: Activation) -> bool:
        """Whether a frame's function is already being run further out."""
        outer = frame.caller
        while outer is not None:
            if outer.function is frame.function:
                return True
            outer = outer.caller
        return False

    def returns(self, call: Value, frame: Activation, depth: int = 0) -> Iterator[Located]:
        """What a call of a project function may return."""
        if call.op is not Op.CALL or depth > MAX_DEPTH:
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
    """Each object once: what the same call builds, or the same annotation names. Too many are as good as unknown."""
    if len(instances) < 2:
        return instances
    seen: dict[tuple[int, ...], Instance] = {}
    for instance in instances:
        seen.setdefault((id(instance.call), id(instance.cls), id(instance.external)), instance)
    return tuple(seen.values()) if len(seen) <= _MAX_OBJECTS else ()
