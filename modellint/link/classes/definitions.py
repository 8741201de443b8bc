"""Class statements and methods read from source, in the form that class models use."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from modellint.graph.methods import Conduct
from modellint.graph.value import EventKind, Op, Parameter, dotted, self_attribute, walk_all
from modellint.link.names import DefinedClass, DefinedConstant, External

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Flow, Value
    from modellint.link.names import Definition, Names

_PLAIN_TYPES = frozenset(
    (
        *("int", "float", "str", "bool", "complex", "bytes", "None", "Any", "dtype", "device", "Tensor", "Path"),
        *("Optional", "Union", "List", "Tuple", "Sequence", "Iterable", "Literal", "Dict", "list", "tuple", "dict"),
        *("typing", "torch", "t", "types", "_size", "Size", "_dtype", "_device"),
    )
)
_PLAIN_TYPE = re.compile(r"_?size_\w+|_size_?\w*_t|_ratio_\w+|_maybe_indices_t")
_DOCUMENTED = re.compile(
    r"^[ \t]*([a-z_]\w*) ?[:(][ \t]*(?:an? )?"
    r"(?:int|float|str|bool|string|number|boolean|list of (?:int|float|str)|tuple)\b"
    r"(?![^\n]*(?:torch|nn\.|Module|layer))",
    re.MULTILINE,
)
_READ = re.compile(r"\bself\s*\.\s*(\w+)\b(?!\s*(?:=[^=]|:[^\n=]+=))")
#: Calls that may move something; only functions whose text has one are searched for moves.
_MOVING = re.compile(r"\.\s*(?:to|cuda)\b")
#: Methods that are not part of a layer's work: they move things only on request.
_HOUSEKEEPING = frozenset(("__init__", "to", "cuda", "cpu", "_apply", "apply", "float", "half", "double"))
_REGISTRAR = "register_checkpoint_hooks"
_SAVER = "mark_as_saver"
_LOADERS = ("mark_as_loader", "mark_as_transfer")
_ADDERS = frozenset(("append", "extend", "add", "update", "insert", "pop", "clear"))
_ITSELF = frozenset(("eval", "train", "to", "cuda", "values", "items", "children", "modules", "parameters"))


class SourceScope:
    """Resolves global names in one module."""

    __slots__ = ("_names", "module")

    def __init__(self, module: ModuleFacts, names: Names) -> None:
        self.module = module
        self._names = names

    def definition(self, value: Value) -> Definition | None:
        return self._names.definition(self.module, value)

    def constant(self, definition: Definition) -> tuple[Value, SourceScope] | None:
        if isinstance(definition, DefinedConstant):
            return definition.value, SourceScope(definition.module, self._names)
        return None


class SourceMethod:
    """A function or method that is read from a file."""

    def __init__(self, function: Function, names: Names) -> None:
        self.function = function
        self.scope = SourceScope(function.module, names)

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.function.parameters

    @property
    def flow(self) -> Flow:
        return self.function.flow

    @property
    def has_receiver(self) -> bool:
        return self.function.owner is not None and not self.function.is_static

    @cached_property
    def plain(self) -> frozenset[str]:
        owner = self.function.owner
        documented = set(_DOCUMENTED.findall(self.function.docstring or ""))
        if owner is not None and self.name == "__init__":
            documented.update(_DOCUMENTED.findall(owner.docstring or ""))
        return frozenset(p.name for p in self.parameters if p.name in documented or _is_plain(p))


def _is_plain(parameter: Parameter) -> bool:
    default = parameter.default
    if default is not None and default.op is Op.CONST and default.data is not None:
        return True
    return parameter.annotation is not None and _is_plain_annotation(parameter.annotation)


def _is_plain_annotation(annotation: Value) -> bool:
    for value in annotation.walk():
        if value.op is Op.CONST and isinstance(value.data, str):
            words = re.findall(r"\w+", value.data)
        elif value.op in (Op.GLOBAL, Op.ATTR):
            words = [str(value.data)]
        else:
            words = []
        if not all(word in _PLAIN_TYPES or _PLAIN_TYPE.fullmatch(word) for word in words):
            return False
    return True


def _without_stand_in(definition: Definition | None, module: ModuleFacts) -> Definition | None:
    """The definition of a base; the import, where a class of the file only stands in for one that fails."""
    cls = definition.cls if isinstance(definition, DefinedClass) else None
    if cls is None or cls.module is not module or not cls.offset or cls.name not in module.imports:
        return definition
    return External(module.imports[cls.name])


class SourceFacts:
    """The facts of a class statement."""

    def __init__(self, cls: Class, names: Names) -> None:
        self.cls = cls
        self._names = names
        self.name = f"{cls.module.name}.{cls.qualname}"
        self.scope = SourceScope(cls.module, names)
        self._methods: dict[str, SourceMethod] = {}

    @property
    def bases(self) -> tuple[Definition | None, ...]:
        """The definitions of the bases, resolved on each access: the asker's dependencies must include their files."""
        bases = (base.args[0] if base.op is Op.INDEX else base for base in self.cls.bases)  # Generic[T]
        found = (self._before(self.scope.definition(base)) for base in bases)
        return tuple(_without_stand_in(base, self.cls.module) for base in found)

    def _before(self, definition: Definition | None) -> Definition | None:
        """The definition of a base; of `class Saver(Saver)` the import that the class then replaces."""
        if not isinstance(definition, DefinedClass) or definition.cls is not self.cls:
            return definition
        target = self.cls.module.imports.get(self.cls.name)
        return None if target is None else self._names.absolute(target, self.cls.module.file)

    @property
    def attributes(self) -> Mapping[str, Value]:
        return self.cls.attributes

    @cached_property
    def fields(self) -> tuple[Parameter, ...] | None:
        decorators = [d.callee if d.op is Op.CALL else d for d in self.cls.head.decorators]
        is_dataclass = any(
            (dotted(decorator) or "").rpartition(".")[2] == "dataclass"
            or self.scope.definition(decorator) == External("dataclasses.dataclass")
            for decorator in decorators
        )
        if not is_dataclass and External("typing.NamedTuple") not in self.bases:
            return None
        return tuple(
            Parameter(name, "positional", self.cls.attributes.get(name), annotation)
            for name, annotation in self.cls.annotations.items()
        )

    def has_method(self, name: str) -> bool:
        return name in self.cls.methods

    def method(self, name: str) -> SourceMethod | None:
        function = self.cls.methods.get(name)
        if function is None:
            return None
        method = self._methods.get(name)
        if method is None:
            method = self._methods[name] = SourceMethod(function, self._names)
        return method

    @cached_property
    def conduct(self) -> Conduct:
        moved: set[str] = set()
        moved_parameters: set[str] = set()
        carried: set[str] = set()
        used: set[str] = set()
        for function in self.cls.methods.values():
            text = function.text
            if function.name != "__init__":
                used.update(_READ.findall(text))
            if _MOVING.search(text):
                attributes, parameters = _moves(function)
                moved |= attributes
                if function.name == "__init__":
                    moved_parameters |= parameters
                if function.name not in _HOUSEKEEPING:
                    carried |= _carries(function)
        return Conduct(
            frozenset(used),
            frozenset(moved),
            frozenset(moved_parameters),
            frozenset(carried),
            _changing(self.cls) if _is_registered(self.cls) else frozenset(),
        )


def _is_registered(cls: Class) -> bool:
    """True if a decorator registers the checkpoint hooks of a class: `@register_checkpoint_hooks`."""
    return any(_decorator(value, cls.module) == _REGISTRAR for value in cls.head.decorators)


def _decorator(value: Value, module: ModuleFacts) -> str:
    """The last name of a decorator where it is defined."""
    name = str(value.data)
    origin = module.imports.get(name) if value.op is Op.GLOBAL else None
    return name if origin is None else str(origin).rpartition(".")[2]


def _changing(cls: Class) -> frozenset[str]:
    """The methods that store to attributes saved by checkpoint hooks, or call a method that does.

    A method that does so only for a certain constructor argument has a condition: `forward?norm_type=global`.
    """
    hooks = [function for function in cls.methods.values() if _is_hook(function)]
    read = {name for hook in hooks for name in _read_by(hook)}
    kept = read.union(*(_read_by(cls.methods[name]) for name in read if name in cls.methods))
    others = [
        function
        for name, function in cls.methods.items()
        if name not in _HOUSEKEEPING and name not in read and function not in hooks
    ]
    changing: dict[str, set[str]] = {}
    for _ in others:
        known = len(changing)
        for function in others:
            if function.name not in changing and (conditions := set(_changes(function, kept, changing))):
                changing[function.name] = {""} if "" in conditions else conditions
        if len(changing) == known:
            break
    return frozenset(f"{name}?{c}" if c else name for name, conditions in changing.items() for c in conditions)


def _read_by(function: Function) -> set[str]:
    """The attributes of `self` that a method reads."""
    values = [event.value for event in function.flow.events]
    values += [event.target.args[0] for event in function.flow.events if event.target and event.target.op is Op.INDEX]
    return {name for value in walk_all(values) if (name := self_attribute(value)) is not None}


def _changes(function: Function, kept: set[str], changing: Mapping[str, set[str]]) -> Iterator[str]:
    """The conditions under which a method changes attributes in `kept`, or calls a `changing` method; "" is always."""
    for event in function.flow.events:
        target = event.target if event.kind is EventKind.STORE else None
        callee = event.value.callee if event.kind is EventKind.CALL else None
        if callee is not None and callee.op is Op.ATTR and callee.data in _ADDERS:
            target = callee.args[0]
        while target is not None and target.op in (Op.INDEX, Op.UPDATE):
            target = target.args[0]
        inner = changing.get(str(self_attribute(callee))) if callee is not None else None
        if inner or (target is not None and self_attribute(target) in kept):
            tests = [guard.test for guard in event.guard.chain() if guard.truthy] if event.guard else []
            condition = next(filter(None, map(_condition, tests)), None)
            yield from inner or {""} if condition is None else {condition}


def _condition(test: Value) -> str | None:
    """The condition `norm_type=global` for the test `self.norm_type == "global"`; None for other tests."""
    if test.op is not Op.COMPARE or test.data != "==" or test.args[1].op is not Op.CONST:
        return None
    name = self_attribute(test.args[0])
    return None if name is None else f"{name}={test.args[1].data}"


def _is_hook(function: Function) -> bool:
    """True if a decorator marks a method as saver or loader of checkpoints."""
    decorators = (_decorator(value, function.module) for value in function.signature.decorators)
    return any(name in (_SAVER, *_LOADERS) for name in decorators)


def _moves(function: Function) -> tuple[set[str], set[str]]:
    """The attributes, and the parameters, that a method moves to a device."""
    attributes: set[str] = set()
    parameters: set[str] = set()
    for event in function.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data in ("to", "cuda"):
            for root in _roots(callee.args[0]):
                attribute = self_attribute(root)
                if attribute is not None:
                    attributes.add(attribute)
                elif root.op is Op.PARAM and root.data != "self":
                    parameters.add(root.data)
    return attributes, parameters


def _roots(value: Value) -> Iterator[Value]:
    """The attributes and parameters that `value` may be, or that are its elements."""
    pending = [value]
    seen: set[int] = set()
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if current.op is Op.PARAM or self_attribute(current) is not None:
            yield current
            if len(current.args) > 1:
                pending.append(current.args[1])
        elif current.op in (Op.ITEM, Op.UNPACK, Op.INDEX, Op.STARRED, Op.UPDATE):
            pending.append(current.args[0])
        elif current.op in (Op.CHOICE, Op.LIST, Op.TUPLE, Op.BOOL, Op.DICT):
            pending.extend(current.args)
        elif current.op is Op.CALL:
            callee = current.callee
            if callee.op is Op.ATTR and callee.data in _ITSELF:
                pending.append(callee.args[0])
            elif callee.data in ("ModuleList", "ModuleDict", "Sequential", "list", "zip", "enumerate", "tuple"):
                pending.extend(current.args[1:])


def _carries(function: Function) -> set[str]:
    """The attributes that a method moves with `to`, so that they follow its input; `*` if it moves `self`."""
    carried: set[str] = set()
    for event in function.flow.events:
        value = event.value
        if event.kind is EventKind.CALL and value.callee.op is Op.ATTR and value.callee.data == "to":
            owner = value.callee.args[0]
            if owner.op is Op.PARAM and owner.data == "self":
                carried.add("*")
            elif (attribute := self_attribute(owner)) is not None:
                carried.add(attribute)
    return carried
