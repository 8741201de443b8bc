"""What a Python file defines: modules, classes, functions.

The outline (this vocabulary) is small and can be cached. A function's body is lowered to a `Flow` when somebody
asks for it, from the syntax tree while that is at hand, otherwise from the function's own lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from modellint.source import Place, SourceFile, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from modellint.graph.value import Flow, Value


@dataclass(slots=True)
class Parameter:
    """A parameter; `kind` is "positional" | "var-positional" | "keyword" | "var-keyword"."""

    name: str
    kind: str
    default: Value | None
    annotation: Value | None


@dataclass(slots=True)
class Function:
    """A function or method. A method's first parameter is called `self` in its flow, whatever its name."""

    name: str
    qualname: str
    module: ModuleFacts = field(repr=False)
    owner: Class | None = field(repr=False)
    parameters: tuple[Parameter, ...]
    returns: Value | None
    decorators: tuple[Value, ...]
    docstring: str | None
    line: int
    end_line: int
    offset: int
    is_async: bool
    _lower: Callable[[Function], Flow] = field(repr=False)
    _flow: Flow | None = field(default=None, repr=False)

    @property
    def flow(self) -> Flow:
        """The body, lowered once."""
        if self._flow is None:
            self._flow = self._lower(self)
        return self._flow

    @property
    def text(self) -> str:
        """The source lines of the function, decorators left out."""
        return "".join(self.module.source.lines[self.line - 1 : self.end_line])

    @property
    def is_static(self) -> bool:
        return any(d.data == "staticmethod" for d in self.decorators)

    @property
    def is_property(self) -> bool:
        return any(d.data in ("property", "cached_property") for d in self.decorators)

    @property
    def is_classmethod(self) -> bool:
        return any(d.data == "classmethod" for d in self.decorators)

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)

    def bind(self, call: Value) -> dict[str, Value]:
        """The arguments of `call` by parameter name, `self` left out; what cannot be known is absent."""
        names = [p.name for p in self.parameters if p.kind == "positional"]
        if self.owner is not None and not self.is_static:
            names = names[1:]
        bound = dict(call.keywords)
        for name, value in zip(names, call.positional, strict=False):
            if value.op.value == "starred":
                break
            bound.setdefault(name, value)
        return {name: value for name, value in bound.items() if self.parameter(name)}


@dataclass(slots=True)
class Class:
    """A class statement. `attributes` are class-level assignments, `annotations` class-level annotations."""

    name: str
    qualname: str
    module: ModuleFacts = field(repr=False)
    bases: tuple[Value, ...]
    decorators: tuple[Value, ...]
    docstring: str | None
    attributes: dict[str, Value]
    annotations: dict[str, Value]
    methods: dict[str, Function]
    line: int
    end_line: int
    offset: int

    @property
    def text(self) -> str:
        return "".join(self.module.source.lines[self.line - 1 : self.end_line])

    @property
    def place(self) -> Place:
        return Place(self.module.path, Span(self.line, self.offset + 1, self.line, self.offset + 6))


@dataclass(slots=True)
class ModuleFacts:
    """The outline of one Python file.

    `imports` maps a local name to the absolute dotted name it stands for (`nn` → `torch.nn`); relative imports
    are resolved against `name`. `constants` are module-level assignments. `body` holds the module-level code as
    a function called `<module>`.
    """

    source: SourceFile = field(repr=False)
    name: str
    is_package: bool
    imports: dict[str, str] = field(default_factory=dict)
    star_imports: tuple[str, ...] = ()
    all_names: tuple[str, ...] | None = None
    constants: dict[str, Value] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    body: Function = field(default=None, repr=False)  # type: ignore[assignment]

    @property
    def path(self) -> str:
        return self.source.path.as_posix()

    @property
    def file(self) -> Path:
        return self.source.path

    def span(self, value: Value) -> Span:
        return self.source.span_of_bytes(value.line, value.offset, value.end_line, value.end_offset)

    def place(self, value: Value) -> Place:
        return Place(self.path, self.span(value))

    def text_of(self, value: Value) -> str:
        """The source text of a value, on one line."""
        lines = self.source.lines[value.line - 1 : value.end_line]
        if not lines:
            return ""
        span = self.span(value)
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return " ".join("".join(lines).split())

    def all_functions(self) -> Iterator[Function]:
        """Every function and method of the file, nested classes included, in source order."""
        yield from self.functions.values()
        for cls in self.classes.values():
            yield from cls.methods.values()
