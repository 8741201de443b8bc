"""The objects of a recipe made on paper, with the arguments that the recipe gives, and the Brain around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import PLAIN, UNKNOWN, Arguments, ClassRef, Constant, Outside
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell
from modellint.graph.recipe import Dialect
from modellint.graph.value import NOWHERE, EventKind, Op, subscripts
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.targets import class_of_item

if TYPE_CHECKING:
    from modellint.flow.domain import Atoms
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.link.recipes.items import Evaluation
    from modellint.link.recipes.reach import Reach

#: How deep objects may be nested.
_MAX_DEPTH = 12
#: The dialects in which an object gets the mappings that describe the objects among its arguments.
_LEFT = frozenset((Dialect.OPENMMLAB, Dialect.TORCHTUNE, Dialect.LATENT))


def _set_in(module: ModuleFacts) -> set[object]:
    """The names of the attributes, and the keys, that code of a script sets on any object."""
    events = (
        event for function in (*module.all_functions(), module.body) for event in function.flow.of(EventKind.STORE)
    )
    targets = [event.target for event in events if event.target is not None]
    keys = [part.data for one in targets if one.op is Op.INDEX for part in subscripts(one) if part.op is Op.CONST]
    return {*keys, *(one.data for one in targets if one.op is Op.ATTR)}


class MadeObjects:
    """The objects of a recipe in one run, each made once."""

    run: Interpreter

    def __init__(self, project: Project) -> None:
        self._project = project
        self._made: dict[int, Atoms] = {}
        self._items: dict[int, Item] = {}

    def layer(self, item: Item, run: Interpreter) -> Shell | None:
        """The object of a run that a layer of the recipe is; None if it is not known."""
        self.run = run
        found = self.of(item)
        return found[0] if len(found) == 1 and isinstance(found[0], Shell) else None

    def brain(self, reach: Reach, evaluation: Evaluation, run: Interpreter) -> Shell:
        """The Brain of a training in a run, with its `modules` and those of the recipe's keys that it reads."""
        self.run = run
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
        found.set("hparams", (self._keys(reach, evaluation, replaced),))
        return found

    def _keys(self, reach: Reach, evaluation: Evaluation, replaced: set[object]) -> Shell:
        """The object whose attributes are the keys of the recipe that the Brain's methods mention."""
        model = self._project.classes.resolve("torch.nn.Module", evaluation.recipe.file)
        found = Shell("instance", None, (), model, Arguments())
        found.is_built = found.is_initialised = True
        words = {word for cls in reach.brain.classes for method in cls.methods.values() for word in method.words}
        for name, item in evaluation.keys.items():
            if name in words:
                found.set(name, UNKNOWN if name in replaced else self.of(item))
        return found

    def of(self, item: Item, depth: int = 0) -> Atoms:
        """The atoms of an object, which is made if it was not."""
        known = self._made.get(id(item))
        if depth and item.kind is ItemKind.NEW and item.recipe.dialect in _LEFT:
            return UNKNOWN
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
                model = class_of_item(item, self._project)
                return (Outside(item.target) if model is None else ClassRef(model, self._arguments(item, depth)),)
            case ItemKind.NEW:
                model = class_of_item(item, self._project)
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

    def maker(self, layer: Shell) -> Item | None:
        """The object of the recipe that is a layer, or whose constructor made it."""
        parts = (id(layer), *reversed(layer.trail))
        return next((self._items[part] for part in parts if part in self._items), None)
