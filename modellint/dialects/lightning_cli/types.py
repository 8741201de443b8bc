"""Annotations as the types that jsonargparse parses values as.

Source: jsonargparse 4.53, `_typehints.py`. What it cannot validate, it takes as it is: such a type is `Anything` here,
and so is each annotation that is not understood.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.frontends.flow import lower_expression
from modellint.frontends.syntax import tree_of
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op
from modellint.link.names import DefinedClass, DefinedConstant, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Scalar
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: How many names, and parts of an annotation, are followed one after the other.
_DEEPEST = 12
#: Types that take a path as a text.
_PATHS = frozenset(("pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath"))
_PLAIN = {"int": "int", "float": "float", "str": "str", "bool": "bool", "None": "None"}
_LISTS = frozenset(
    (
        *("List", "list", "Deque", "deque", "Collection", "Container", "Iterable", "Reversible", "Sequence"),
        *("MutableSequence",),
    )
)
_TUPLES, _SETS = frozenset(("Tuple", "tuple")), frozenset(("Set", "set", "frozenset", "AbstractSet", "MutableSet"))
_MAPPINGS = frozenset(("Dict", "dict", "Mapping", "MutableMapping", "OrderedDict"))
#: Modules whose generic types these are.
_HOMES = ("typing.", "typing_extensions.", "collections.abc.", "collections.", "builtins.")
#: Names of `typing` that stand for what they hold.
_AROUND = frozenset(("Annotated", "Final", "Required", "NotRequired", "ReadOnly", "ClassVar"))
#: Bases of classes that jsonargparse does not build from arguments.
_VALUES = frozenset(
    (
        *("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"),
        *("typing.Protocol", "typing_extensions.Protocol", "typing.NamedTuple", "typing.TypedDict"),
        *("typing_extensions.TypedDict", "typing_extensions.NamedTuple", "pydantic.BaseModel", "pathlib.Path"),
        *("builtins.int", "builtins.str", "builtins.float", "builtins.dict", "builtins.list", "builtins.tuple"),
    )
)
_ENUMS = frozenset(("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"))


@dataclass(frozen=True, eq=False, slots=True)
class Type:
    """A type that values are parsed as."""


@dataclass(frozen=True, eq=False, slots=True)
class Anything(Type):
    """A type that takes any value; a class that is named in one is built if its arguments are right."""


@dataclass(frozen=True, eq=False, slots=True)
class Plain(Type):
    """A number, a text, a truth value or `None`, by the name of its class."""

    name: str


@dataclass(frozen=True, eq=False, slots=True)
class OneOf(Type):
    """A `Literal` with some values, or an `Enum` with some member names."""

    values: tuple[Scalar, ...]
    is_enum: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Either(Type):
    """A union."""

    options: tuple[Type, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Several(Type):
    """A list, a set or a tuple with elements of one type, or a tuple of a certain length."""

    word: str
    element: Type = field(default_factory=Anything)
    elements: tuple[Type, ...] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Mapped(Type):
    """A dictionary with values of one type."""

    value: Type = field(default_factory=Anything)


@dataclass(frozen=True, eq=False, slots=True)
class Object(Type):
    """An object of a class, or of a class that derives from it.

    The `model` is None for a class that is known by its name only. `is_closed`: a dataclass, of which no other class is
    taken. `is_class`: though unknown, it is a class, and no other name of some type.
    """

    name: str
    model: ClassModel | None = None
    is_closed: bool = False
    is_class: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class ClassItself(Type):
    """A class, by its path: `type[torch.nn.Module]`."""

    base: Type | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Function(Type):
    """A callable that gets `given` arguments by position and returns an object; None for an unknown number."""

    returns: Type | None = None
    given: int | None = None


ANYTHING = Anything()
NONE = Plain("None")


def optional(kind: Type) -> Type:
    """A type, or None."""
    return Either((kind, NONE))


def read_type(annotation: Value | None, module: ModuleFacts, project: Project, depth: int = 0) -> Type:
    """The type that an annotation in a file stands for; Anything for one that is not understood."""
    if annotation is None or depth > _DEEPEST:
        return ANYTHING
    if annotation.op is Op.CONST:
        return _of_constant(annotation.data, module, project, depth)
    if annotation.op is Op.BIN and annotation.data == "|":
        return Either(tuple(read_type(side, module, project, depth + 1) for side in annotation.args))
    if annotation.op is Op.INDEX:
        base, inside = annotation.args
        return _of_generic(base, inside, module, project, depth + 1)
    if annotation.op not in (Op.GLOBAL, Op.ATTR):
        return ANYTHING
    definition = project.names.definition(module, annotation)
    if isinstance(definition, DefinedConstant):
        return read_type(definition.value, definition.module, project, depth + 1)
    name = _generic_name(definition)
    if name is not None:
        return _of_name(name)
    if isinstance(definition, External) and definition.name in _PATHS:
        return Plain("Path")
    if isinstance(definition, External) and not definition.name.startswith(_HOMES):
        return object_type(definition.name, project.classes.of(definition))
    model = project.classes.of(definition) if isinstance(definition, DefinedClass) else None
    return ANYTHING if model is None else object_type(model.name, model)


def object_type(name: str, model: ClassModel | None) -> Type:
    """The type of a class; Anything for a class of values that are not built from arguments."""
    if model is None:
        return Object(name)
    bases = {base.name for one in model.mro() for base in one.facts.bases if isinstance(base, External)}
    if not bases.isdisjoint(_ENUMS):
        members = () if model.cls is None else tuple(model.cls.attributes)
        return OneOf(members, is_enum=True) if len(model.mro()) == 1 else ANYTHING
    if not bases.isdisjoint(_VALUES):
        return ANYTHING
    return Object(name, model, model.facts.fields is not None)


def _of_constant(data: object, module: ModuleFacts, project: Project, depth: int) -> Type:
    """The type of `None`, or of an annotation in a string."""
    if data is None:
        return NONE
    if not isinstance(data, str):
        return ANYTHING
    try:
        tree = tree_of(data, "eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return ANYTHING
    return read_type(lower_expression(tree), module, project, depth + 1)


def _generic_name(definition: object) -> str | None:
    """The last part of the name of a builtin type or of one of `typing`."""
    if isinstance(definition, External) and definition.name.startswith(_HOMES):
        return definition.name.rpartition(".")[2]
    return None


def _of_name(name: str) -> Type:
    """The type of a name of `typing` or of a builtin type, without anything in brackets."""
    if name in _PLAIN:
        return Plain(_PLAIN[name])
    if name in _LISTS | _TUPLES | _SETS:
        return Several(_word_of(name))
    if name in _MAPPINGS:
        return Mapped()
    if name in ("Type", "type"):
        return ClassItself()
    return Function() if name == "Callable" else ANYTHING


def _word_of(name: str) -> str:
    return "tuple" if name in _TUPLES else "set" if name in _SETS else "list"


def _of_generic(base: Value, inside: Value, module: ModuleFacts, project: Project, depth: int) -> Type:
    """The type of a name with something in brackets."""
    name = _generic_name(project.names.definition(module, base))
    if name is None:
        found = read_type(base, module, project, depth)
        return found if isinstance(found, Object) else ANYTHING
    parts = inside.args if inside.op is Op.TUPLE else (inside,)

    def inner(value: Value) -> Type:
        return read_type(value, module, project, depth)

    if name == "Optional":
        return optional(inner(parts[0]))
    if name == "Union":
        return Either(tuple(map(inner, parts)))
    if name == "Literal":
        values = tuple(_literals(parts))
        return OneOf(values) if len(values) >= len(parts) else ANYTHING
    if name in _AROUND:
        return inner(parts[0])
    if name in _LISTS | _SETS:
        return Several(_word_of(name), inner(parts[0]))
    if name in _TUPLES:
        if len(parts) == 2 and parts[1].op is Op.CONST and parts[1].data is Ellipsis:
            return Several("tuple", inner(parts[0]))
        return Several("tuple", elements=tuple(map(inner, parts)))
    if name in _MAPPINGS and len(parts) == 2:
        return Mapped(inner(parts[1]))
    if name in ("Type", "type"):
        return ClassItself(inner(parts[0]))
    if name == "Callable" and len(parts) == 2:
        given = len(parts[0].args) if parts[0].op is Op.LIST else None
        return Function(inner(parts[1]), given)
    return ANYTHING


def _literals(parts: tuple[Value, ...]) -> Iterator[Scalar]:
    """The constants in the brackets of a `Literal`."""
    for part in parts:
        if part.op is Op.CONST and (part.data is None or isinstance(part.data, str | int | float)):
            yield part.data
        elif part.op is Op.UNARY and part.data == "-" and isinstance(part.args[0].data, int):
            yield -part.args[0].data


def options_of(kind: Type) -> Iterator[Type]:
    """The options of a union, those of unions in it too; a type that is none is its only option."""
    if isinstance(kind, Either):
        for option in kind.options:
            yield from options_of(option)
    else:
        yield kind


def told_type(kind: Type) -> str:
    """A type in the words of a message: `int`, `list[str]`, `Optimizer`."""
    match kind:
        case Plain(name):
            return name
        case OneOf(values):
            return " | ".join(map(repr, values))
        case Either():
            return " | ".join(dict.fromkeys(map(told_type, options_of(kind))))
        case Several(word, element, elements):
            inside = ", ".join(map(told_type, elements)) if elements is not None else told_type(element)
            return word if inside == "Any" else f"{word}[{inside}]"
        case Mapped(value):
            inside = told_type(value)
            return "dict" if inside == "Any" else f"dict[str, {inside}]"
        case Object(name):
            return name.rpartition(".")[2]
        case ClassItself(base):
            return "type" if base is None else f"type[{told_type(base)}]"
        case Function():
            return "Callable"
    return "Any"
