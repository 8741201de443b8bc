"""The parameters of a class or function in words: for completion of its arguments, and to read about it."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING

from modellint.graph.definitions import DefinedClass, DefinedConstant, DefinedFunction, DefinedModule, External
from modellint.graph.immutable import dataclass, replace
from modellint.graph.value import Op, dotted
from modellint.knowledge.catalogue import catalogue
from modellint.link.classes.definitions import SourceFacts, SourceMethod
from modellint.link.library_names import Found, look_up
from modellint.server.configs.names import NameKind, definition_of
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Parameter, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: The characters of a default or an annotation that are shown.
_LONGEST = 80
#: Through how many classes `**kwargs` are followed.
_MOST_BASES = 8
_STARS = {"var-positional": "*", "var-keyword": "**"}


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter: its default and its annotation as they are written, the default None if there is none."""

    name: str
    kind: str
    default: str | None
    annotation: str
    place: Place | None = None
    #: The names in the annotation, as an absolute import would have them.
    types: tuple[str, ...] = ()

    @property
    def is_required(self) -> bool:
        return self.default is None and self.kind not in _STARS

    @property
    def is_named(self) -> bool:
        """True unless it stands for any number of arguments."""
        return self.kind not in _STARS

    @property
    def words(self) -> str:
        """`width: int = 3`."""
        text = f"{_STARS.get(self.kind, '')}{self.name}"
        text += f": {self.annotation}" if self.annotation else ""
        if self.default is None:
            return text
        return f"{text} = {self.default}" if self.annotation else f"{text}={self.default}"


@dataclass(frozen=True, slots=True)
class Callable:
    """A class or function, with the first paragraph of its docstring and where it is defined.

    `arguments` are None if they are not known. `is_dataclass`: a mapping may stand for an object of it.
    """

    name: str
    kind: NameKind
    arguments: tuple[Argument, ...] | None
    text: str = ""
    place: Place | None = None
    is_dataclass: bool = False

    @property
    def signature(self) -> str:
        """The head as Python has it, with one line for each of many parameters."""
        word = {NameKind.CLASS: "class ", NameKind.FUNCTION: "def "}.get(self.kind, "")
        if self.arguments is None:
            return f"{word}{self.name}" + ("(...)" if word else "")
        words = [one.words for one in _with_star(self.arguments)]
        line = f"{word}{self.name}({', '.join(words)})"
        if len(line) <= _LONGEST:
            return line
        inside = "".join(f"    {one},\n" for one in words)
        return f"{word}{self.name}(\n{inside})"

    def argument(self, name: str) -> Argument | None:
        """The parameter with a name; None if there is none."""
        return next((one for one in self.arguments or () if one.name == name and one.is_named), None)


def callable_of(name: str, files: Sequence[Path], project: Project) -> Callable | None:
    """The class, function or module of a dotted name, as the files import it; None if it is unknown."""
    name = ".".join(part for part in name.split(".") if part)
    if not name:
        return None
    key = ("written callable", name, *(file.parent for file in files))
    return project.once(key, lambda: _read(name, files, project))


def _read(name: str, files: Sequence[Path], project: Project) -> Callable | None:
    return callable_for(definition_of(name, files, project), name, project)


def callable_for(definition: Definition | None, name: str, project: Project) -> Callable | None:
    """The class, function or module that a definition is, under a name; else what is described under the name."""
    last = name.rpartition(".")[2]
    match definition:
        case DefinedClass(cls):
            model = project.classes.model(cls)
            arguments = _of_class(model, project)
            text = cls.docstring or _text_of_constructor(model)
            is_dataclass = any(one.facts.fields is not None for one in model.mro())
            return Callable(last, NameKind.CLASS, arguments, _paragraph(text), cls.place, is_dataclass)
        case DefinedFunction(function):
            skipped = function.owner is not None and not function.is_static
            arguments = tuple(_arguments(function.parameters[int(skipped) :], function.module, function))
            is_known = all(_keeps_parameters(one) for one in function.signature.decorators)
            return Callable(
                last,
                NameKind.FUNCTION,
                arguments if is_known else None,
                _paragraph(function.docstring),
                _place_of(function),
            )
        case DefinedModule(module):
            start = Place(module.path, Span(1, 1, 1, 1))
            return Callable(name, NameKind.MODULE, None, "", start)
        case DefinedConstant(module, assigned, value):
            return Callable(last, NameKind.VALUE, None, "", _place_of_constant(module, assigned, value))
        case External(external):
            return _read_described(external, project)
    return _read_described(name, project)


def _keeps_parameters(decorator: Value) -> bool:
    """True if a decorator is not known to change what a function takes."""
    callee = decorator.callee if decorator.op is Op.CALL else decorator
    return callee.op in (Op.GLOBAL, Op.ATTR)


# -- described by shipped facts ----------------------------------------------------------------------------------------


def _read_described(name: str, project: Project) -> Callable | None:
    last = name.rpartition(".")[2]
    model = project.classes.of(External(name))
    if model is not None and model.signature is not None:
        return Callable(last, NameKind.CLASS, _of_class(model, project))
    described = look_up(name, project)
    if isinstance(described, Found):
        first = tuple(_arguments(described.signatures[0], None, None)) if described.signatures else None
        return Callable(name if described.kind == "module" else last, NameKind(described.kind), first)
    known = catalogue(name.partition(".")[0])
    if known is None:
        return None
    older = known.earlier.is_class(name) if known.earlier is not None and known.earlier.is_gone(name) else None
    if older is not None and known.earlier is not None:
        first = next((tuple(_arguments(one, None, None)) for one in known.earlier.signatures(name)), None)
        return Callable(last, NameKind.CLASS if older else NameKind.FUNCTION, first)
    name = known.redirected(name)
    if name in known.modules:
        return Callable(name, NameKind.MODULE, None)
    module = known.module(name.rpartition(".")[0])
    if module is None or last not in module.names() or last in module.others:
        return None
    signatures = module.signatures(last)
    arguments = tuple(_arguments(signatures[0], None, None)) if signatures else None
    return Callable(last, NameKind.CLASS if last in module.classes else NameKind.FUNCTION, arguments)


# -- read from source --------------------------------------------------------------------------------------------------


def _of_class(model: ClassModel, project: Project) -> tuple[Argument, ...] | None:
    """The parameters of a class's constructor; those that `**kwargs` pass on to bases are among them."""
    found: dict[str, Argument] = {}
    for number, current in enumerate(model.mro()):
        if number > _MOST_BASES:
            break
        own = _of_constructor(current)
        if own is None:
            continue
        for one in own:
            found.setdefault(one.name, one)
        if not any(one.kind == "var-keyword" for one in own):
            return _in_order(found.values(), is_open=False)
    if found:
        return _in_order(found.values(), is_open=True)
    if model.cls is not None:
        outside = next((base for base in model.facts.bases if isinstance(base, External)), None)
        known = None if outside is None else callable_of(outside.name, (model.cls.module.file,), project)
        if known is not None and known.kind is NameKind.CLASS:
            return known.arguments
    return () if model.is_complete else None


def _in_order(arguments: Iterable[Argument], *, is_open: bool) -> tuple[Argument, ...]:
    """The parameters of several constructors; `**kwargs` come last, if there may be more than these."""
    found = list(arguments)
    last = [one for one in found if one.kind == "var-keyword"] if is_open else []
    return (*(one for one in found if one.kind != "var-keyword"), *last[:1])


def _of_constructor(model: ClassModel) -> list[Argument] | None:
    """The parameters of a class's own constructor; None if it has none."""
    facts = model.facts
    module = model.cls.module if model.cls is not None else None
    if facts.fields is not None:
        return [replace(one, place=_place_of_field(one.name, model)) for one in _arguments(facts.fields, module, None)]
    method = model.own_method("__init__")
    if method is None:
        return None
    parameters = method.parameters[1:] if method.has_receiver else method.parameters
    function = method.function if isinstance(method, SourceMethod) else None
    return list(_arguments(parameters, None if function is None else function.module, function))


def _place_of_field(name: str, model: ClassModel) -> Place | None:
    """The place of a field of a dataclass, in the class or a base that annotates it."""
    for current in model.mro():
        annotation = current.cls.annotations.get(name) if current.cls is not None else None
        if current.cls is not None and annotation is not None:
            module = current.cls.module
            lines = module.source.plain.lines
            for number in range(annotation.line, current.cls.line, -1):
                match = re.match(rf"[ \t]*({re.escape(name)})[ \t]*:", lines[number - 1])
                if match is not None:
                    return Place(module.path, Span(number, match.start(1) + 1, number, match.end(1) + 1))
    return None


def _text_of_constructor(model: ClassModel) -> str | None:
    for current in model.mro():
        method = current.own_method("__init__") if isinstance(current.facts, SourceFacts) else None
        if isinstance(method, SourceMethod):
            return method.function.docstring
    return None


def _arguments(
    parameters: Sequence[Parameter], module: ModuleFacts | None, function: Function | None
) -> Iterator[Argument]:
    places = {} if function is None else _places(function, [one.name for one in parameters])
    for one in parameters:
        default = None if one.default is None else _code_of(one.default, module)
        annotation = "" if one.annotation is None else _code_of(one.annotation, module)
        types = () if one.annotation is None or module is None else tuple(_types(one.annotation, module))
        yield Argument(one.name, one.kind, default, annotation, places.get(one.name), types)


def _types(annotation: Value, module: ModuleFacts) -> Iterator[str]:
    """The names of classes in an annotation, those of the module itself in full."""
    for part in annotation.walk():
        name = dotted(part) if part.op in (Op.GLOBAL, Op.ATTR) else None
        if name is not None and not hasattr(builtins, name):
            head, dot, rest = name.partition(".")
            known = module.imports.get(head)
            yield f"{known}{dot}{rest}" if known is not None else f"{module.name}.{name}"


def _code_of(value: Value, module: ModuleFacts | None) -> str:
    """A value as its file has it, on one line; of described values only constants are known."""
    text = ""
    if module is not None and value.line:
        text = " ".join(module.text_of(value).split())
    elif value.op is Op.CONST:
        text = repr(value.data)
    if not text:
        return "..."
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _places(function: Function, names: Sequence[str]) -> dict[str, Place]:
    """The places of some parameters in the head of a function."""
    module = function.module
    lines = module.source.plain.lines
    found: dict[str, Place] = {}
    line, column = function.line, 0
    for name in names:
        pattern = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
        for number in range(line, min(function.end_line, len(lines)) + 1):
            match = pattern.search(lines[number - 1].partition("#")[0], column if number == line else 0)
            if match is not None:
                span = Span(number, match.start() + 1, number, match.end() + 1)
                found[name] = Place(module.path, span)
                line, column = number, match.end()
                break
    return found


def _place_of_constant(module: ModuleFacts, name: str, value: Value) -> Place:
    """The name that an assignment binds, on the line of its value or one before; else the value."""
    place = module.place(value)
    lines = module.source.plain.lines
    pattern = re.compile(rf"[ \t]*({re.escape(name.rpartition('.')[2])})[ \t]*[:=]")
    for number in range(place.span.line, max(place.span.line - 3, 0), -1):
        match = pattern.match(lines[number - 1]) if number <= len(lines) else None
        if match is not None:
            return Place(module.path, Span(number, match.start(1) + 1, number, match.end(1) + 1))
    return place


def _place_of(function: Function) -> Place:
    """The name of a function in its statement."""
    lines = function.module.source.plain.lines
    for number in range(function.line, min(function.end_line, len(lines)) + 1):
        match = re.search(rf"\bdef[ \t]+({re.escape(function.name)})\b", lines[number - 1])
        if match is not None:
            return Place(function.module.path, Span(number, match.start(1) + 1, number, match.end(1) + 1))
    return function.place


def _with_star(arguments: Sequence[Argument]) -> Iterator[Argument]:
    """The parameters with a `*` before the first one that is given by name only."""
    is_marked = False
    for one in arguments:
        is_marked = is_marked or one.kind == "var-positional"
        if one.kind == "keyword" and not is_marked:
            is_marked = True
            yield replace(one, name="*", annotation="", default=None)
        yield one


def _paragraph(docstring: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    first = (docstring or "").strip().split("\n\n", 1)[0]
    return " ".join(first.split())
