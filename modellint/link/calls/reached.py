"""Call targets by names, bases and attributes alone.

A call reaches a function, a method, the constructor of a class, or `forward` of a layer. A call that several
definitions may answer has no target. Replacements at run time are looked for separately, as that costs more:
`modellint.link.calls.doubts`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.definitions import BARE_BASES
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, self_attribute
from modellint.knowledge import surface
from modellint.link.classes.calls import is_standard
from modellint.link.classes.definitions import SourceFacts
from modellint.link.classes.signatures import constructor_parameters
from modellint.link.names import DefinedClass, DefinedFunction, External
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Parameter, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: Decorators of torch and the standard library that keep a function's parameters and result.
_KEEPING = frozenset(
    (
        *("builtins.staticmethod", "builtins.classmethod", "abc.abstractmethod", "functools.cache"),
        *("functools.lru_cache", "typing.final", "typing.override", "typing_extensions.override", "torch.compile"),
        *("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autocast"),
        *("torch.jit.export", "torch.jit.ignore", "torch.jit.unused", "torch.jit.script", "torch.compiler.disable"),
        *("torch.cuda.amp.autocast", "torch.amp.autocast", "torch.autograd.no_grad", "torch.fx.wrap"),
    )
)
_SAME = operators.methods("Module", "itself")
_MODULE_LISTS = frozenset(("torch.nn.ModuleList",))
_MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Reached:
    """The target of a call: where it is defined, and its parameters without those that are already bound.

    `function` is the definition, None for a constructor without source. `owner` is the class whose object is called,
    or constructed if `is_made`. `attribute` is the attribute of `self` that holds the called object.
    `may_be_overridden`: the receiver may be an object of a subclass.
    """

    name: str
    parameters: tuple[Parameter, ...]
    function: Function | None = None
    owner: ClassModel | None = None
    is_made: bool = False
    may_be_overridden: bool = False
    attribute: str | None = None


class CallReach:
    """Resolves the calls in one function, since names are resolved in its module and class."""

    def __init__(self, project: Project, function: Function) -> None:
        self._project = project
        self._function = function
        self._names = project.names
        self._classes = project.classes

    def of(self, call: Value) -> Reached | None:
        """The target of a CALL; None if it is unknown or ambiguous."""
        callee = call.callee
        if callee.op is Op.GLOBAL:
            return self._of_definition(self._names.definition(self._function.module, callee), str(callee.data))
        if callee.op is Op.PARAM and callee.data == "self":
            return self._of_receiver()
        if callee.op is not Op.ATTR:
            made = self.class_of(callee)
            return None if made is None else self._of_call_method(made)
        owner, name = callee.args[0], str(callee.data)
        definition = self._names.definition(self._function.module, callee)
        if definition is not None:
            return self._of_definition(definition, name)
        if owner.op is Op.PARAM and owner.data == "self":
            return self._of_self(callee, name)
        if owner.op is Op.CALL and owner.callee.op is Op.GLOBAL and owner.callee.data == "super":
            return self._of_super(owner, name)
        if owner.op in (Op.CALL, Op.ATTR, Op.ITEM, Op.INDEX):
            made = self.class_of(owner)
            return None if made is None else self._method(made, name, attribute=self_attribute(owner))
        return None

    # -- objects -----------------------------------------------------------------------------------------------

    def class_of(self, value: Value, depth: int = 0) -> ClassModel | None:
        """The class of the object that a value is; None if it is unknown or ambiguous."""
        if depth > _MAX_DEPTH:
            return None
        if value.op is Op.CALL:
            callee = value.callee
            definition = self._names.definition(self._function.module, callee)
            if definition is None and callee.op is Op.ATTR and callee.data in _SAME:
                return self.class_of(callee.args[0], depth + 1)
            return self._classes.of(definition) if isinstance(definition, DefinedClass | External) else None
        if value.op is Op.CHOICE and value.data is not None:
            found = {self.class_of(part, depth + 1) for part in value.args}
            return found.pop() if len(found) == 1 else None
        name = self_attribute(value)
        if name is not None:
            owner = self._function.owner
            return None if owner is None else attribute_class(self._project, owner, name, depth + 1)
        if value.op in (Op.ITEM, Op.INDEX):
            name = self_attribute(value.args[0])
            owner = self._function.owner
            return None if name is None or owner is None else element_class(self._project, owner, name, depth + 1)
        return None

    # -- targets -----------------------------------------------------------------------------------------------

    def _of_definition(self, definition: Definition | None, name: str) -> Reached | None:
        if isinstance(definition, DefinedFunction):
            function = definition.function
            if not keeps_signature(function, self._project):
                return None
            parameters = function.parameters
            if function.owner is not None and function.is_class_method:
                parameters = parameters[1:]
            return Reached(name, parameters, function)
        if isinstance(definition, DefinedClass | External):
            model = self._classes.of(definition)
            if model is not None:
                return self._constructor(model)
        return None

    def _constructor(self, model: ClassModel) -> Reached | None:
        found = constructor_parameters(model, self._classes, any_release=True)
        if len(found) != 1:
            return None
        for current in model.mro():
            if "__init__" in current.facts.attributes:
                break
            if current.facts.has_method("__init__"):
                method = current.cls.methods["__init__"] if current.cls is not None else None
                return Reached(_short(model), found[0], method, model, is_made=True)
        return Reached(_short(model), found[0], None, model, is_made=True)

    def _of_call_method(self, model: ClassModel) -> Reached | None:
        """`forward` of a layer that is called, or `__call__` of another object."""
        if model.cls is None:
            parameters = surface.forward_parameters(model.name)
            return None if parameters is None else Reached("forward", parameters, None, model)
        if self._method_home(model, "__call__") is not None or not model.is_module:
            return self._method(model, "__call__")
        return self._method(model, "forward")

    def _method(self, model: ClassModel, name: str, *, attribute: str | None = None) -> Reached | None:
        """The method of an object whose class is exactly `model`."""
        home = self._method_home(model, name)
        return None if home is None else self._bound_method(home, name, model, attribute=attribute)

    def _method_home(self, model: ClassModel, name: str) -> Class | None:
        """The class of the MRO that defines a method; None if no source does, or an unknown base comes before it."""
        for current in model.mro():
            facts = current.facts
            if facts.has_method(name):
                return facts.cls if isinstance(facts, SourceFacts) else None
            if name in facts.attributes or not all(map(self._classes.is_known_base, facts.bases)):
                return None
        return None

    def _bound_method(
        self,
        home: Class,
        name: str,
        model: ClassModel,
        *,
        may_be_overridden: bool = False,
        attribute: str | None = None,
    ) -> Reached | None:
        function = home.methods[name]
        if name in home.rebound or name in home.attributes or not keeps_signature(function, self._project):
            return None
        return Reached(
            name, function.open_parameters, function, model, may_be_overridden=may_be_overridden, attribute=attribute
        )

    def _of_self(self, callee: Value, name: str) -> Reached | None:
        """The target of `self.name(…)`: a method, or the object that the class stores in this attribute."""
        cls = self._function.owner
        if cls is None or len(callee.args) > 1:
            return self._of_attribute(callee)
        model = self._classes.model(cls)
        home = self._method_home(model, name)
        if home is not None:
            if self._function.is_class_method and not _is_of_class(home.methods[name]):
                return None
            return self._bound_method(home, name, model, may_be_overridden=True)
        return self._of_attribute(callee)

    def _of_receiver(self) -> Reached | None:
        """The target of `self(…)` in a layer, or of `cls(…)` in a class method."""
        cls = self._function.owner
        if cls is None or self._function.is_static:
            return None
        model = self._classes.model(cls)
        found = self._constructor(model) if self._function.is_class_method else self._of_call_method(model)
        return None if found is None else replace(found, may_be_overridden=True)

    def _of_attribute(self, callee: Value) -> Reached | None:
        made = self.class_of(callee)
        found = None if made is None else self._of_call_method(made)
        return None if found is None else replace(found, attribute=self_attribute(callee))

    def _of_super(self, call: Value, name: str) -> Reached | None:
        """The target of `super().name(…)` if the next class is certain: the only base, or the first one defines it.

        None for `__new__`, to which the code itself passes the class.
        """
        cls = self._function.owner
        if cls is None or self._function.is_static or name == "__new__":
            return None
        if call.positional and not self._is_own(call):
            return None
        model = self._classes.model(cls)
        bases = [base for base in model.facts.bases if not (isinstance(base, External) and base.name in BARE_BASES)]
        first = self._classes.of(bases[0]) if bases else None
        if first is None or (len(bases) > 1 and not first.facts.has_method(name)):
            return None
        if not first.is_complete and self._is_above_itself(cls, first):
            return None
        if name == "__init__":
            found = constructor_parameters(first, self._classes, any_release=True)
            made = self._constructor(first) if len(found) == 1 else None
            is_stated = made is not None and (made.function is not None or first.cls is None)
            return made if is_stated else None
        home = self._method_home(first, name)
        if home is None or (self._function.is_class_method and not _is_of_class(home.methods[name])):
            return None
        return self._bound_method(home, name, first)

    def _is_above_itself(self, cls: Class, base: ClassModel) -> bool:
        """True if the bases of a class lead back to it, a cycle that Python refuses."""
        found = {base: None}
        pending = [base]
        for model in pending:
            for above in filter(None, map(self._classes.of, model.facts.bases)):
                if above.cls is cls:
                    return True
                if above not in found:
                    found[above] = None
                    pending.append(above)
        return False

    def _is_own(self, call: Value) -> bool:
        """True for `super(X, self)` in the class X itself."""
        cls = self._function.owner
        first = call.positional[0]
        second = call.positional[1] if len(call.positional) > 1 else None
        if cls is None or second is None or second.op is not Op.PARAM or second.data != "self":
            return False
        definition = self._names.definition(self._function.module, first)
        return isinstance(definition, DefinedClass) and definition.cls is cls


def attribute_class(project: Project, cls: Class, name: str, depth: int = 0) -> ClassModel | None:
    """The class of every object that a class and its bases store in an attribute; None if unknown or several."""
    return project.once(("attribute class", cls, name), lambda: _attribute_class(project, cls, name, depth))


def _attribute_class(project: Project, cls: Class, name: str, depth: int) -> ClassModel | None:
    found: set[ClassModel | None] = set()
    for current in project.classes.model(cls).mro():
        if current.cls is None:
            continue
        if name in current.cls.attributes:
            return None
        for function, event in current.cls.stores(name):
            # None, as it often is at first, cannot be called.
            if not _is_none(event.value):
                found.add(CallReach(project, function).class_of(event.value, depth))
                if None in found:
                    return None
    return found.pop() if len(found) == 1 else None


def _is_none(value: Value) -> bool:
    return value.op is Op.CONST and value.data is None


def element_class(project: Project, cls: Class, name: str, depth: int = 0) -> ClassModel | None:
    """The class of every element of the `ModuleList` in an attribute; None if unknown or several."""
    return project.once(("element class", cls, name), lambda: _element_class(project, cls, name, depth))


def _element_class(project: Project, cls: Class, name: str, depth: int) -> ClassModel | None:
    found: set[ClassModel | None] = set()
    for function, event in project.of(Members).stores(cls, name):
        value = event.value
        definition = project.names.definition(function.module, value.callee) if value.op is Op.CALL else None
        if not isinstance(definition, External) or definition.name not in _MODULE_LISTS or len(value.args) > 2:
            return None
        held = value.args[1] if len(value.args) > 1 else None
        if held is None:
            continue
        if held.op is Op.COMPREHENSION or (held.op in (Op.LIST, Op.TUPLE) and held.args):
            found.update(CallReach(project, function).class_of(part, depth) for part in held.args)
        else:
            return None
    for function, event in project.of(Members).calls_on(cls, name, ("append", "insert", "extend")):
        if event.value.callee.data != "append" or len(event.value.positional) != 1:
            return None
        found.add(CallReach(project, function).class_of(event.value.positional[0], depth))
    return found.pop() if len(found) == 1 else None


def keeps_signature(function: Function, project: Project) -> bool:
    """True if all decorators of a function are in `_KEEPING`, so that it is called as it is written."""
    decorators = function.signature.decorators
    return not decorators or _keep_signature(project, function, decorators)


def has_foreign(decorators: Iterable[Value], function: Function, project: Project) -> bool:
    """True if one of the decorators in a function's file is of a library other than torch and Python's own.

    Nobody reads what it makes of a function: it may compile it, or change its result.
    """
    found = (project.names.definition(function.module, one) for one in decorators)
    tops = (one.name.partition(".")[0] for one in found if isinstance(one, External))
    return any(top not in ("builtins", "torch") and not is_standard(top) for top in tops)


def _keep_signature(project: Project, function: Function, decorators: Iterable[Value]) -> bool:
    for decorator in decorators:
        plain = decorator.callee if decorator.op is Op.CALL else decorator
        definition = project.names.definition(function.module, plain)
        if not isinstance(definition, External) or definition.name not in _KEEPING:
            return False
    return True


def _is_of_class(function: Function) -> bool:
    return function.is_static or function.is_class_method


def _short(model: ClassModel) -> str:
    return model.name.rpartition(".")[2]
