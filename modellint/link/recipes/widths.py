"""Operations that torch refuses for the numbers of a recipe: in its layers, and in the Brain that calls them.

The layers are made on paper, with the arguments that the recipe gives, and called with tensors of unknown shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import PLAIN, UNKNOWN, Arguments, ClassRef, Constant, Outside
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell
from modellint.flow.queries.shapes import refused_in_call, refused_operations
from modellint.graph.immutable import dataclass
from modellint.graph.value import NOWHERE, EventKind, Op, subscripts
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.moved import layers_of
from modellint.link.recipes.overview import registrations_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Atoms
    from modellint.flow.interp import Interpreter
    from modellint.flow.queries.shapes import RefusedOperation
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.size import Size
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project
    from modellint.link.recipes.reach import Reach
    from modellint.source import Place

#: The most objects of a recipe that are made, and how deep they may be nested.
_MAX_MADE, _MAX_DEPTH = 200, 12
#: The method of a Brain that calls the layers.
_COMPUTES = "compute_forward"


@dataclass(frozen=True, slots=True)
class RefusedNumber:
    """An operation that torch refuses for the numbers that a recipe gives.

    `item` is the object whose layer is called, `place` the argument that says how wide the input of that layer is, or
    else the object. `numbers` are the places of the numbers that do not fit, if they are arguments of the object.
    """

    refused: RefusedOperation
    item: Item
    place: Place
    numbers: tuple[tuple[Size | None, Place], ...]


def refused_numbers(recipe: Recipe, project: Project) -> list[RefusedNumber]:
    """The operations that torch refuses for the numbers of a recipe, but for those that it refuses for any."""
    return project.once(("refused numbers", recipe.file), lambda: list(_search(recipe, project)))


def _search(recipe: Recipe, project: Project) -> Iterator[RefusedNumber]:
    layers = layers_of(project)
    made = evaluate(recipe, project).objects
    models = {id(item): model for item in made if item.kind is ItemKind.NEW and (model := layers.model(item))}
    if len(made) > _MAX_MADE or not any(model.is_module for model in models.values()):
        return
    for item in made:
        model = models.get(id(item))
        forward = None if model is None or model.cls is None or not model.is_module else model.method("forward")
        if forward is not None and model is not None and _depends_on_numbers(model, project):
            parts = list(item.walk())
            for refused, number in _refused_in(forward, item, parts, project):
                yield _describe(refused, parts[number])
    for one in registrations_of(recipe, project):
        function = None if one.reach is None else one.reach.brain.method(_COMPUTES)
        if function is not None and one.reach is not None:
            for refused, item in _refusals_in(function, one.reach, project):
                yield _describe(refused, item)


def _depends_on_numbers(model: ClassModel, project: Project) -> bool:
    """True if what a class computes may be refused for some numbers and not for others."""
    files = dict.fromkeys(one.cls.module for one in model.mro() if one.cls is not None)
    return any(one.doubt for module in files for one in refused_operations(module, project))


def _refused_in(
    forward: Function, item: Item, parts: list[Item], project: Project
) -> list[tuple[RefusedOperation, int]]:
    """The operations that torch refuses in a call of an object, each with the number of the part that is the layer.

    Recipes that make the same object with the same numbers share the answer.
    """
    numbers = {id(part): number for number, part in enumerate(parts)}
    form = tuple(
        (part.kind, part.target, part.value, tuple((name, numbers[id(child)]) for name, child in part.children()))
        for part in parts
    )

    def search() -> list[tuple[RefusedOperation, int]]:
        return [(refused, numbers[id(part)]) for refused, part in _refusals_in(forward, item, project)]

    return project.once(("refused with numbers", forward, item.recipe.file.parent, form), search)


def _refusals_in(
    function: Function, receiver: Item | Reach, project: Project
) -> Iterator[tuple[RefusedOperation, Item]]:
    """The operations that torch refuses in a call of a method on a layer of the recipe, or on a Brain."""
    objects = _Objects(project)
    for refused, layer in refused_in_call(function, lambda run: objects.receiver(receiver, run), project):
        item = None if layer is None else objects.maker(layer)
        if item is not None and not refused.doubt and not _is_told(refused, project):
            yield refused, item


def _describe(refused: RefusedOperation, item: Item) -> RefusedNumber:
    given, taken = _arguments(item, refused.given), _arguments(item, refused.taken)
    numbers = [(refused.given, one.place) for one in given.values()]
    numbers += ((refused.taken, one.place) for one in taken.values())
    written = [place for place in taken if len(taken) == 1]
    return RefusedNumber(refused, item, written[0] if written else item.place, tuple(numbers))


def _is_told(refused: RefusedOperation, project: Project) -> bool:
    """True if torch refuses the operation whatever the numbers are."""
    known = refused_operations(refused.site.module, project)
    return any(one.site.value is refused.site.value and not one.doubt for one in known)


def _arguments(item: Item, size: object) -> dict[Place, Item]:
    """The arguments of an object that are a number, by the places where they are passed."""
    found: dict[Place, Item] = {}
    for name, child in item.children():
        if child.number is None or str(child.number) != str(size):
            continue
        entry = item.node.get(name) if isinstance(name, str) else None
        written = entry.key if entry is not None else item.node.elements[name] if isinstance(name, int) else child.node
        found[item.recipe.place(written.span)] = child
    return found


def _set_in(module: ModuleFacts) -> set[object]:
    """The names of the attributes, and the keys, that code of a script sets on any object."""
    events = (
        event for function in (*module.all_functions(), module.body) for event in function.flow.of(EventKind.STORE)
    )
    targets = [event.target for event in events if event.target is not None]
    keys = [part.data for one in targets if one.op is Op.INDEX for part in subscripts(one) if part.op is Op.CONST]
    return {*keys, *(one.data for one in targets if one.op is Op.ATTR)}


class _Objects:
    """The objects of a recipe in one run, each made once."""

    run: Interpreter

    def __init__(self, project: Project) -> None:
        self._project = project
        self._made: dict[int, Atoms] = {}
        self._items: dict[int, Item] = {}

    def receiver(self, of: Item | Reach, run: Interpreter) -> Shell | None:
        """The object of a run that a layer or a Brain is; None if it is not known."""
        self.run = run
        if not isinstance(of, Item):
            return self._brain(of)
        found = self.of(of)
        return found[0] if len(found) == 1 and isinstance(found[0], Shell) else None

    def of(self, item: Item, depth: int = 0) -> Atoms:
        """The atoms of an object, which is made if it was not."""
        known = self._made.get(id(item))
        if known is None:
            self._made[id(item)] = UNKNOWN  # an argument that holds itself has no end
            known = self._made[id(item)] = UNKNOWN if depth > _MAX_DEPTH else self._make(item, depth)
            for atom in known:
                if isinstance(atom, Shell):
                    self._items.setdefault(id(atom), item)
        return known

    def _make(self, item: Item, depth: int) -> Atoms:
        match item.kind:
            case ItemKind.CONSTANT:
                values = item.values
                return (Constant(item.value),) if values is None else self._list([(Constant(one),) for one in values])
            case ItemKind.SEQUENCE:
                return self._list([self.of(child, depth + 1) for child in item.elements])
            case ItemKind.NAME:
                model = self._project.classes.resolve(item.target, item.recipe.file)
                return (Outside(item.target) if model is None else ClassRef(model, self._arguments(item, depth)),)
            case ItemKind.NEW:
                model = self._project.classes.resolve(item.target, item.recipe.file)
                if model is None:
                    return UNKNOWN
                frame = class_frame(model.facts.scope, id(item))
                return self.run.calls.apply(ClassRef(model), self._arguments(item, depth), frame, NOWHERE)
            case ItemKind.UNKNOWN if item.node.text == "" and not item.fields and not item.elements:
                return PLAIN
        return UNKNOWN

    def _arguments(self, item: Item, depth: int) -> Arguments:
        return Arguments(
            tuple(self.of(child, depth + 1) for child in item.elements),
            {str(name): self.of(child, depth + 1) for name, child in item.fields.items()},
        )

    @staticmethod
    def _list(entries: list[Atoms]) -> Atoms:
        found = Shell("list", None, ())
        for atoms in entries:
            found.put(atoms, ())
        return (found,)

    def _brain(self, reach: Reach) -> Shell:
        """The Brain of a training, with its `modules` and its `hparams`."""
        cls = reach.brain.classes[0]
        found = Shell("instance", None, (id(cls),), self._project.classes.model(cls), Arguments())
        found.is_built = found.is_initialised = True
        entries = {} if reach.modules is None else reach.modules.entries
        replaced = _set_in(reach.brain.module)
        model = self._project.classes.resolve("torch.nn.ModuleDict", cls.module.file)
        modules = Shell("instance", None, (), model, Arguments())
        modules.is_built, modules.is_initialised, modules.is_exact = True, True, False
        for name, item in entries.items():
            if item is not None and name not in replaced:
                atoms = self.of(item)
                modules.set(name, atoms)
                modules.put(atoms, (), name)
        found.set("modules", (modules,))
        return found

    def maker(self, layer: Shell) -> Item | None:
        """The object of the recipe that is a layer, or whose constructor made it."""
        parts = (id(layer), *reversed(layer.trail))
        return next((self._items[part] for part in parts if part in self._items), None)
