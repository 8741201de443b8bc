"""Modules, classes and functions, as a Python file defines them.

The outline is names and places only, so that reading a file costs little more than parsing it. Parameters,
constants and bodies are lowered to values on first use, from the syntax tree while it is held and from the
definition's own lines after `ModuleFacts.release`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from modellint.graph import mentions
from modellint.graph.arguments import bind_call
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.source import Place, SourceFile, Span, unified, with_comment, without_comments

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from modellint.graph.value import Event, Flow, Parameter, Value


#: Methods that run when an object is made.
MAKING = ("__init__", "__post_init__", "__new__")
#: Methods that a layer works by, whose arguments are tensors on its device.
WORK = ("forward", "__call__", "training_step")
#: Methods that only initialise the values of layers.
INITIAL = re.compile(r"_*(?:init|initiali[sz]e|reset)(?:_\w*)?_*|__init__|_?(?:re)?set_parameters|weights?_init")
#: The type that collects surplus arguments, by the kind of the parameter that takes them.
REST = {"var-positional": "tuple", "var-keyword": "dict"}
#: Values that messages name by the variable they are assigned to, if there is one.
_BY_NAME = (Op.CHOICE, Op.LAMBDA)


@dataclass(eq=False, slots=True)
class Signature:
    """The head of a function: parameters, return annotation, decorators."""

    parameters: tuple[Parameter, ...]
    returns: Value | None
    decorators: tuple[Value, ...]
    is_async: bool


class LazyValues(Mapping[str, "Value"]):
    """Values by name, each lowered from its syntax on first access."""

    __slots__ = ("_lower", "_places", "_values")

    def __init__(self, places: Mapping[str, Any], lower: Callable[[Any], Value]) -> None:
        self._places = places
        self._lower = lower
        self._values: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        value = self._values.get(name)
        if value is None:
            value = self._values[name] = self._lower(self._places[name])
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(eq=False)
class Function:
    """A function or method. A method's first parameter is called `self` in its flow, whatever its name."""

    name: str
    qualname: str
    module: ModuleFacts = field(repr=False)
    owner: Class | None = field(repr=False)
    line: int
    end_line: int
    offset: int
    lower_signature: Callable[[Function], Signature] = field(repr=False)
    lower_body: Callable[[Function], Flow] = field(repr=False)
    #: Reads the docstring as written.
    read_docstring: Callable[[ModuleFacts], str | None] = field(repr=False)

    @cached_property
    def signature(self) -> Signature:
        signature = self.lower_signature(self)
        del self.lower_signature  # which holds a part of the syntax tree
        return signature

    @cached_property
    def flow(self) -> Flow:
        """The body, lowered once."""
        self.module.lowered.append(self)
        return self.lower_body(self)

    @cached_property
    def text(self) -> str:
        """The code of the function for text searches: without comments and decorators."""
        self.module.searched.append(self)
        return _code(self.module.source.plain.text_between(self.line, self.end_line))

    @cached_property
    def words(self) -> frozenset[str]:
        """The names that the text mentions."""
        return mentions.words(self.text)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.signature.parameters

    @cached_property
    def docstring(self) -> str | None:
        """The docstring without its indentation."""
        text = self.read_docstring(self.module)
        return None if text is None else inspect.cleandoc(text)

    @property
    def place(self) -> Place:
        column = self.module.source.column_of_byte(self.line, self.offset)
        return Place(self.module.path, Span(self.line, column, self.line, column + 3))

    def _is_decorated(self, *names: str) -> bool:
        return any(d.op in (Op.GLOBAL, Op.ATTR) and d.data in names for d in self.signature.decorators)

    @property
    def is_static(self) -> bool:
        return self._is_decorated("staticmethod")

    @property
    def is_class_method(self) -> bool:
        return self._is_decorated("classmethod")

    @property
    def is_property(self) -> bool:
        return self._is_decorated("property", "cached_property")

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)

    @property
    def argument_names(self) -> list[str]:
        """The names of the positional parameters, without the receiver."""
        return [p.name for p in self.open_parameters if p.kind == "positional"]

    @property
    def open_parameters(self) -> tuple[Parameter, ...]:
        """The parameters that the arguments of a call are for: all but the receiver."""
        has_receiver = self.owner is not None and not self.is_static and bool(self.parameters)
        return self.parameters[1:] if has_receiver and self.parameters[0].kind == "positional" else self.parameters

    def bind(self, call: Value) -> dict[str, Value]:
        """The arguments of `call` by parameter name, without the receiver; unknown ones are absent."""
        return bind_call(self.open_parameters, call).certain


@dataclass(eq=False)
class Class:
    """A class statement. `attributes` are class-level assignments, `annotations` class-level annotations."""

    name: str
    qualname: str
    module: ModuleFacts = field(repr=False)
    line: int
    end_line: int
    offset: int
    attributes: Mapping[str, Value]
    annotations: Mapping[str, Value]
    methods: dict[str, Function]
    lower_head: Callable[[Class], ClassHead] = field(repr=False)
    #: Reads the docstring as written.
    read_docstring: Callable[[ModuleFacts], str | None] = field(repr=False)
    #: Names that the class body binds more than once: methods under `if`, properties with setters, overloads.
    rebound: frozenset[str] = frozenset()
    #: Methods whose name another method of the class body takes over: setters of properties, redefined methods.
    hidden: tuple[Function, ...] = ()

    @cached_property
    def head(self) -> ClassHead:
        head = self.lower_head(self)
        del self.lower_head
        return head

    @cached_property
    def mentioned(self) -> dict[str, list[Function]]:
        """The class's own methods by the attributes, and quoted names, that their text mentions."""
        return self._methods_by(mentions.attributes)

    @cached_property
    def assigned(self) -> dict[str, list[Function]]:
        """The class's own methods by the attributes that they assign."""
        return self._methods_by(mentions.assigned)

    def stores(self, name: str) -> Iterator[tuple[Function, Event]]:
        """The assignments `self.name = …` in the class's own methods, in order, each with its method."""
        return ((method, event) for method in self.assigned.get(name, ()) for event in method.flow.stores.get(name, ()))

    def _methods_by(self, names_in: Callable[[str], Iterable[str]]) -> dict[str, list[Function]]:
        index: dict[str, list[Function]] = {}
        for function in self.methods.values():
            for name in names_in(function.text):
                index.setdefault(name, []).append(function)
        return index

    @cached_property
    def built(self) -> dict[str, frozenset[str]]:
        """The attributes set by `__init__` (or by a method that mentions embeddings), with the callees in their values.

        A callee that is imported counts under the last part of its full name, too.
        """
        callees: dict[str, frozenset[str]] = {}
        for method in self._building:
            for name, value in _held(method.flow):
                callees[name] = callees.get(name, frozenset()) | self._callee_names(value)
        return callees

    @cached_property
    def built_with(self) -> frozenset[str]:
        """A superset of the names in `built`, from the words of the same methods; cheap, as no body is lowered."""
        return self._as_imported(frozenset[str]().union(*(method.words for method in self._building)))

    @property
    def _building(self) -> list[Function]:
        return [method for method in self.methods.values() if method.name == "__init__" or "Embedding" in method.text]

    def _callee_names(self, value: Value) -> frozenset[str]:
        """The names of all callees in a value."""
        callees = [part.callee for part in value.walk() if part.op is Op.CALL]
        return self._as_imported({str(callee.data) for callee in callees if callee.op in (Op.GLOBAL, Op.ATTR)})

    def _as_imported(self, names: AbstractSet[str]) -> frozenset[str]:
        """The names, and the last part of the full name of each that is imported."""
        imports = self.module.imports
        return frozenset((*names, *(imports[name].rpartition(".")[2] for name in names & imports.keys())))

    @property
    def bases(self) -> tuple[Value, ...]:
        return self.head.bases

    @cached_property
    def docstring(self) -> str | None:
        """The docstring without its indentation."""
        text = self.read_docstring(self.module)
        return None if text is None else inspect.cleandoc(text)

    @property
    def place(self) -> Place:
        """The place of the class's name in its class statement."""
        source = self.module.source
        column = source.column_of_byte(self.line, self.offset) + len("class")
        column = max(source.text_between(self.line, self.line).find(self.name, column - 1) + 1, column)
        return Place(self.module.path, Span(self.line, column, self.line, column + len(self.name)))


def _held(flow: Flow) -> Iterator[tuple[str, Value]]:
    """The values that a method stores in attributes of `self`, or passes to a method of such an attribute."""
    yield from ((name, event.value) for name, events in flow.stores.items() for event in events)
    for event in flow.of(EventKind.CALL):
        callee = event.value.callee
        name = self_attribute(callee.args[0]) if callee.op is Op.ATTR else None
        if name is not None:
            yield from ((name, value) for value in event.value.args[1:])


@dataclass(eq=False, slots=True)
class ClassHead:
    """The head of a class statement: bases, keywords (`metaclass`) by name, decorators."""

    bases: tuple[Value, ...]
    keywords: dict[str, Value]
    decorators: tuple[Value, ...]


@dataclass(eq=False)
class ModuleFacts:
    """The outline of one Python file.

    `name` is the dotted name by which its package imports it. `imports` maps a local name to the absolute dotted
    name it stands for (`nn` → `torch.nn`), relative imports resolved. `constants` are module-level assignments.
    `classes` are keyed by qualified name (`Outer.Inner`). `body` holds the module-level code as a function called
    `<module>`.
    """

    source: SourceFile = field(repr=False)
    name: str
    is_package: bool
    imports: dict[str, str] = field(default_factory=dict)
    #: The local names that relative imports bind.
    relative: set[str] = field(default_factory=set)
    star_imports: tuple[str, ...] = ()
    constants: Mapping[str, Value] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    #: Names imported, defined or assigned more than once at module level, on whatever path.
    rebound: set[str] = field(default_factory=set)
    #: True if the bodies of functions are known to be valid Python.
    is_whole: bool = True
    body: Function = field(init=False, repr=False)
    #: The functions and classes among the statements: first line, last line, line of the name, name.
    definitions: Sequence[tuple[int, int, int, str]] = ()
    #: What `as_written` returned with comments: the first and last line, and the expression for those that count.
    asked: set[tuple[int, int, re.Pattern[str] | None]] = field(default_factory=set, repr=False)
    #: Syntax trees of definitions and expressions by their places, held until `release`.
    trees: dict[tuple[int, ...], object] = field(default_factory=dict, repr=False)
    #: The functions whose lines are held, and those whose bodies are lowered.
    searched: list[Function] = field(default_factory=list, repr=False)
    lowered: list[Function] = field(default_factory=list, repr=False)

    @cached_property
    def path(self) -> str:
        return self.source.path.as_posix()

    @property
    def file(self) -> Path:
        return self.source.path

    def imports_of(self, *packages: str) -> bool:
        """True if the file imports one of some packages, or a name in one."""
        return any(origin.partition(".")[0] in packages for origin in self.imports.values())

    @property
    def text(self) -> str:
        """The text of the file for quick searches, with comments."""
        return self.source.plain.text

    @cached_property
    def code(self) -> str:
        """The text of the file without comments."""
        return _code(self.text)

    def as_written(self, line: int, end_line: int, where: re.Pattern[str] | None = None) -> list[str]:
        """The lines from `line` to `end_line`, with their comments; only those that `where` finds, from the `#` on.

        The range is recorded as a dependency, so that results are invalid where such comments in it change.
        """
        self.asked.add((line, end_line, where))
        lines = self.source.lines[line - 1 : end_line]
        return lines if where is None else [with_comment(written, where) for written in lines]

    def span(self, value: Value) -> Span:
        return self.source.span_of_bytes(value.line, value.offset, value.end_line, value.end_offset)

    def place(self, value: Value) -> Place:
        return Place(self.path, self.span(value))

    def text_of(self, value: Value) -> str:
        """The code of a value on one line; for a parameter, a CHOICE or a nested function, its variable's name."""
        if value.op is Op.PARAM or (value.op in _BY_NAME and value.target is not None):
            return str(value.target or value.data)
        text = self.source.text_of(self.span(value))
        return " ".join((_code(unified(text)) if value.line < value.end_line else text).split())

    def all_functions(self) -> Iterator[Function]:
        """Every function and method of the file, those of nested classes included."""
        yield from self.functions.values()
        for cls in self.classes.values():
            yield from cls.methods.values()

    def function_of(self, qualname: str) -> Function | None:
        """The function of a name, or the method of a name such as `Net.forward`; None if there is none."""
        owner, _, name = qualname.rpartition(".")
        found = self.classes.get(owner)
        return self.functions.get(name) if not owner else found.methods.get(name) if found is not None else None

    @cached_property
    def placed(self) -> dict[tuple[int, int], Function]:
        """Every function by its position (line and offset); the module-level code has line 0."""
        functions = [*self.all_functions(), *(one for cls in self.classes.values() for one in cls.hidden), self.body]
        return {(function.line, function.offset): function for function in functions}

    def release_source(self) -> None:
        """Free syntax trees and cached parts of the text; they are made again on demand."""
        self.trees.clear()
        self.__dict__.pop("code", None)
        self.source.release()
        for function in self.searched:
            function.__dict__.pop("text", None)
            function.__dict__.pop("words", None)
        self.searched.clear()

    def release(self) -> None:
        """Free lowered bodies, too."""
        self.release_source()
        for function in self.lowered:
            flow = function.__dict__.pop("flow", None)
            if flow is not None:
                flow.release()
        self.lowered.clear()


def _code(text: str) -> str:
    """A text without comments."""
    return without_comments(text) if "#" in text else text


def alternatives(annotation: Value) -> Iterator[Value]:
    """The alternatives of an annotation that are names, `None` and `Optional` taken off."""
    return (side for side in sides(annotation) if side.op is not Op.INDEX and side.op is not Op.CONST)


def sides(annotation: Value) -> Iterator[Value]:
    """The alternatives of an annotation, generic ones (`list[int]`) among them, `None` and `Optional` taken off."""
    if annotation.op is Op.BIN and annotation.data == "|":
        for arg in annotation.args:
            yield from sides(arg)
    elif annotation.op is Op.INDEX and annotation.args[0].data in ("Optional", "Annotated", "Union"):
        inner = annotation.args[1]
        for arg in inner.args if inner.op is Op.TUPLE else (inner,):
            yield from sides(arg)
    elif annotation.op is not Op.CONST or annotation.data is not None:
        yield annotation
