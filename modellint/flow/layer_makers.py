"""A filter for functions that may make layers with parameters when they are called; only its False is certain.

Running an object at work costs far more than looking at the names in its methods: a layer's class has a name, and so
has a function that makes one.
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from modellint import knowledge, operators
from modellint.graph.value import Op, walk_all
from modellint.link.classes import calls
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction, DefinedModule, External
from modellint.link.remembered import FLAG, FUNCTIONS, NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: Words of a function that imports something itself, or looks up names while it runs.
_LOOKING = frozenset(("import", "getattr"))
_HOLDING = frozenset((Op.CHOICE, Op.BOOL, Op.LIST, Op.TUPLE, Op.DICT, Op.INDEX))
#: Classes of parameters, and the words of constructors that make some, unless under another name.
_PARAMETERS = operators.functions("trained")
_REGISTER = "register_parameter"
_PARAMETER_WORDS = frozenset(name.rpartition(".")[2] for name in _PARAMETERS) | {_REGISTER}
#: Functions that only test the class of a value.
_ASKING = frozenset(("isinstance", "issubclass", "super"))


class LayerMakers:
    """Tells which functions of a project may make layers with parameters; answers are memoised."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[tuple[Function, ClassModel | None], bool] = {}
        self._methods: dict[ClassModel, tuple[dict[str, list[Function]], dict[str, list[Function]]]] = {}
        self._names: dict[ModuleFacts, frozenset[str]] = {}

    def may_make(self, function: Function, model: ClassModel | None) -> bool:
        """True if the function, called on an object of `model` if it is a method, may make a layer."""
        key = (function, model)
        if key not in self._known:
            kept = frozenset[str]() if model is None else self._maker_attributes(model)
            roughly = self._reachable(function, model, lambda inner: inner.words)
            self._known[key] = any(self._names_layer(f) or not kept.isdisjoint(f.words) for f in roughly) and any(
                self._makes(f) or not kept.isdisjoint(self._attributes_read(f)) for f in self.reached(function, model)
            )
        return self._known[key]

    def reached(self, function: Function, model: ClassModel | None) -> Iterator[Function]:
        """A function, and those that it may call: methods of the same object, and functions by name."""
        return self._reachable(function, model, self._attributes_read)

    def _reachable(
        self, function: Function, model: ClassModel | None, names: Callable[[Function], frozenset[str]]
    ) -> Iterator[Function]:
        pending, seen, told = [function], {function}, set[str]()
        while pending:
            current = pending.pop()
            yield current
            for other in (*self._own(current, model, names, told), *self._mentioned_functions(current)):
                if other not in seen:
                    seen.add(other)
                    pending.append(other)

    def _own(
        self,
        function: Function,
        model: ClassModel | None,
        names: Callable[[Function], frozenset[str]],
        told: set[str],
    ) -> Iterator[Function]:
        """The methods of the object that a method mentions, but for names in `told`: all of those were returned."""
        if model is None or function.owner is None:
            return
        methods, helpers = self._methods_of(model)
        words = names(function)
        for name in (words & methods.keys()) - told:
            if "super" in function.words:
                told.add(name)
                yield from methods[name]
            else:
                yield methods[name][0]
        for name in words & helpers.keys():
            yield from helpers[name]

    def _attributes_read(self, function: Function) -> frozenset[str]:
        """The attributes that a function reads, other than attributes of attributes or of global names."""
        return self._project.once(("asks for", function), lambda: frozenset(_attributes(function)), kept=NAMES)

    def _methods_of(self, model: ClassModel) -> tuple[dict[str, list[Function]], dict[str, list[Function]]]:
        """The methods of an object, and those of the helper objects that its constructors make, by name."""
        found = self._methods.get(model)
        if found is None:
            own = [method for owner in model.mro() if owner.cls is not None for method in owner.cls.methods.values()]
            constructors = [method for method in own if method.name == "__init__"]
            helpers = (
                self._project.once(("helpers", made), partial(self._helpers, made), kept=FUNCTIONS)
                for made in constructors
            )
            found = self._methods[model] = _by_name(own), _by_name(chain.from_iterable(helpers))
        return found

    def _helpers(self, function: Function) -> tuple[Function, ...]:
        """The methods of the classes that a function mentions and that are no layers."""
        return tuple(
            method
            for found in self._definitions(function)
            if isinstance(found, DefinedClass) and self._project.classes.model(found.cls).is_module is not True
            for method in found.cls.methods.values()
        )

    def _maker_attributes(self, model: ClassModel) -> frozenset[str]:
        """The attributes under which the classes of an object keep layer classes, or functions that make layers."""
        classes = [owner.cls for owner in model.mro() if owner.cls is not None]
        return frozenset().union(
            *(self._project.once(("kept", cls), partial(self._makers_in, cls), kept=NAMES) for cls in classes)
        )

    def _makers_in(self, cls: Class) -> frozenset[str]:
        stored = list(cls.attributes.items())
        constructor = cls.methods.get("__init__")
        for name, events in constructor.flow.stores.items() if constructor is not None else ():
            stored += ((name, event.value) for event in events)
        return frozenset(name for name, value in stored if self._may_be_maker(value, cls.module))

    def _may_be_maker(self, value: Value, module: ModuleFacts) -> bool:
        """True if a value is a callable that makes layers, or holds one."""
        pending, seen = [value], set[int]()
        while pending:
            part = pending.pop()
            if id(part) in seen:
                continue
            seen.add(id(part))
            named = self._project.names.definition(module, part.callee if part.op is Op.CALL else part)
            if part.op is Op.CALL:
                is_partial = isinstance(named, External) and named.name.startswith("functools.")
                pending.extend(part.args[1:] if is_partial else ())
            elif part.op in _HOLDING:
                pending.extend(part.args)
            elif isinstance(named, DefinedFunction):
                if self.may_make(named.function, None):
                    return True
            elif part.op is Op.LAMBDA or (named is not None and self._is_maker(named)):
                return True
        return False

    # -- one function by itself ------------------------------------------------------------------------------------

    def _makes(self, function: Function) -> bool:
        return self._project.once(("makes", function), lambda: self._mentions_layer(function), kept=FLAG)

    def _mentioned_functions(self, function: Function) -> tuple[Function, ...]:
        return self._project.once(("reaches", function), lambda: tuple(self._functions_named(function)), kept=FUNCTIONS)

    def _functions_named(self, function: Function) -> Iterator[Function]:
        for found in self._definitions(function):
            if isinstance(found, DefinedFunction) and found.function.owner is None:
                yield found.function
            elif isinstance(found, DefinedClass) and self._project.classes.model(found.cls).is_module is not True:
                yield from (method for name, method in found.cls.methods.items() if name in function.words)

    def _names_layer(self, function: Function) -> bool:
        """True if a word of a function is the name of a layer class there."""
        return self._project.once(
            ("names", function),
            lambda: any(map(self._is_maker, self._definitions(function))) or self._mentions_torch(function.words),
            kept=FLAG,
        )

    def _mentions_layer(self, function: Function) -> bool:
        """True if the code of a function mentions a layer class, other than to test for it."""
        if not self._names_layer(function):
            return False
        is_looking = "getattr" in function.words
        for value in _parts(function):
            if value.op in (Op.GLOBAL, Op.ATTR):
                found = self._project.names.definition(function.module, value)
                if found is not None and self._is_maker(found):
                    return True
            elif is_looking and value.op is Op.CONST and self._mentions_torch((value.data,)):
                return True
        return False

    def _mentions_torch(self, words: Iterable[object]) -> bool:
        """True if a word is the name of a layer class in a package whose facts are shipped."""
        known = self._project.once(("names of layers",), _shipped_classes)
        return any(
            self._is_layer(self._project.classes.of(External(name)))
            for word in words
            if isinstance(word, str)
            for name in known.get(word, ())
        )

    def _definitions(self, function: Function) -> tuple[Definition, ...]:
        """The definitions that the words of a function resolve to."""
        return self._project.once(("stands for", function), lambda: tuple(self._compute_definitions(function)))

    def _compute_definitions(self, function: Function) -> Iterator[Definition]:
        module = function.module
        words = function.words & self._names_of(module)
        if module.star_imports:
            words = function.words
        for word in words:
            found = self._project.names.resolve(module, word)
            if isinstance(found, DefinedModule):
                inner = found.module
                names = function.words & self._names_of(inner)
                yield from filter(None, (self._project.names.resolve(inner, name) for name in names))
            elif isinstance(found, DefinedConstant):
                yield from self._in_constant(found)
            elif found is not None:
                yield found
        if not _LOOKING.isdisjoint(function.words):
            yield from self._in_values(module, (event.value for event in function.flow.events))

    def _in_constant(self, constant: DefinedConstant) -> Iterator[Definition]:
        yield constant
        yield from self._in_values(constant.module, (constant.value,))

    def _in_values(self, module: ModuleFacts, values: Iterable[Value]) -> Iterator[Definition]:
        for value in walk_all(values):
            if value.op in (Op.GLOBAL, Op.ATTR):
                found = self._project.names.definition(module, value)
                if found is not None and not isinstance(found, DefinedConstant):
                    yield found

    def _names_of(self, module: ModuleFacts) -> frozenset[str]:
        if module not in self._names:
            named = (module.imports, module.classes, module.functions, module.constants)
            self._names[module] = frozenset().union(*named)
        return self._names[module]

    def _is_maker(self, found: Definition) -> bool:
        """True if a definition is a layer class, or a constant that holds one."""
        if isinstance(found, DefinedConstant):
            return any(map(self._is_maker, (inner for inner in self._in_constant(found) if inner is not found)))
        return isinstance(found, DefinedClass | External) and self._is_layer(self._project.classes.of(found))

    def _is_layer(self, model: ClassModel | None) -> bool:
        """True if the class is a layer that may have parameters of its own."""
        if model is None or model.is_module is not True or model.name in calls.CONTAINERS:
            return False
        if model.cls is not None:
            return self._project.once(("trained", model.cls), lambda: self._may_be_trained(model), kept=FLAG)
        return self._project.classes.once(model, "some parameters", lambda: self._may_be_trained(model))

    def _may_be_trained(self, model: ClassModel) -> bool:
        """True if a torch class has parameters for some arguments, or the code of another class mentions parameters."""
        pending, seen = [model], {model}
        while pending:
            current = pending.pop()
            spoken_of = self._mentioned_classes(current)
            if spoken_of is None or self._is_trained_by_torch(current):
                return True
            new = [made for made in spoken_of if made.is_module is True and made not in seen]
            seen.update(new)
            pending.extend(new)
        return False

    def _is_trained_by_torch(self, model: ClassModel) -> bool:
        from modellint.flow.built import children, has_state

        return any(
            owner.cls is None
            and (
                not owner.name.startswith("torch.")
                or has_state(owner, trained=True) is True
                or any(child.has_parameters for child in children(owner).values())
            )
            for owner in model.mro()
        )

    def _mentioned_classes(self, model: ClassModel) -> list[ClassModel] | None:
        """The classes that a class and its constructors mention; None if they may make parameters themselves."""
        if not model.is_complete:
            return None
        found: list[Definition] = []
        for cls in (owner.cls for owner in model.mro() if owner.cls is not None):
            found.extend(self._in_values(cls.module, cls.attributes.values()))
            constructor = cls.methods.get("__init__")
            for function in () if constructor is None else self.reached(constructor, model):
                if self._makes_parameters(function) or self._mentions_torch(function.words):
                    return None
                found.extend(self._definitions(function))
        classes = (self._project.classes.of(each) for each in found if isinstance(each, DefinedClass | External))
        return [other for other in classes if other is not None]

    def _makes_parameters(self, function: Function) -> bool:
        """True if a function mentions parameters, other than to make some that are not trained."""
        return self._project.once(
            ("makes parameters", function), lambda: self._speaks_of_parameters(function), kept=FLAG
        )

    def _speaks_of_parameters(self, function: Function) -> bool:
        module = function.module
        may_speak = any(isinstance(each, External) for each in self._definitions(function))
        if not may_speak and _PARAMETER_WORDS.isdisjoint(function.words):
            return False
        frozen = set[int]()
        for value in walk_all(event.value for event in function.flow.events):
            if value.op is Op.CALL and not _is_trained(value):
                frozen.add(id(value.callee))
            elif value.op is Op.ATTR and value.data == _REGISTER:
                return True
            elif value.op in (Op.GLOBAL, Op.ATTR) and id(value) not in frozen:
                named = self._project.names.definition(module, value)
                if isinstance(named, External) and named.name in _PARAMETERS:
                    return True
        return False


def _is_trained(parameter: Value) -> bool:
    """True if a call of `nn.Parameter` makes a trained parameter."""
    asked = parameter.argument(1, "requires_grad")
    return asked is None or asked.op is not Op.CONST or asked.data is not False


def _by_name(functions: Iterable[Function]) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for function in functions:
        found.setdefault(function.name, []).append(function)
    return found


def _shipped_classes() -> dict[str, list[str]]:
    """The classes that the shipped facts describe, by their last names."""
    found: dict[str, list[str]] = {}
    for package in knowledge.PACKAGES:
        for name in knowledge.package(package).names():
            found.setdefault(name.rpartition(".")[2], []).append(name)
    return found


def _attributes(function: Function) -> Iterator[str]:
    is_looking = "getattr" in function.words
    for value in walk_all(event.value for event in function.flow.events):
        if value.op is Op.ATTR and value.args[0].op not in (Op.ATTR, Op.GLOBAL):
            yield str(value.data)
        elif is_looking and value.op is Op.CONST and isinstance(value.data, str):
            yield value.data


def _parts(function: Function) -> Iterator[Value]:
    """The values in the code of a function, without the arguments of tests for a class."""
    pending, seen = [event.value for event in function.flow.events], set[int]()
    while pending:
        value = pending.pop()
        is_asking = value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data in _ASKING
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            pending.extend(() if is_asking else value.args)
