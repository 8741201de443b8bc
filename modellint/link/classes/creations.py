"""Layers that are made while a layer runs: constructors in `forward` and in what it calls.

A layer that is constructed there is a new one at each call. What keeps the first one (`if self.x is None:`) or makes
its parameters from something else (`conv.weight = kernel`) is no such layer, and neither is one that is not called.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.classes import calls
from modellint.link.classes.first_call import FirstCall
from modellint.link.classes.objects import Instance
from modellint.link.classes.usage import Usage
from modellint.link.names import DefinedFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: Methods that run whenever a layer does.
ENTRIES = ("forward", "__call__", "training_step")
#: Methods that run once for each object.
_ONCE = frozenset(("__init__", "__new__", "__post_init__", "__init_subclass__", "__setstate__"))
#: How many calls lead from `forward` to a constructor.
_MAX_CALLS = 5
_CAPITALISED_CALL = re.compile(r"[A-Z]\w*\(")
#: What a function that makes layers is called; only such functions are read in other files.
_MAKES_LAYERS = re.compile(r"layer|norm|conv|linear|proj|head|block|module|build|make|create|get_", re.IGNORECASE)
#: How a decorator takes its function.
_TAKES_A_FUNCTION = re.compile(r"def \w+\((?P<function>(?!self\b)\w+)\b")
#: Decorators that keep a function's results.
_KEEPS = frozenset(("cache", "lru_cache", "cached_property", "once"))
#: How a decorator keeps results: on the object, or in a container of its own. Names with two underscores describe the
#: function itself (`function.__doc__ = …`).
_STORES = re.compile(
    r"\bsetattr\(|__dict__|^\s*(?P<container>\w+)\[.*\w\] = |\w\] = |\.setdefault\(|^\s*\w+\.(?!__)\w+ = ", re.MULTILINE
)


@dataclass(frozen=True, eq=False)
class Step:
    """A call on the way from a layer's `forward` to a constructor: the function it stands in, and the event."""

    function: Function
    event: Event


@dataclass(frozen=True, eq=False)
class Creation:
    """A layer with parameters that `entry` makes at each call.

    `function` holds the constructor `call`; `route` are the calls that lead there, outermost first; `use` is where
    the new layer is called, in `user`. `is_certain` tells whether the layer has parameters whatever its arguments;
    `is_conditional` whether a condition on what it is given decides that it is made.
    """

    entry: Function
    function: Function
    call: Value
    model: ClassModel
    route: tuple[Step, ...]
    user: Function
    use: Value
    is_certain: bool
    is_conditional: bool
    attribute: str | None = None


@dataclass(frozen=True, eq=False)
class _Made:
    """A new layer as a function leaves it: called already (`use`), or returned."""

    function: Function
    call: Value
    model: ClassModel
    is_certain: bool
    is_conditional: bool
    route: tuple[Step, ...] = ()
    user: Function | None = None
    use: Value | None = None
    attribute: str | None = None


class Creations:
    """Finds layers that are made while a layer runs. Reached as `project.creations`; one for each file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._made: dict[tuple[Function, Class | None], tuple[_Made, ...]] = {}
        self._layers: dict[tuple[ModuleFacts, str], bool] = {}
        self._first_call = FirstCall(project)

    def of(self, module: ModuleFacts) -> Iterator[Creation]:
        """The creations that a file takes part in, each constructor once.

        Those are made by its classes' `forward` methods, or by its functions for a neighbouring file's.
        """
        makers = self._makers(module)
        if makers:
            yield from self._by_entries(module, makers)
            yield from self._for_neighbours(module, makers)

    def _for_neighbours(self, module: ModuleFacts, makers: dict[str, frozenset[Function]]) -> Iterator[Creation]:
        others: dict[str, ModuleFacts] = {}
        for function in module.functions.values():
            is_maker = function in makers.get(function.name, ())
            if is_maker and _is_for_others(function) and self._visit(function, None, makers, 0):
                callers = self._project.callers(function)
                others.update((caller.module.path, caller.module) for caller in callers)
        others.pop(module.path, None)
        for other in others.values():
            for creation in self._by_entries(other, self._makers(other)):
                if creation.function.module is module:
                    yield creation

    def _by_entries(self, module: ModuleFacts, makers: dict[str, frozenset[Function]]) -> Iterator[Creation]:
        seen: set[int] = set()
        for entry, cls in self._entries(module, makers):
            for made in self._visit(entry, cls, makers, 0):
                if made.use is not None and made.user is not None and id(made.call) not in seen:
                    seen.add(id(made.call))
                    yield Creation(
                        entry,
                        made.function,
                        made.call,
                        made.model,
                        made.route,
                        made.user,
                        made.use,
                        made.is_certain,
                        made.is_conditional,
                        made.attribute,
                    )

    # -- what is worth looking at ----------------------------------------------------------------------------------

    def _makers(self, module: ModuleFacts) -> dict[str, frozenset[Function]]:
        """The functions of a file, by name, that may construct a layer or call what does, from its text."""
        callers = _Callers(module)
        found = {
            function
            for name, function in callers.capitalised()
            if callers.may_run(function) and self._may_be_layer(name, module)
        }
        imported = [
            name
            for name, target in module.imports.items()
            if _MAKES_LAYERS.search(name) and not name[:1].isupper() and not target.startswith("torch")
        ]
        pending = [*imported, *(function.name for function in found)]
        asked = set(ENTRIES)
        while pending:
            name = pending.pop()
            if name not in asked:
                asked.add(name)
                new = callers.of(name) - found
                found |= new
                pending.extend(function.name for function in new)
        by_name: dict[str, frozenset[Function]] = {name: frozenset() for name in imported}
        for function in found:
            by_name[function.name] = by_name.get(function.name, frozenset()) | {function}
        return by_name if found else {}

    def _may_be_layer(self, name: str, module: ModuleFacts) -> bool:
        head = name.partition(".")[0]
        if head not in module.classes and head not in module.imports and not module.star_imports:
            return False
        known = self._layers.get((module, name))
        if known is None:
            model = self._project.classes.resolve(name, module)
            known = self._layers[module, name] = model is not None and self._may_have_parameters(model)
        return known

    def _may_have_parameters(self, model: ClassModel) -> bool:
        """Whether a class is a layer, and if it is torch's, one that has parameters of its own for some arguments."""
        if model.is_module is not True or model.name in calls.CONTAINERS:
            return False
        if not model.name.startswith("torch."):
            return True  # to run its constructor costs more than to look where it is called
        classes = self._project.classes
        return classes.once(
            model,
            "some parameters",
            lambda: (
                model.has_state(trained=True) is True
                or any(classes.state(child, trained=True) for child in model.children.values())
            ),
        )

    def _entries(self, module: ModuleFacts, makers: dict[str, frozenset[Function]]) -> Iterator[tuple[Function, Class]]:
        """The methods by which layers of a file are run, and may make other layers."""
        classes = self._project.classes
        for cls in module.classes.values():
            for name in ENTRIES:
                entry = cls.methods.get(name)
                if entry is None and any(cls.methods.get(maker) in found for maker, found in makers.items()):
                    entry = classes.model(cls).method(name)
                if entry is None or entry.owner is None:
                    continue
                is_maker = entry in makers.get(name, ()) or entry.module is not module
                if is_maker and _is_layer(classes.model(cls)) and not _keeps_results(entry, self._project):
                    yield entry, cls

    # -- what a function makes -------------------------------------------------------------------------------------

    def _visit(
        self, function: Function, cls: Class | None, makers: dict[str, frozenset[Function]], depth: int
    ) -> tuple[_Made, ...]:
        """The layers that a call of `function`, on an object of `cls`, makes and uses or returns."""
        key = (function, cls)
        known = self._made.get(key)
        if known is None:
            self._made[key] = ()  # what calls itself adds nothing
            known = self._made[key] = tuple(self._find(function, cls, makers, depth))
        return known

    def _find(
        self, function: Function, cls: Class | None, makers: dict[str, frozenset[Function]], depth: int
    ) -> Iterator[_Made]:
        usage: Usage | None = None
        for event in function.flow.of(EventKind.CALL):
            new = tuple(self._new(event, function, cls, makers, depth))
            if not new:
                continue
            condition = self._first_call.condition(event.guard, cls, function.module, event.value)
            if condition is None:
                continue
            usage = usage or Usage(function, self._project)
            for made in new:
                made = replace(made, is_conditional=made.is_conditional or condition)
                yield from self._after(made, event, function, cls, usage)

    def _new(
        self, event: Event, function: Function, cls: Class | None, makers: dict[str, frozenset[Function]], depth: int
    ) -> Iterator[_Made]:
        """The layers that a call makes: one by a constructor, or those of a function that it runs."""
        call = event.value
        callee = call.callee
        name = callee.data if callee.op in (Op.ATTR, Op.GLOBAL) else None
        if not isinstance(name, str):
            return
        if name in makers:
            inner = self._called(call, function, cls, makers)
            if inner is not None and depth < _MAX_CALLS and not _keeps_results(inner, self._project):
                owner = cls if inner.owner is not None else None
                for made in self._visit(inner, owner, makers, depth + 1):
                    yield replace(made, route=(Step(function, event), *made.route))
        elif name[:1].isupper():
            made_here = self._constructed(call, function)
            if made_here is not None:
                yield made_here

    def _called(
        self, call: Value, function: Function, cls: Class | None, makers: dict[str, frozenset[Function]]
    ) -> Function | None:
        """The function that a call runs: a method of the same object, or a function that can be read."""
        callee = call.callee
        own = self_attribute(callee)
        if own is not None:
            return None if cls is None else self._project.classes.model(cls).method(own)
        found = self._project.names.definition(function.module, callee)
        if not isinstance(found, DefinedFunction):
            return None
        inner = found.function
        return inner if inner.module is not function.module or inner in makers[str(callee.data)] else None

    def _constructed(self, call: Value, function: Function) -> _Made | None:
        """The layer with parameters that a constructor gives; containers have none of their own."""
        classes = self._project.classes
        module = function.module
        model = classes.resolve(call.callee, module)
        if model is None or not self._may_have_parameters(model):
            return None
        owner = classes.model(function.owner) if function.owner is not None else None
        has_parameters = classes.state(classes.evaluate(call, module, owner), trained=True)
        if has_parameters is None and not any(classes.state(c, trained=True) for c in model.children.values()):
            return None
        return None if has_parameters is False else _Made(function, call, model, has_parameters is True, False)

    def _after(self, made: _Made, event: Event, function: Function, cls: Class | None, usage: Usage) -> Iterator[_Made]:
        """What becomes of a new layer in the function that has it."""
        if made.use is not None:
            yield made
            return
        fate = usage.of(event.value)
        if fate.is_altered:
            return
        if fate.use is not None:
            yield replace(made, user=function, use=fate.use, attribute=fate.attribute)
        elif fate.attribute is not None and cls is not None:
            use = self._elsewhere(fate.attribute, function, cls)
            if use is not None:
                yield replace(made, user=use[0], use=use[1], attribute=fate.attribute)
        elif fate.is_returned:
            yield made

    def _elsewhere(self, attribute: str, function: Function, cls: Class) -> tuple[Function, Value] | None:
        """Where another method calls what is kept as an attribute."""
        for model in self._project.classes.model(cls).mro():
            if model.cls is None:
                continue
            for method in model.cls.mentioned.get(attribute, ()):
                if method is function or method.name in _ONCE:
                    continue
                for event in method.flow.of(EventKind.CALL):
                    if self_attribute(event.value.callee) == attribute and len(event.value.callee.args) == 1:
                        return method, event.value
        return None


class _Callers:
    """The functions of a file by what they call, from its text; those that run once for each object left out."""

    def __init__(self, module: ModuleFacts) -> None:
        self._text = module.text
        starts = module.source.plain.starts
        self._functions = sorted(
            ((starts[f.line - 1], starts[f.end_line], f) for f in module.all_functions()), key=lambda row: row[0]
        )
        self._starts = [row[0] for row in self._functions]
        self._run: dict[str, bool] = dict.fromkeys(ENTRIES, True)

    def _function_at(self, position: int) -> Function | None:
        number = bisect_right(self._starts, position) - 1
        if number < 0:
            return None
        _, end, function = self._functions[number]
        return function if position < end and function.name not in _ONCE else None

    def capitalised(self) -> Iterator[tuple[str, Function]]:
        """The dotted names with a capital that are called, each once for a function."""
        text = self._text
        seen: set[tuple[str, Function]] = set()
        for match in _CAPITALISED_CALL.finditer(text):
            function = self._function_at(match.start())
            if function is None:
                continue
            begin = match.start()
            while text[begin - 1].isalnum() or text[begin - 1] in "_.":
                begin -= 1
            found = (text[begin : match.end() - 1], function)
            if found not in seen:
                seen.add(found)
                yield found

    def may_run(self, function: Function) -> bool:
        """Whether a function may run when a layer does: in this file, or for another one."""
        return self._may_run(function.name) or _is_for_others(function)

    def _may_run(self, name: str) -> bool:
        known = self._run.get(name)
        if known is None:
            self._run[name] = False  # what only calls itself is never run
            known = self._run[name] = any(self._may_run(caller.name) for caller in self.of(name))
        return known

    def of(self, name: str) -> set[Function]:
        """The functions that call something by that name."""
        called = f"{name}("
        found: set[Function] = set()
        position = self._text.find(called)
        while position >= 0:
            function = self._function_at(position)
            if function is not None and function.name != name:
                found.add(function)
            position = self._text.find(called, position + 1)
        return found


def _is_for_others(function: Function) -> bool:
    """Whether nothing in its own file calls a function."""
    return function.module.text.count(f"{function.name}(") == 1


def _is_layer(model: ClassModel) -> bool:
    """Whether a class is a layer; one with an unknown base is if its constructor registers layers."""
    if model.is_module is not None:
        return model.is_module
    return any(isinstance(child, Instance) and child.model.is_module for child in model.children.values())


def _keeps_results(function: Function, project: Project) -> bool:
    """Whether a decorator keeps what a function gives: one that is known for it, or that can be read and stores."""
    for decorator in function.signature.decorators:
        name = decorator.callee if decorator.op is Op.CALL else decorator
        if name.data in _KEEPS:
            return True
        found = project.names.definition(function.module, name)
        if isinstance(found, DefinedFunction) and _stores(found.function.text):
            return True
    return False


def _stores(text: str) -> bool:
    """Whether a decorator stores anything of what its function gives.

    Its `**kwargs` are a new dictionary in each call, which keeps nothing; and who gives the very function back, never
    calling it, sees no result.
    """
    containers = (match["container"] for match in _STORES.finditer(text))
    if all(container is not None and f"**{container}" in text for container in containers):
        return False
    functions = {match["function"] for match in _TAKES_A_FUNCTION.finditer(text)}
    return not any(_is_given_back(function, text) for function in functions)


def _is_given_back(function: str, text: str) -> bool:
    """Whether a function's text gives a parameter back, and neither calls it nor puts another in its place."""
    given = re.findall(rf"^\s*return\b(?=.*\b{function}\b) *(.*?)[ \t]*$", text, re.MULTILINE)
    return bool(given) and set(given) == {function} and not re.search(rf"\b{function}(?:\(| = )", text)
