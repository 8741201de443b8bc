"""Nodes of a ConfigStore: the dataclasses, dictionaries and objects that a program stores under a name.

A dataclass has the keys of its fields and no others; its values become nodes whose places are in the Python file.

Source: omegaconf 2.3.1, `OmegaConf.structured`; hydra-core 1.3.8, `core/config_store.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import MISSING
from modellint.graph.recipe import NO_TAG, Dialect, Entry, Node, NodeKind, Recipe
from modellint.graph.value import Op
from modellint.link.names import DefinedClass, DefinedConstant, External
from modellint.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.value import Parameter, Value
    from modellint.link.project import Project

#: Dataclasses in dataclasses, and names that stand for others.
_DEEPEST = 12
_FIELD = External("dataclasses.field")
_OPTIONAL = frozenset(("typing.Optional", "typing_extensions.Optional"))
_UNION = frozenset(("typing.Union",))
#: The types of fields whose values OmegaConf converts, or refuses.
_TYPES = {
    **{f"builtins.{name}": name for name in ("int", "float", "bool", "str")},
    **dict.fromkeys(("builtins.list", "typing.List", "typing.Sequence", "collections.abc.Sequence"), "list"),
    **dict.fromkeys(("builtins.dict", "typing.Dict", "typing.Mapping", "collections.abc.Mapping"), "mapping"),
}


@dataclass(frozen=True, slots=True)
class Schema:
    """The keys of a mapping that has no others, with the class that has them, and the types of values.

    `missing`: the mapping itself is `???` until another file has content for it.
    """

    name: str
    keys: frozenset[str]
    types: dict[str, tuple[str, bool]]
    is_missing: bool = False


def schema_of(recipe: Recipe, node: Node) -> Schema | None:
    """The schema of a mapping of a stored node; None for one that may have any keys."""
    schemas: dict[int, Schema] = recipe.memo.get("schemas", {})
    return schemas.get(id(node))


def stored_node(value: Value, module: ModuleFacts, package: str | None, project: Project) -> Recipe | None:
    """The node that a program stores; None if only a run knows it. `package` is the one that it is stored for."""
    schemas: dict[int, Schema] = {}
    maker = _Maker(project, schemas)
    try:
        root = maker.node(value, module, 0)
    except _Unknown:
        return None
    if root.kind is not NodeKind.MAPPING:
        return None
    recipe = Recipe((maker.home or module).source, root, Dialect.OMEGACONF)
    recipe.memo["schemas"] = schemas
    recipe.memo["header"] = package
    return recipe


class _Unknown(Exception):  # noqa: N818 - not a failure
    """Only a run knows the keys."""


class _Maker:
    """Makes the nodes of a stored value, all of one Python file."""

    def __init__(self, project: Project, schemas: dict[int, Schema]) -> None:
        self._project = project
        self._schemas = schemas
        #: The file of the outermost class.
        self.home: ModuleFacts | None = None

    def node(self, value: Value, module: ModuleFacts, depth: int) -> Node:
        """The node of a value. Raises _Unknown for a mapping whose keys are unknown."""
        if depth > _DEEPEST:
            raise _Unknown
        span = module.span(value)
        if value.op is Op.CONST:
            return _scalar(value.data, span)
        if value.op is Op.UNARY and value.data == "-" and value.args[0].op is Op.CONST:
            return _scalar(-value.args[0].data, span)
        if value.op in (Op.LIST, Op.TUPLE):
            elements = tuple(self.node(one, module, depth + 1) for one in value.args)
            return Node(NodeKind.SEQUENCE, NO_TAG, span, elements=elements)
        if value.op is Op.DICT:
            return self._dictionary(value, module, depth)
        if value.op is Op.CALL:
            return self._made_node(value, module, depth)
        found = self._project.names.definition(module, value)
        if isinstance(found, DefinedConstant) and found.value is not None:
            return self.node(found.value, found.module, depth + 1)
        if isinstance(found, DefinedClass):
            return self.mapping(found.cls, {}, module, span, depth)
        return _scalar(MISSING, span)

    def _dictionary(self, value: Value, module: ModuleFacts, depth: int) -> Node:
        entries = []
        for key, one in zip(value.data, value.args, strict=True):
            if key is None or key.op is not Op.CONST:
                raise _Unknown
            entries.append(Entry(_scalar(key.data, module.span(key)), self.node(one, module, depth + 1)))
        return Node(NodeKind.MAPPING, NO_TAG, module.span(value), entries=tuple(entries))

    def _made_node(self, call: Value, module: ModuleFacts, depth: int) -> Node:
        """The node of an object of a dataclass; `???` for other calls, whose results are unknown."""
        found = self._project.names.definition(module, call.callee)
        if not isinstance(found, DefinedClass):
            return _scalar(MISSING, module.span(call))
        if call.has_unpacking:
            raise _Unknown
        names = [one.name for one, _ in self._fields(found.cls)]
        given = dict(zip(names, call.positional, strict=False)) | call.keywords
        return self.mapping(found.cls, given, module, module.span(call), depth)

    def mapping(self, cls: Class, given: dict[str, Value], module: ModuleFacts, span: Span, depth: int) -> Node:
        """The mapping of a dataclass with some values given in a file. Raises _Unknown for other classes."""
        self.home = self.home or cls.module
        entries, types = [], {}
        fields = self._fields(cls)
        for one, home in fields:
            name, annotation = one.name, one.annotation
            value = given.get(name)
            key = _key(name, annotation, home)
            types[name] = self._type(annotation, home)
            node = self._default(one, home, depth) if value is None else self.node(value, module, depth + 1)
            entries.append(Entry(key, node))
        node = Node(NodeKind.MAPPING, NO_TAG, span, entries=tuple(entries))
        self._schemas[id(node)] = Schema(cls.name, frozenset(one.name for one, _ in fields), types)
        return node

    def _fields(self, cls: Class) -> list[tuple[Parameter, ModuleFacts]]:
        """The fields of a dataclass and of its bases, each with its file. Raises _Unknown for other classes."""
        model = self._project.classes.model(cls)
        found: dict[str, tuple[Parameter, ModuleFacts]] = {}
        if not model.is_complete:
            raise _Unknown
        for one in reversed(model.mro()):
            if one.cls is None:
                continue
            if one.facts.fields is None:
                raise _Unknown
            for parameter in one.facts.fields:
                found[parameter.name] = parameter, one.cls.module
        return list(found.values())

    def _default(self, one: Parameter, home: ModuleFacts, depth: int) -> Node:
        """The node of a field that nobody gives a value: its default, or that its type has while it is missing."""
        default = one.default
        if default is not None and default.op is Op.CALL and self._definition(default.callee, home) == _FIELD:
            factory = default.keywords.get("default_factory")
            default = default.keywords.get("default")
            if factory is not None:
                return self._produced_node(factory, home, depth)
        cls = self._class_of(one.annotation, home)
        if default is None or self._is_missing(default, home):
            if cls is None:
                span = Span(1, 1, 1, 1) if one.annotation is None else home.span(one.annotation)
                return _scalar(MISSING, span)
            node = self.mapping(cls, {}, home, home.span(one.annotation), depth + 1) if one.annotation else None
            if node is None:
                raise _Unknown
            known = self._schemas[id(node)]
            self._schemas[id(node)] = Schema(known.name, known.keys, known.types, True)
            return node
        return self.node(default, home, depth + 1)

    def _produced_node(self, factory: Value, home: ModuleFacts, depth: int) -> Node:
        if factory.op is Op.LAMBDA and factory.args:
            return self.node(factory.args[0], home, depth + 1)
        found = self._definition(factory, home)
        if isinstance(found, DefinedClass):
            return self.mapping(found.cls, {}, home, home.span(factory), depth + 1)
        if found == External("builtins.list"):
            return Node(NodeKind.SEQUENCE, NO_TAG, home.span(factory))
        if found == External("builtins.dict"):
            return Node(NodeKind.MAPPING, NO_TAG, home.span(factory))
        return _scalar(MISSING, home.span(factory))

    def _definition(self, value: Value, module: ModuleFacts) -> object:
        return self._project.names.definition(module, value)

    def _is_missing(self, value: Value, module: ModuleFacts) -> bool:
        return self._definition(value, module) == External("omegaconf.MISSING") or (
            value.op is Op.CONST and value.data == MISSING
        )

    def _class_of(self, annotation: Value | None, module: ModuleFacts) -> Class | None:
        """The dataclass that a field takes; None for other types."""
        for one, _ in self._alternatives(annotation, module):
            found = self._definition(one, module)
            if isinstance(found, DefinedClass) and self._project.classes.model(found.cls).facts.fields is not None:
                return found.cls
        return None

    def _type(self, annotation: Value | None, module: ModuleFacts) -> tuple[str, bool]:
        """The type of a field, and True if it takes None; an empty name for a type that takes other values."""
        types = list(self._alternatives(annotation, module))
        if len(types) != 1:
            return "", True
        written, takes_none = types[0]
        found = self._definition(written.args[0] if written.op is Op.INDEX else written, module)
        if isinstance(found, External):
            return _TYPES.get(found.name, ""), takes_none
        is_dataclass = self._class_of(written, module) is not None
        return "mapping" if is_dataclass else "", takes_none or not is_dataclass

    def _alternatives(self, annotation: Value | None, module: ModuleFacts) -> Iterator[tuple[Value, bool]]:
        """The types of an annotation but None, each with True if None is another."""
        if annotation is None:
            return
        if annotation.op is Op.INDEX:
            owner = self._definition(annotation.args[0], module)
            if isinstance(owner, External) and owner.name in _OPTIONAL:
                yield annotation.args[1], True
                return
            if isinstance(owner, External) and owner.name in _UNION and annotation.args[1].op is Op.TUPLE:
                yield from self._but_none(annotation.args[1].args)
                return
        if annotation.op is Op.BIN and annotation.data == "|":
            yield from self._but_none(annotation.args)
            return
        yield annotation, False

    @staticmethod
    def _but_none(parts: tuple[Value, ...]) -> Iterator[tuple[Value, bool]]:
        others = [one for one in parts if not (one.op is Op.CONST and one.data is None)]
        return ((one, len(others) < len(parts)) for one in others)


def _key(name: str, annotation: Value | None, home: ModuleFacts) -> Node:
    """The key of a field, where its name stands."""
    span = Span(1, 1, 1, 1) if annotation is None else home.span(annotation)
    column = home.source.text_between(span.line, span.line).find(name) + 1
    place = Span(span.line, column, span.line, column + len(name)) if column else span
    return Node(NodeKind.SCALAR, NO_TAG, place, name)


def _scalar(value: object, span: Span) -> Node:
    """The node of a constant."""
    if value is None or isinstance(value, bool):
        return Node(NodeKind.SCALAR, NO_TAG, span, "null" if value is None else str(value).lower())
    return Node(NodeKind.SCALAR, NO_TAG, span, str(value), plain=not isinstance(value, str) or value == MISSING)
