"""A filter before runs: which classes may keep a plain container (list, dict, …) that holds layers or parameters.

Running an object costs far more than looking at what its methods store, and correct code keeps few layers in plain
containers. The filter over-approximates: whatever it cannot judge counts as worth a run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.closures import calls_used_inside
from modellint.flow.layer_makers import LayerMakers
from modellint.flow.library.functions import NAMESPACES, PARTIAL
from modellint.flow.unpassed import container_of_layers
from modellint.graph.declared import documented, is_tensor
from modellint.graph.python import alternatives
from modellint.graph.value import EventKind, Nested, Op, self_attribute
from modellint.link.calls.named import named_function
from modellint.link.classes import calls
from modellint.link.classes.calls import ADDERS, REGISTRARS
from modellint.link.classes.definitions import SourceMethod
from modellint.link.classes.registries import entered, heirs, is_filled, registrations, registrations_by
from modellint.link.names import DefinedClass, DefinedConstant, External
from modellint.link.remembered import FLAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.graph.methods import Method
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

_DISPLAYS = frozenset((Op.LIST, Op.TUPLE, Op.SET))
_REGISTRARS = REGISTRARS | {"__setattr__"}
_OF_TENSORS = operators.methods("Tensor")
#: Operations whose result is neither a layer nor a container, and holds neither.
_HARMLESS = frozenset((Op.CONST, Op.COMPARE, Op.STRING, Op.SLICE, Op.UNARY, Op.LAMBDA))
#: Functions that return their argument, or a container of it.
_PASSING = frozenset(
    f"builtins.{name}"
    for name in """list tuple set dict frozenset sorted reversed iter next zip enumerate map filter getattr sum
    vars""".split()
)
_PASSING_FROM = ("collections.", "itertools.", "functools.", "copy.", "types.", "dataclasses.", "typing.")
#: Functions that store an attribute whose name is an argument.
_STORING = frozenset(("setattr", "builtins.setattr"))
#: Functions that register a tensor, or anything, by a name.
_REGISTERING = frozenset(("register_buffer", "register_parameter", "setattr"))
#: Attributes of tensors that are no tensors.
_OF_NUMBERS = operators.attributes("Tensor") - operators.attributes("Tensor", "passed", "same-shape")
#: Text that every store in an object contains: an assignment to an attribute or an element, a method that fills or
#: registers, or the object itself as an argument.
_STORES = re.compile(
    r"(?:\.[\s\\]*\w+|\])[\s)\\]*(?:#[^\n]*\s*)*(?::[^=]*)?[-+*/|&@%^]{0,2}=(?!=)|\b(?:for|as)\s+[\w(]+\s*[.\[]"
    r"|\b(?:append|extend|insert|update|add|setdefault|appendleft)\b|setattr|add_module|register_|__dict__|_modules"
    r"|_parameters|_buffers|[(,=]\s*self\s*[,)]|=\s*self\b"
)


#: How deeply questions about values may be nested; beyond it the answer is True, which means a run.
_MAX_DEPTH = 80


class Keepers:
    """The filter's answers for the classes and functions of a project, each memoised."""

    def __init__(self, project: Project) -> None:
        self._project = project
        #: The present nesting of questions about values.
        self.depth = 0
        self._classes: dict[Class, bool] = {}
        self._stranding: dict[Class, bool] = {}
        self._functions: dict[tuple[Function, str], bool] = {}
        self.makers = LayerMakers(project)

    def may_keep(self, cls: Class) -> bool:
        """True if the class's own methods may leave layers or parameters in a plain container."""
        if cls not in self._classes:
            self._classes[cls] = any(map(self.method_may_keep, self._storing(cls)))
        return self._classes[cls]

    def may_store(self, cls: Class) -> bool:
        """True if any method of the class may store something in an object."""
        return any(True for _ in self._storing(cls))

    @staticmethod
    def _storing(cls: Class) -> Iterator[Function]:
        """The methods whose text may store something in an object; the others need not be lowered."""
        return (method for method in cls.methods.values() if _STORES.search(method.text))

    def method_may_keep(self, method: Function) -> bool:
        """True if the method may leave layers or parameters in a plain container."""
        return self.of_function(method, "keeps", _Body(self, method, method.owner).may_keep)

    def method_matters(self, method: Function) -> bool:
        """True if the method may leave layers in a plain container, or store a value derived from a parameter."""
        return self.method_may_keep(method) or self._method_may_derive(method)

    def is_idle(self, function: Function) -> bool:
        """True if neither the function nor anything that it calls stores, registers or returns layers."""
        return self._project.once(("idle", function), lambda: not self._matters(function), kept=FLAG)

    def is_idle_in(self, function: Function, model: ClassModel) -> bool:
        """True if the function and the methods it calls on `self` are idle, none in the file that defines the class."""
        return self._project.once(("idle", function, model), lambda: self._is_idle_in(function, model))

    def may_make(self, function: Function, model: ClassModel | None) -> bool:
        """True if the function, called on an object of `model` if it is a method, may make a layer."""
        return self.makers.may_make(function, model)

    def _is_idle_in(self, function: Function, model: ClassModel) -> bool:
        home = None if model.cls is None else model.cls.module
        called, pending = {function}, [function]
        for method in pending:
            if method.module is home or not self.is_idle(method):
                return False
            for event in method.flow.of(EventKind.CALL):
                name = self_attribute(event.value.callee)
                own = None if name is None else model.method(name)
                if own is not None and own not in called:
                    called.add(own)
                    pending.append(own)
        return True

    def _matters(self, function: Function) -> bool:
        return self.of_function(function, "matters", _Body(self, function, function.owner).may_matter)

    def may_derive(self, cls: Class) -> bool:
        """True if the class's own methods may store a value derived from a new parameter instead of the parameter."""
        return any(map(self._method_may_derive, self._storing(cls)))

    def _method_may_derive(self, method: Function) -> bool:
        return self.of_function(method, "derives", _Body(self, method, method.owner).may_derive)

    def may_strand(self, cls: Class) -> bool:
        """True if the class's own methods may store a tensor created on the default device, or make one for a base."""
        if cls not in self._stranding:
            self._stranding[cls] = any(map(self._method_may_strand, self._storing(cls))) or self._may_make_for_base(cls)
        return self._stranding[cls]

    def _may_make_for_base(self, cls: Class) -> bool:
        """True if a base may store what a method makes that only this class has: `self.table = self.make_table()`."""
        own = cls.methods.keys()
        above = self._project.classes.model(cls).mro()[1:] if own else ()
        for base in [model.cls for model in above if model.cls is not None]:
            names = own - base.methods.keys()
            for method in base.methods.values():
                for event in method.flow.of(EventKind.STORE) if not names.isdisjoint(method.words) else ():
                    callee = event.value.callee if event.value.op is Op.CALL else event.value
                    made = cls.methods.get(self_attribute(callee) or "") if callee is not event.value else None
                    if made is not None and _Body(self, method, cls)._asks(made, "is new", False):
                        return True
        return False

    def _method_may_strand(self, method: Function) -> bool:
        return self.of_function(method, "strands", _Body(self, method, method.owner).may_strand)

    def may_register(self, model: ClassModel, name: str) -> bool:
        """True if objects of a class may register a parameter or buffer of a name."""
        return self._project.once(("registers", model, name), lambda: any(_may_register(model, name)))

    def may_give_tensor(self, model: ClassModel, name: str) -> bool:
        """True if an attribute of an object may be a new tensor, parameter or buffer, or a method may return one."""
        method = model.method(name)
        if method is not None:
            return _Body(self, method, method.owner)._asks(method, "is new", False)
        if model.is_module is True and self.may_register(model, name):
            return True
        stored = ((one.cls, *store) for one in model.mro() if one.cls is not None for store in one.cls.stores(name))
        return any(_Body(self, function, cls)._is_fresh(event.value) for cls, function, event in stored)

    def may_store_early(self, cls: Class) -> bool:
        """True if the class's constructor may store a layer or parameter before it calls its base's constructor."""
        return _Body(self, cls.methods["__init__"], cls).may_store_early()

    def of_function(self, function: Function, question: str, answer: Callable[[], bool]) -> bool:
        """The memoised answer to a question about a function; False while it is computed, so recursion adds nothing."""
        key = (function, question)
        if key not in self._functions:
            self._functions[key] = False
            self._functions[key] = answer()
        return self._functions[key]

    @property
    def project(self) -> Project:
        return self._project


def _memoise(question: Callable[[_Body, Value], bool]) -> Callable[[_Body, Value], bool]:
    """Memoises a question about a value; the answer is False while it is computed, so a cycle adds nothing."""
    name = question.__name__

    def answer(body: _Body, value: Value) -> bool:
        key = (name, id(value))
        known = body.answers.get(key)
        if known is None:
            keepers = body.keepers
            if keepers.depth > _MAX_DEPTH:
                return True
            body.answers[key] = False
            keepers.depth += 1
            known = body.answers[key] = question(body, value)
            keepers.depth -= 1
        return known

    return answer


class _Body:
    """The questions about one function, as a method of `cls` if it is one."""

    def __init__(self, keepers: Keepers, function: Function, cls: Class | None, *, given: bool = False) -> None:
        self.keepers = keepers
        #: Whether arguments may be layers: True only if a call that is followed passes some.
        self._given = given
        self._project = keepers.project
        self._function = function
        self._cls = cls
        self._plain: frozenset[str] | None = None
        #: Answers by question and identity of the value; False while one is computed.
        self.answers: dict[tuple[str, int], bool] = {}

    def may_keep(self) -> bool:
        """True if the function may put layers into a plain container that an object keeps."""
        kept: set[int] = set()
        for event in self._function.flow.events:
            if event.kind is EventKind.STORE and event.target is not None:
                if event.target.op is Op.ATTR:
                    if self._is_kept(event.value) or self._is_put_in_namespace(event.target, event.value):
                        return True
                    kept.add(id(_root(event.value)))
                elif event.target.op is Op.INDEX and self._grows(event.target.args[0], (event.value,), kept):
                    return True
            elif (event.kind is EventKind.CALL and self._call_keeps(event, kept)) or (
                event.kind is EventKind.AUGMENT and self._grows(event.value.args[0], event.value.args[1:], kept)
            ):
                return True
        return False

    def may_derive(self) -> bool:
        """True if the function may store under an attribute a value derived from a parameter that it creates."""
        for event in self._function.flow.events:
            if event.kind is EventKind.STORE and event.target is not None and event.target.op is Op.ATTR:
                stored = event.value
            elif event.kind is EventKind.CALL and event.value.callee.data in _STORING:
                stored = event.value.args[-1]
            else:
                continue
            if not self._makes_parameter(stored) and self._involves_parameter(stored):
                return True
        return False

    def _makes_parameter(self, value: Value) -> bool:
        """True if the value is a call of a parameter class or of a layer class."""
        named = self._definition(value.callee) if value.op is Op.CALL else None
        if not isinstance(named, DefinedClass | External):
            return False
        return self._is_tensor_class(named) or self._is_module(named) is True

    @_memoise
    def _involves_parameter(self, value: Value) -> bool:
        """True if a new parameter is a part of the value, but not inside a layer."""
        if value.op is Op.CALL:
            named = self._definition(value.callee)
            if isinstance(named, DefinedClass | External):
                if self._is_tensor_class(named):
                    return True
                if self._is_module(named) is True:
                    return False
            called = self._function_of(value.callee)
            if called is not None and self._asks(called, "involves", False):
                return True
        if value.op is Op.ATTR and self_attribute(value) is not None:
            name = str(value.data)
            return self._is_property(name, "involves") or any(map(self._involves_parameter, value.args[1:]))
        if value.op is Op.GLOBAL or value.op is Op.ATTR:
            named = self._definition(value)
            if isinstance(named, DefinedClass | External):
                return self._is_tensor_class(named)
        return any(map(self._involves_parameter, value.args))

    def _involves_any(self) -> bool:
        return any(self._involves_parameter(event.value) for event in self._results())

    def may_strand(self) -> bool:
        """True if the function may store a new tensor under an attribute, or have another function store it."""
        for event in self._function.flow.events:
            if event.kind is EventKind.STORE and event.target is not None and self._keeps(event.target):
                if self._is_fresh(event.value):
                    return True
            elif event.kind is EventKind.CALL and self._has_stored(event.value):
                return True
        return False

    def _keeps(self, target: Value) -> bool:
        """True if a store to `target` may set an attribute of the object, or an element of one."""
        if target.op is Op.ATTR:
            return target.args[0].op is not Op.ATTR
        root = _root(target.args[0])
        name = self_attribute(root)
        return self._may_be_plain(name) if name is not None else root.op is Op.PARAM or self._is_container(root)

    def _has_stored(self, call: Value) -> bool:
        """True if the call may store a new tensor in the object, one that it receives or creates."""
        callee = call.callee
        gets_object = any(arg.op is Op.PARAM and arg.data == "self" for arg in call.args[1:])
        is_method = callee.op is Op.ATTR and (callee.data not in _OF_TENSORS or callee.data in ADDERS)
        if (gets_object or is_method or callee.data in _STORING) and any(map(self._is_fresh, call.args[1:])):
            return self_attribute(callee) not in REGISTRARS or self._function_of(callee) is not None
        called = self._function_of(callee) if gets_object else None
        return called is not None and self._asks(called, "strands", False)

    @_memoise
    def _is_fresh(self, value: Value) -> bool:
        """True if the value may be, or hold, a tensor created on the default device."""
        if value.op is Op.CALL:
            named = self._definition(value.callee)
            if isinstance(named, External) and (row := operators.row(named.name)) is not None and "fresh" in row.facets:
                return True
            if isinstance(named, DefinedClass | External) and self._is_registered(named):
                return False
            if self._is_named_by_value(value.callee):
                return True
            called = self._function_of(value.callee)
            if called is not None and self._asks(called, "is new", False):
                return True
            if self._is_unseen_method(value.callee):
                return True
        if value.op is Op.PARAM:
            if self._function.name == "__init__" and any(
                one.name == value.data and (is_tensor(one) or documented(one, self._function) is not None)
                for one in self._function.parameters
            ):
                return True
            return self._given and value.data != "self" and value.data not in self._plain_parameters()
        if value.op is Op.GLOBAL and isinstance(named := self._definition(value), DefinedConstant):
            return _Body(self.keepers, named.module.body, None)._is_fresh(named.value)
        name = self_attribute(value)
        if name is not None and (self._is_property(name, "is new") or self._inherits_fresh(name)):
            return True
        if value.op is Op.ATTR and name is None and value.data in _OF_NUMBERS:
            return False
        if (value.op is Op.ATTR and (self._may_be_state(value) or self._is_of_object(value))) or (
            value.op is Op.CALL and self._gets_by_name(value)
        ):
            return True
        if value.op is Op.LAMBDA and isinstance(value.data, Nested):
            return any(map(self._is_fresh, value.data.returns))
        return any(map(self._is_fresh, value.args))

    def _is_of_object(self, value: Value) -> bool:
        """True if the value, an attribute or method of an object that is kept or given, may be or make a tensor."""
        return any(self.keepers.may_give_tensor(model, str(value.data)) for model in self._models_of(value.args[0]))

    def _models_of(self, owner: Value) -> Iterator[ClassModel]:
        """The classes of an object in an attribute, by what is stored there, or of one that is given, by annotation."""
        name = self_attribute(owner)
        found: list[object] = []
        if owner.op is Op.PARAM:
            declared = self._function.parameter(str(owner.data))
            annotation = None if declared is None else declared.annotation
            found = [] if annotation is None else list(map(self._definition, alternatives(annotation)))
        for function, event in () if name is None or self._cls is None else self._cls.stores(name):
            if event.value.op is Op.CALL:
                found.append(self._project.names.definition(function.module, event.value.callee))
        models = (self._project.classes.of(one) for one in found if isinstance(one, DefinedClass | External))
        return (model for model in models if model is not None)

    def _is_unseen_method(self, callee: Value) -> bool:
        """True if a callee is a method of an object that the function is given, or one that subclasses define."""
        name = self_attribute(callee)
        if name is None or self._cls is None:
            return name is not None
        model = self._project.classes.model(self._cls)
        is_known = model.has_method(name) or any(
            one.cls is not None and any(one.cls.stores(name)) for one in model.mro()
        )
        return not is_known

    def _may_be_state(self, value: Value) -> bool:
        """True if the value, an attribute of the object, may be a parameter or buffer."""
        name = self_attribute(value)
        return (
            name is not None
            and self._cls is not None
            and self.keepers.may_register(self._project.classes.model(self._cls), name)
        )

    def _gets_by_name(self, call: Value) -> bool:
        """True if the call may get a parameter or buffer of the object: `getattr(self, f"scale_{i}")`."""
        if call.callee.data not in ("getattr", "builtins.getattr") or len(call.positional) < 2 or self._cls is None:
            return False
        owner, name = call.positional[:2]
        is_own = owner.op is Op.PARAM and owner.data == "self" and name.op is not Op.CONST
        return is_own and not _REGISTERING.isdisjoint(self._function.words)

    def _is_named_by_value(self, callee: Value) -> bool:
        """True if the callee is a function of torch, or of its initialisers, that is looked up by name."""
        if callee.op is not Op.CALL or callee.callee.data not in ("getattr", "builtins.getattr"):
            return False
        owner = self._definition(callee.positional[0]) if callee.positional else None
        return owner in (External("torch"), External("torch.nn.init"))

    def _is_registered(self, named: DefinedClass | External) -> bool:
        """True if instances of the class are layers, parameters or buffers."""
        return self._is_module(named) is True or self._is_tensor_class(named)

    def _inherits_fresh(self, name: str) -> bool:
        """True if a method of a base class may store a new tensor under the attribute."""
        for model in () if self._cls is None else self._project.classes.model(self._cls).mro()[1:]:
            for function, event in () if model.cls is None else model.cls.stores(name):
                if _Body(self.keepers, function, model.cls)._is_fresh(event.value):
                    return True
        return False

    def _makes_fresh(self) -> bool:
        return any(self._is_fresh(event.value) for event in self._results())

    def may_store_early(self) -> bool:
        """True if this constructor, or a method that it calls, may store something before a base is initialised."""
        for event in self._function.flow.events:
            if event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR:
                if event.value.callee.data == "__init__":
                    return False
                if self._function_of(event.value.callee) is not None and self_attribute(event.value.callee) is not None:
                    return True
            if event.kind is EventKind.CALL and event.value.callee.data in _STORING:
                return True
            is_own = event.target is not None and self_attribute(event.target) is not None
            if is_own and (self._is_layer(event.value) or self._is_kept(event.value)):
                return True
        return False

    def may_matter(self) -> bool:
        """True if the function may store, register or return layers, or containers that hold some."""
        for event in self._function.flow.events:
            if event.kind in (EventKind.STORE, EventKind.RETURN, EventKind.YIELD):
                if self._is_layer(event.value) or self._is_kept(event.value):
                    return True
            elif event.kind is EventKind.CALL and self._call_matters(event.value):
                return True
        return False

    def _call_matters(self, call: Value) -> bool:
        callee = call.callee
        if any(arg.op is Op.PARAM and arg.data == "self" for arg in call.args[1:]):
            called = self._function_of(callee)
            return callee.data != "isinstance" and (
                called is None or self._asks(called, "matters", self._gets_layers(call))
            )
        if callee.op is not Op.ATTR:
            return False
        owner = callee.args[0]
        is_super = owner.op is Op.CALL and owner.callee.data == "super"
        if is_super or (owner.op is Op.PARAM and owner.data == "self"):
            if callee.data in _REGISTRARS:
                return True
            called = self._resolve_super(str(callee.data)) if is_super else self._function_of(callee)
            return called is not None and self._asks(called, "matters", self._gets_layers(call))
        return callee.data in ADDERS and self_attribute(_root(owner)) is not None and self._gets_layers(call)

    def _resolve_super(self, name: str) -> Function | None:
        """The method that `super().name` resolves to; None if there is none, or if it cannot be read."""
        for model in () if self._cls is None else self._project.classes.model(self._cls).mro()[1:]:
            if model.facts.has_method(name):
                return None if model.cls is None else model.cls.methods.get(name)
        return None

    def _call_keeps(self, event: Event, kept: set[int]) -> bool:
        call = event.value
        callee = call.callee
        if callee.op is Op.ATTR and callee.data in ADDERS:
            return self._grows(callee.args[0], call.args[1:], kept)
        if callee.op is Op.GLOBAL and callee.data in _STORING:
            return len(call.positional) == 3 and self._is_kept(call.positional[2])
        is_given = self._gets_layers(call)
        gets_object = any(arg.op is Op.PARAM and arg.data == "self" for arg in call.args[1:])
        held = [name for name in map(self_attribute, call.args[1:]) if name is not None]
        if not (is_given or gets_object or held):
            return False
        called = self._function_of(callee)
        if called is None or (called.name == "__init__" and not is_given):
            return False
        if (is_given or gets_object) and self._asks(called, "keeps", is_given):
            return True
        return any(map(self._may_be_plain, held)) and self._asks(called, "grows", is_given)

    def _gets_layers(self, call: Value) -> bool:
        """True if an argument of the call may be a layer, or a plain container that holds some."""
        return any(self._is_layer(arg) or self._is_kept(arg) for arg in call.args[1:])

    def _asks(self, function: Function, question: str, given: bool) -> bool:
        """The answer to `question` for another function; `given`: the call may pass layers to it."""
        body = _Body(self.keepers, function, function.owner, given=given)
        answers = {
            "keeps": body.may_keep,
            "grows": body._may_grow,
            "gives": body._returns_containers,
            "makes": body._returns_layers,
            "involves": body._involves_any,
            "classes": body._gives_class,
            "matters": body.may_matter,
            "strands": body.may_strand,
            "is new": body._makes_fresh,
        }
        return self.keepers.of_function(function, f"{question} given" if given else question, answers[question])

    def _may_grow(self) -> bool:
        for event in self._function.flow.of(EventKind.CALL):
            callee = event.value.callee
            if callee.op is Op.ATTR and callee.data in ADDERS and any(map(self._is_layer, event.value.args[1:])):
                return True
        stores = self._function.flow.of(EventKind.STORE)
        return any(e.target is not None and e.target.op is Op.INDEX and self._is_layer(e.value) for e in stores)

    def _returns_containers(self) -> bool:
        return any(self._is_kept(event.value) for event in self._results())

    def _returns_layers(self) -> bool:
        return any(self._is_layer(event.value) for event in self._results())

    def _results(self) -> Iterable[Event]:
        kinds = (EventKind.RETURN, EventKind.YIELD)
        return (event for event in self._function.flow.events if event.kind in kinds)

    # -- containers ------------------------------------------------------------------------------------------------

    def _grows(self, owner: Value, values: Iterable[Value], kept: set[int]) -> bool:
        """True if a layer is added to a container that is kept and that may be a plain one."""
        root = _root(owner)
        name = self_attribute(root)
        if name is None and id(root) not in kept:
            return False
        if not any(self._is_layer(value) or self._is_kept(value) for value in values):
            return False
        return name is None or self._may_be_plain(name)

    def _may_be_plain(self, name: str) -> bool:
        """True if the attribute may hold a plain container, judged by the values stored under it."""
        if self._cls is None:
            return True
        known = False
        for model in self._project.classes.model(self._cls).mro():
            for function, event in () if model.cls is None else model.cls.stores(name):
                known = True
                if _Body(self.keepers, function, model.cls)._is_container(event.value):
                    return True
        return not known

    @_memoise
    def _is_container(self, value: Value) -> bool:
        """True if the value may be a plain container, even an empty one."""
        if value.op in _DISPLAYS or value.op in (Op.DICT, Op.COMPREHENSION):
            return True
        if value.op in (Op.CHOICE, Op.BOOL):
            return any(map(self._is_container, value.args))
        if value.op is Op.UPDATE:
            return self._is_container(value.args[0])
        if value.op is Op.CALL:
            named = self._definition(value.callee)
            if isinstance(named, DefinedClass | External) and self._is_module(named) is True:
                return False
            return not (isinstance(named, External) and named.name.startswith("torch."))
        return value.op not in _HARMLESS and value.op is not Op.PARAM

    @_memoise
    def _is_kept(self, value: Value) -> bool:
        """True if the value may be a plain container that holds layers, or hold such a container."""
        op = value.op
        if op is Op.PARAM:
            return self._function.name == "__init__" and self._are_layers(str(value.data))
        if op is Op.LAMBDA and isinstance(value.data, Nested):
            captured = calls_used_inside(value.data, self._function.flow)
            return any(self._is_layer(part) or self._is_kept(part) for part in captured)
        if op in _HARMLESS or op is Op.GLOBAL:
            return op is Op.GLOBAL and self._is_constant(value)
        if op is Op.ATTR:
            root = value
            while root.op is Op.ATTR:
                root = root.args[0]
            if root.op is Op.PARAM and root.data == "self" and value.args[0] is root:
                return self._is_property(str(value.data))
            return root.op not in (Op.PARAM, Op.GLOBAL) and self._is_kept(root)
        if op in _DISPLAYS or op is Op.DICT:
            return any(self._is_layer(arg) or self._is_kept(arg) for arg in value.args)
        if op is Op.COMPREHENSION:
            return self._is_layer(value.args[-1]) or self._is_kept(value.args[-1])
        if op is Op.UPDATE:
            return self._is_kept(value.args[0]) or any(self._is_layer(a) or self._is_kept(a) for a in value.args[1:])
        if op is Op.CALL:
            return self._call_gives(value)
        if op in (Op.ITEM, Op.UNPACK, Op.INDEX, Op.STARRED):
            return self._is_kept(value.args[0])
        if op in (Op.CHOICE, Op.BOOL, Op.BIN):
            return any(map(self._is_kept, value.args))
        return True

    def _is_put_in_namespace(self, target: Value, value: Value) -> bool:
        """True for `self.parts.first = layer`, where `self.parts` may be a plain namespace."""
        if target.args[0].op not in (Op.ATTR, Op.CALL) or NAMESPACES.isdisjoint(self._function.module.imports.values()):
            return False
        return self._is_layer(value)

    def _are_layers(self, name: str) -> bool:
        """True if the parameter is declared or documented as a plain container of layers."""
        return any(
            one.name == name and container_of_layers(one, self._function, self._project) is not None
            for one in self._function.parameters
        )

    def _call_gives(self, call: Value) -> bool:
        """True if the call may return a plain container that holds layers, or an object that keeps one."""
        callee = call.callee
        named = self._definition(callee)
        if isinstance(named, DefinedClass | External) and self._is_module(named) is True:
            return False
        given = any(map(self._is_kept, call.args[1:]))
        if isinstance(named, External):
            is_passing = _is_passing(named.name) or named.name in PARTIAL
            return is_passing and (given or any(map(self._is_layer, call.args[1:])))
        if isinstance(named, DefinedClass) and self._is_module(named) is False:
            return given or self._gets_layers(call) or self._holds_layers(named)
        called = self._function_of(callee)
        if called is not None:
            return self._asks(called, "gives", self._gets_layers(call)) or given
        if callee.op is Op.LAMBDA and isinstance(callee.data, Nested):
            return given or any(map(self._is_kept, callee.data.returns)) or any(map(self._is_layer, call.args[1:]))
        if callee.op is Op.ATTR:
            return given or self._is_kept(callee.args[0])
        return given

    def _holds_layers(self, named: DefinedClass) -> bool:
        """True if the constructor of a class that is no layer may store layers."""
        constructor = self._project.classes.model(named.cls).method("__init__")
        return constructor is not None and self._asks(constructor, "matters", False)

    # -- layers ----------------------------------------------------------------------------------------------------

    @_memoise
    def _is_layer(self, value: Value) -> bool:
        """True if the value may be a layer or a parameter that no attribute keeps yet."""
        op = value.op
        if op is Op.PARAM:
            return self._given and value.data != "self" and value.data not in self._plain_parameters()
        if op is Op.LAMBDA:
            return any(map(self._is_layer, value.args))
        if op in _HARMLESS or op is Op.ATTR:
            return False
        if op is Op.GLOBAL:
            return self._is_constant(value)
        if op is Op.CALL:
            return self._call_makes(value)
        if op is Op.BIN:
            return any(arg.op is Op.CALL and self._is_layer(arg) for arg in value.args)
        if op is Op.INNER or op is Op.UNKNOWN:
            return False
        return any(map(self._is_layer, value.args))

    def _call_makes(self, call: Value) -> bool:
        callee = call.callee
        named = self._definition(callee)
        if isinstance(named, DefinedClass | External):
            is_module = self._is_module(named)
            if is_module is not None:
                return is_module or self._is_tensor_class(named) or any(map(self._is_layer, call.args[1:]))
            if isinstance(named, External):
                return self._library_makes(named.name, call)
            return True
        called = self._function_of(callee)
        if called is not None:
            return self._asks(called, "makes", self._gets_layers(call))
        if callee.op is Op.ATTR:
            is_registry = self._is_registry(callee.args[0])
            return is_registry or (callee.data in calls.FOLLOWED and self._is_layer(callee.args[0]))
        if callee.op is Op.LAMBDA:
            return any(map(self._is_layer, (*callee.args, *call.args[1:])))
        return self._may_be_class(callee)

    @_memoise
    def _may_be_class(self, value: Value) -> bool:
        """True if the value may be a layer class that is passed on uncalled."""
        op = value.op
        if op is Op.ATTR and self._is_class_table(value):
            return True
        if op is Op.GLOBAL or op is Op.ATTR:
            named = self._definition(value)
            if isinstance(named, DefinedConstant):
                is_entered = bool(entered(named, self._project))
                return (
                    is_entered
                    or self._is_registry(value)
                    or _Body(self.keepers, named.module.body, None)._may_be_class(named.value)
                )
            if isinstance(named, DefinedClass | External):
                return self._is_module(named) is True or self._is_tensor_class(named)
            name = self_attribute(value)
            stored = () if self._cls is None or name is None else self._cls.stores(name)
            others = ((method, event.value) for method, event in stored if event.value is not value)
            return any(_Body(self.keepers, method, self._cls)._may_be_class(other) for method, other in others)
        if op is Op.CALL:
            named = self._definition(value.callee)
            if isinstance(named, External):
                return named.name.startswith("functools.") and any(map(self._may_be_class, value.args[1:]))
            called = self._function_of(value.callee)
            if value.callee.op is Op.ATTR and self._is_registry(value.callee.args[0]):
                return True
            if called is None and value.callee.op is Op.ATTR and value.callee.data in calls.FOLLOWED:
                return self._may_be_class(value.callee.args[0])
            return called is not None and self._asks(called, "classes", False)
        return op not in _HARMLESS and any(map(self._may_be_class, value.args))

    def _is_registry(self, value: Value) -> bool:
        """True if the name resolves to an object of the project in which classes are registered."""
        named = self._definition(value) if value.op in (Op.GLOBAL, Op.ATTR) else None
        return isinstance(named, DefinedConstant) and bool(registrations(named, self._project, self._function.module))

    def _is_class_table(self, value: Value) -> bool:
        """True if the attribute is a dict of a class in which the methods of that class register classes."""
        owner = self._cls if self_attribute(value) is not None else None
        if owner is None:
            named = self._definition(value.args[0])
            owner = named.cls if isinstance(named, DefinedClass) else None
        if owner is None or not is_filled(owner, str(value.data)):
            return False
        beside = self._function.module
        return bool(heirs(owner, self._project, beside) or registrations_by(owner, self._project, beside))

    def _gives_class(self) -> bool:
        return any(self._may_be_class(event.value) for event in self._results())

    def _library_makes(self, name: str, call: Value) -> bool:
        if name in calls.COPIES:
            return True
        if name.startswith("torch.") and not calls.is_torch_class(name) and name not in calls.TENSOR_CLASSES:
            return name in calls.WRAPPERS and any(map(self._is_layer, call.args[1:]))
        if not calls.is_standard(name.partition(".")[0]) and not name.startswith("numpy."):
            return True
        return _is_passing(name) and any(map(self._is_layer, call.args[1:]))

    # -- names -----------------------------------------------------------------------------------------------------

    def _plain_parameters(self) -> frozenset[str]:
        if self._plain is None:
            self._plain = SourceMethod(self._function, self._project.names).plain
        return self._plain

    def _definition(self, value: Value) -> object:
        return self._project.names.definition(self._function.module, value)

    def _is_module(self, named: DefinedClass | External) -> bool | None:
        model = self._project.classes.of(named)
        return None if model is None else model.is_module

    def _is_tensor_class(self, named: DefinedClass | External) -> bool:
        model = self._project.classes.of(named)
        return model is not None and model.name in calls.TENSOR_CLASSES

    def _is_constant(self, value: Value) -> bool:
        """True if the name resolves to a module-level value that may be, or hold, a layer."""
        named = self._definition(value)
        if not isinstance(named, DefinedConstant):
            return False
        body = _Body(self.keepers, named.module.body, None)
        return body._is_kept(named.value) or body._is_layer(named.value)

    def _is_property(self, name: str, question: str = "gives") -> bool:
        """True if the attribute is a property for whose getter the answer to `question` is True."""
        found = None if self._cls is None else self._project.classes.model(self._cls).method(name)
        return found is not None and found.is_property and self._asks(found, question, False)

    def _function_of(self, callee: Value) -> Function | None:
        """The function or method of the project that the callee resolves to; None if there is none."""
        return named_function(callee, self._function.module, self._cls, self._project)


def _may_register(model: ClassModel, name: str) -> Iterator[bool]:
    """For each call and store that may do so, True if it may register a parameter or buffer of a name."""
    for one in model.mro():
        storing = {"__init__"} if one.cls is None else {method.name for method in one.cls.assigned.get(name, ())}
        registering = {"__init__"} if one.cls is None else _registering_methods(one.cls)
        for method in filter(None, map(one.own_method, sorted(storing | registering))):
            for event in method.flow.of(EventKind.CALL) if method.name in registering else ():
                registered = event.value.argument(0, "name") if event.value.callee.data in _REGISTERING else None
                yield registered is not None and (registered.op is not Op.CONST or registered.data == name)
            for event in method.flow.stores.get(name, ()):
                yield any(part.op is Op.CALL and _makes_state(part, method) for part in event.value.walk())


def _registering_methods(cls: Class) -> set[str]:
    return {name for name, method in cls.methods.items() if not _REGISTERING.isdisjoint(method.words)}


def _makes_state(call: Value, method: Method) -> bool:
    """True if a call in a method makes a parameter or buffer."""
    named = method.scope.definition(call.callee)
    row = operators.row(named.name) if isinstance(named, External) else None
    return row is not None and not row.facets.keys().isdisjoint(("trained", "kept"))


def _is_passing(name: str) -> bool:
    """True if the library function may return its argument, or a container of it."""
    if name.startswith("torch."):
        return name in calls.WRAPPERS
    return name in _PASSING or name.startswith(_PASSING_FROM) or not calls.is_standard(name.partition(".")[0])


def _root(value: Value) -> Value:
    """The container that is changed in place: the one behind subscripts, updates and the choices of loops."""
    while True:
        if value.op in (Op.UPDATE, Op.INDEX) or (value.op is Op.CHOICE and value.data is None and value.args):
            value = value.args[0]
        elif value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data == "setdefault":
            value = value.callee.args[0]
        else:
            return value
