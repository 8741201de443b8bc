"""Effects of other code on a class: attributes and bases that decorators or hooks of bases add, or another class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, dotted, is_self, self_attribute
from modellint.link.calls.named import named_function
from modellint.link.classes.calls import is_standard
from modellint.link.classes.registries import HEIR
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction, External
from modellint.link.searched import mentioning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Nested, Value
    from modellint.link.project import Project

    #: True for the values of a function that are the decorated class.
    IsClass = Callable[[Value], bool]

#: Attributes of a class that decide which others it has.
_DECIDING = frozenset(("__class__", "__getattr__", "__getattribute__"))
_BASES = "__bases__"
#: How many functions that pass the class on are followed.
_MAX_STEPS = 40


@dataclass(frozen=True, slots=True)
class Decorated:
    """The effects of decorators, or of other code, on a class.

    `names` are the attributes that they set, `bases` the classes of the project that they add to its bases.
    They `alter` the class if they set attributes of unknown names, add unknown bases, or return another class.
    Not `is_known`: one of them cannot be read.
    """

    names: frozenset[str]
    bases: tuple[Class, ...]
    alter: bool
    is_known: bool


def decorator_effects(cls: Class, project: Project) -> Decorated:
    """The effects of a class's decorators on it."""
    return project.once(("decorated", cls.module.path, cls.qualname, cls.line), lambda: _find_effects(cls, project))


def _find_effects(cls: Class, project: Project) -> Decorated:
    reading = _Reading(project)
    for decorator in cls.head.decorators:
        reading.decorator(decorator, cls.module)
    return reading.result


def handed_over(cls: Class, project: Project) -> Decorated:
    """The effects of functions that files call with the class as a statement: `with_cache(Decoder)`."""
    reading = _Reading(project)
    for module in dict.fromkeys((cls.module, *mentioning(project, cls.module, cls.name))):
        for event in module.body.flow.dropped if cls.name in module.body.words else ():
            reading.statement(event.value, cls, module)
    return reading.result


def hook_effects(cls: Class, project: Project) -> Decorated:
    """The effects on a class of `__init_subclass__` of its bases."""
    return project.once(("hooked", cls.module.path, cls.qualname, cls.line), lambda: _find_hooked(cls, project))


def _find_hooked(cls: Class, project: Project) -> Decorated:
    reading = _Reading(project)
    for above in project.classes.model(cls).mro()[1:]:
        hook = None if above.cls is None else above.cls.methods.get(HEIR)
        if hook is not None:
            reading.hook(hook)
    return reading.result


class _Reading:
    """Interprets decorators and collects their effects on the class."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._seen: set[object] = set()
        self._names: set[str] = set()
        self._bases: dict[Class, None] = {}
        self._alters = False
        self._is_known = True

    @property
    def result(self) -> Decorated:
        return Decorated(frozenset(self._names), tuple(self._bases), self._alters, self._is_known)

    def decorator(self, decorator: Value, module: ModuleFacts) -> None:
        """Read a decorator as it is written: `@register`, `@register("mlp")`, `@BLOCKS.register()`."""
        callee = decorator.callee if decorator.op is Op.CALL else decorator
        target = self._target(callee, module)
        if isinstance(target, External):
            self._is_known &= _is_harmless(target)
        elif target is None:
            self._is_known = False
        elif decorator.op is Op.CALL:
            self._maker(target)
        else:
            self.function(target, 0)

    def statement(self, call: Value, cls: Class, module: ModuleFacts) -> None:
        """Read a call at module level that may have the class as an argument."""

        def is_class(value: Value) -> bool:
            found = self._project.names.definition(module, value) if value.op in (Op.GLOBAL, Op.ATTR) else None
            return isinstance(found, DefinedClass) and found.cls is cls

        target = self._project.names.definition(module, call.callee)
        if call.has_unpacking and any(is_class(part) for value in call.args[1:] for part in value.walk()):
            self._is_known = False
        for position in _where_given(call, is_class):
            if isinstance(target, DefinedFunction):
                self.function(target.function, position)
            elif call.callee.data == "setattr" and position == 0:
                self.setting(call)

    def function(self, function: Function, position: int | str) -> None:
        """Read a function that gets the class as an argument, by position or by name."""
        names = function.argument_names
        if isinstance(position, int):
            if position >= len(names):
                self._is_known = False
                return
            position = names[position]
        if self._enter((function, position)):
            self._body(function.flow.events, lambda value: value.op is Op.PARAM and value.data == position, function)
            for event in function.flow.of(EventKind.RETURN):
                self._read_replacement(
                    event.value, lambda value: value.op is Op.PARAM and value.data == position, function
                )

    def hook(self, function: Function) -> None:
        """Read a method whose receiver is the class."""
        if self._enter((function, None)):
            self._body(function.flow.events, is_self, function)

    def setting(self, call: Value) -> None:
        """Read a call of `setattr` on the class."""
        name = call.positional[1] if len(call.positional) > 1 else None
        if name is None or name.op is not Op.CONST or name.data in _DECIDING or name.data == _BASES:
            self._alters = True
        else:
            self._names.add(str(name.data))

    def _maker(self, function: Function) -> None:
        """Read a function that returns the decorator."""
        if self._enter((function, None)):
            for event in function.flow.of(EventKind.RETURN):
                self._read_replacement(event.value, lambda value: value.op is Op.PARAM, function, is_maker=True)

    def _read_nested(self, nested: Nested, function: Function) -> None:
        """Read an inner function or lambda that gets the class as its first argument."""
        if not _takes_positional(nested):
            self._is_known = False
        elif self._enter(id(nested)):
            subject = next(iter(nested.parameters.values()))
            self._body(function.flow.events[nested.first : nested.last], lambda value: value is subject, function)
            for value in nested.returns:
                self._read_replacement(value, lambda value: value is subject, function)

    def _read_replacement(self, value: Value, is_class: IsClass, function: Function, *, is_maker: bool = False) -> None:
        """Read the value that replaces the class, or the decorator that a maker returns."""
        if value.op is Op.CHOICE:
            for part in value.args if self._enter(id(value)) else ():
                self._read_replacement(part, is_class, function, is_maker=is_maker)
        elif value.op is Op.LAMBDA and not is_maker and not _takes_positional(value.data):
            # A factory function that makes objects of the class.
            self._body(function.flow.events[value.data.first : value.data.last], is_class, function)
        elif value.op is Op.LAMBDA:
            self._read_nested(value.data, function)
        elif value.op is Op.CALL and value.callee.op is Op.LAMBDA:
            self._read_nested(value.callee.data, function)
        elif value.op is Op.CALL:
            self._read_result(value, is_class, function)
        elif value.op is Op.UNKNOWN:
            self._alters = True  # a class that is made here
        elif not is_class(value) and not (value.op is Op.CONST and value.data is None):
            self._is_known = False

    def _read_result(self, call: Value, is_class: IsClass, function: Function) -> None:
        """Read a call whose result replaces the class or is the decorator."""
        target = self._target(call.callee, function.module, function)
        if isinstance(target, External):
            if target.name == "functools.partial" and call.positional:
                inner = self._target(call.positional[0], function.module, function)
                self._hand_to(inner, 0)
            elif target.name == "builtins.type":
                self._alters = True
            else:
                self._is_known &= _is_harmless(target)
            return
        given = list(_where_given(call, is_class))
        if target is None:
            self._is_known = False
        elif given:
            self.function(target, given[0])
        else:
            self._maker(target)

    def _hand_to(self, target: Function | External | None, position: int | str) -> None:
        if isinstance(target, External):
            self._is_known &= _is_harmless(target)
        elif target is None:
            self._is_known = False
        else:
            self.function(target, position)

    def _body(self, events: Iterable[Event], is_class: IsClass, function: Function) -> None:
        """Read the stores and calls of a function that affect the class."""
        for event in events:
            target = event.target
            owner = target.args[0] if target is not None and target.op is Op.ATTR else None
            if event.kind is EventKind.STORE and target is not None and owner is not None and _may_be(owner, is_class):
                self._names.add(str(target.data))
                self._alters |= target.data in _DECIDING
                if target.data == _BASES:
                    self._derive(event.value, is_class, function)
            elif event.kind is EventKind.CALL:
                self._call(event.value, is_class, function)

    def _derive(self, bases: Value, is_class: IsClass, function: Function) -> None:
        """Collect the classes that are named in a value assigned to `__bases__`."""
        for part in bases.walk():
            if part.op is Op.GLOBAL:
                definition = self._project.names.definition(function.module, part)
                if isinstance(definition, DefinedClass):
                    self._bases[definition.cls] = None
                elif not isinstance(definition, External) or not definition.name.startswith("builtins."):
                    self._alters = True
            elif part.op in (Op.PARAM, Op.INNER, Op.UNKNOWN) and not is_class(part):
                self._alters = True

    def _call(self, call: Value, is_class: IsClass, function: Function) -> None:
        callee = call.callee
        if callee.data == "setattr" or callee.data == "__setattr__":
            if call.positional and _may_be(call.positional[0], is_class):
                self.setting(call)
            return
        for position in _where_given(call, is_class):
            if callee.op is Op.LAMBDA:
                self._read_nested(callee.data, function)
                continue
            target = self._target(callee, function.module, function)
            # An unknown method only stores the class: `entries.append(cls)`.
            if target is not None or callee.op is not Op.ATTR:
                self._hand_to(target, position)

    def _target(
        self, callee: Value, module: ModuleFacts, function: Function | None = None
    ) -> Function | External | None:
        """The function that a callee stands for, methods of objects made at module level included; None if unknown."""
        names = self._project.names
        definition = names.definition(module, callee)
        if isinstance(definition, External):
            return definition
        found = named_function(callee, module, None if function is None else function.owner, self._project)
        if found is not None or self_attribute(callee) is not None:
            return found
        whole, name = dotted(callee) or "", "__call__"
        if not isinstance(definition, DefinedConstant):
            whole, _, name = whole.rpartition(".")
            definition = names.resolve(module, whole) if whole else None
        if not isinstance(definition, DefinedConstant) or definition.value.op is not Op.CALL:
            return None
        made = names.definition(definition.module, definition.value.callee)
        return self._project.classes.model(made.cls).method(name) if isinstance(made, DefinedClass) else None

    def _enter(self, step: object) -> bool:
        """Return whether `step` is read for the first time, within the limit of steps."""
        is_new = step not in self._seen
        self._seen.add(step)
        if len(self._seen) > _MAX_STEPS:
            self._is_known = False
            return False
        return is_new


def _may_be(owner: Value, is_class: IsClass) -> bool:
    """True if the owner of an attribute may be the class or an object of it: no other parameter is."""
    return is_class(owner) or owner.op is not Op.PARAM


def _takes_positional(nested: Nested) -> bool:
    return bool(nested.head) and nested.head[0].kind == "positional"


def _where_given(call: Value, is_class: IsClass) -> Iterator[int | str]:
    """The positions and keywords at which a call has the class as an argument."""
    yield from (at for at, value in enumerate(call.positional) if is_class(value))
    yield from (name for name, value in call.keywords.items() if is_class(value))


def _is_harmless(definition: External) -> bool:
    """True for functions of torch and the standard library: they add no ordinary attributes to classes."""
    top = definition.name.partition(".")[0]
    return top in ("builtins", "torch") or is_standard(top)
