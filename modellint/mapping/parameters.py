"""How many parameters a layer has, as a number or as an expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modellint.link.classes.objects import Constant, Plain, alternatives
from modellint.link.names import DefinedFunction
from modellint.link.recipes.evaluation import Item, ItemKind
from modellint.link.recipes.moved import layers_of
from modellint.mapping.interpreter import Interpreter
from modellint.mapping.model import Count
from modellint.mapping.objects import UNKNOWN, ClassRef, Function, Thing, UncertainError, counted

if TYPE_CHECKING:
    from modellint.graph.python import Class
    from modellint.link.classes.models import ClassModel
    from modellint.link.classes.objects import Object
    from modellint.link.project import Project

_MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Counted:
    """The parameters of an attribute, and the class of what it holds if that is an object."""

    parameters: Count
    class_name: str


class Counter:
    """Counts parameters. Reached through `counter_of`."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._attributes: dict[int, dict[str, Object]] = {}

    def item(self, item: Item) -> Count:
        """The parameters of a layer of a recipe, those of layers that it is given left out."""
        try:
            built = self._value(item, Interpreter(self._project), 0)
        except (UncertainError, RecursionError):
            return Count(None)
        if not isinstance(built, Thing):
            return Count(None)
        built.is_given = False
        return self._count(built)

    def attributes(self, cls: Class) -> dict[str, Counted]:
        """What an object of a class keeps, by attribute.

        It is built with its defaults; what has none is a symbol.
        """
        try:
            built = Interpreter(self._project).generic(self._project.classes.model(cls))
        except (UncertainError, RecursionError):
            return {}
        return {
            name: Counted(self._count(value), value.model.name if isinstance(value, Thing) else "")
            for name, value in built.attributes.items()
            if value is not UNKNOWN
        }

    def _count(self, value: Any) -> Count:
        return Count(counted(value if isinstance(value, list | tuple) else (value,), self._is_plain))

    def _is_plain(self, thing: Thing, name: str) -> bool:
        """Whether an attribute is certainly no layer, whatever it is."""
        model = thing.model
        if id(model) not in self._attributes:
            self._attributes[id(model)] = model.construct().attributes
        found = self._attributes[id(model)].get(name)
        return found is not None and all(isinstance(option, Plain | Constant) for option in alternatives(found))

    def _value(self, item: Item, interpreter: Interpreter, depth: int) -> Any:
        """What the interpreter knows as an object of a recipe."""
        if depth > _MAX_DEPTH:
            return UNKNOWN
        if id(item) not in interpreter.made:
            interpreter.made[id(item)] = self._made(item, interpreter, depth)
        return interpreter.made[id(item)]

    def _made(self, item: Item, interpreter: Interpreter, depth: int) -> Any:
        match item.kind:
            case ItemKind.CONSTANT:
                return item.value if item.values is None else item.values
            case ItemKind.MAPPING:
                return {name: self._value(child, interpreter, depth + 1) for name, child in item.fields.items()}
            case ItemKind.SEQUENCE:
                return [self._value(child, interpreter, depth + 1) for child in item.elements]
            case ItemKind.NEW:
                model = layers_of(self._project).model(item)
                return UNKNOWN if model is None else self._built(item, model, interpreter, depth)
            case ItemKind.NAME:
                return self._named(item, interpreter, depth)
        return UNKNOWN

    def _built(self, item: Item, model: ClassModel, interpreter: Interpreter, depth: int) -> Any:
        positional, keywords = self._arguments(item, interpreter, depth)
        try:
            thing = interpreter.build(model, positional, keywords)
        except UncertainError:
            if depth == 0:
                raise
            thing = Thing(model)  # its parameters are counted elsewhere, or not at all
            thing.is_open = True
        thing.is_given = depth > 0 and model.is_module is not False
        return thing

    def _named(self, item: Item, interpreter: Interpreter, depth: int) -> Any:
        positional, keywords = self._arguments(item, interpreter, depth)
        definition = self._project.names.absolute(item.target, item.recipe.file)
        model = self._project.classes.of(definition)
        if model is not None:
            return ClassRef(model, tuple(positional), keywords)
        if isinstance(definition, DefinedFunction) and not positional and not keywords:
            return Function(definition.function)
        return UNKNOWN

    def _arguments(self, item: Item, interpreter: Interpreter, depth: int) -> tuple[list[Any], dict[str, Any]]:
        positional = [self._value(child, interpreter, depth + 1) for child in item.elements]
        keywords = {str(name): self._value(child, interpreter, depth + 1) for name, child in item.fields.items()}
        return positional, keywords


def counter_of(project: Project) -> Counter:
    """The project's counter."""
    return project.once(("parameter counter",), lambda: Counter(project))
