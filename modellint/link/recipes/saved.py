"""What a checkpointer saves: the recoverables of the recipe, and what the script adds to them.

The Brain adds its own optimizer, its loss scaler and its progress; those are no objects of the recipe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, Value
from modellint.link.recipes.closures import Closure, Root
from modellint.link.recipes.evaluation import Item, ItemKind
from modellint.link.recipes.guards import Frame, Known, ModuleEntry, Special

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.link.project import Project
    from modellint.link.recipes.moved import Layers
    from modellint.link.recipes.reach import Reach
    from modellint.source import Place

_CLASS = "Checkpointer"
_RECOVERABLES = "recoverables"
_ADDS = frozenset(("add_recoverable", "add_recoverables"))
#: Methods by which the weights of a module leave it on another way than by a checkpointer.
_EXPORTS = frozenset(("state_dict", "save_pretrained", "save"))


class Saved(Closure):
    """The objects that a checkpointer saves.

    `checkpointer` is the recipe's object, None where the script makes it (`exists`) or there is none at all.
    `recoverables` is the mapping in the recipe, with the place to show for it.
    """

    def __init__(
        self,
        roots: list[Root],
        layers: Layers,
        *,
        closed: bool,
        exists: bool,
        checkpointer: Item | None,
        recoverables: Item | None,
    ) -> None:
        super().__init__(roots, layers, closed=closed)
        self.exists = exists
        self.checkpointer = checkpointer
        self.recoverables = recoverables

    @property
    def place(self) -> Place | None:
        """Where the recipe says what is saved."""
        shown = self.recoverables or self.checkpointer
        return None if shown is None else shown.place


def saved_by(reach: Reach, project: Project, layers: Layers) -> Saved:
    """What the checkpointer of a Brain saves."""
    return _Finder(reach, project, layers).run()


class _Finder:
    def __init__(self, reach: Reach, project: Project, layers: Layers) -> None:
        self.reach = reach
        self.project = project
        self.layers = layers
        self.roots: list[Root] = []
        self.closed = True
        self.exists = False
        self.checkpointer: Item | None = None
        self.recoverables: Item | None = None

    def run(self) -> Saved:
        brain = self.reach.brain
        value = brain.argument("checkpointer")
        if value is not None:
            self._start(value, Frame(brain.module.body, ""))
        elif brain.call.has_unpacking or any(name == "checkpointer" for name, _, _ in brain.stored):
            self.exists, self.closed = True, False
        if self.exists:
            self._script()
        return Saved(
            self.roots,
            self.layers,
            closed=self.closed,
            exists=self.exists,
            checkpointer=self.checkpointer,
            recoverables=self.recoverables,
        )

    def _start(self, value: Value, frame: Frame) -> None:
        found = self.reach.guards.evaluate(value, frame)
        if found == Known(None):
            return
        self.exists = True
        if isinstance(found, Item) and found.kind is ItemKind.NEW and found.target.endswith(_CLASS):
            self.checkpointer = found
            names = {name: child for name, child in self.layers.arguments(found) if name is not None}
            given = names.get(_RECOVERABLES)
            self.closed = not any(name.startswith("custom_") for name in names)
            if given is not None:
                self._recipe(given)
        elif value.op is Op.CALL and str(value.callee.data).endswith(_CLASS):
            given_value = value.argument(1, _RECOVERABLES)
            self.closed = not value.has_unpacking
            if given_value is not None:
                self._entries(given_value, frame, certain=True)
        else:
            self.closed = False

    def _recipe(self, mapping: Item) -> None:
        if mapping.kind is not ItemKind.MAPPING:
            self.closed = False
            return
        self.recoverables = mapping
        for name, child in mapping.fields.items():
            self.roots.append(Root(child, f"{_RECOVERABLES}[{name}]", child.place))
            self.closed = self.closed and child.kind is not ItemKind.UNKNOWN

    def _entries(self, value: Value, frame: Frame, *, certain: bool) -> None:
        """The recoverables in a mapping that the script writes."""
        if value.op is Op.DICT:
            for item in value.args:
                self._add(item, frame, certain=certain)
            return
        found = self.reach.guards.item(value, frame)
        if found is None or found.kind is not ItemKind.MAPPING:
            self.closed = False
        else:
            self._recipe(found)

    def _script(self) -> None:
        for event, frame, certain in self.reach.all_events("recoverable", "save", "state_dict"):
            if event.kind is EventKind.STORE and event.target is not None and _is_recoverable(event.target):
                self._add(event.value, frame, certain=certain)
            callee = event.value.callee if event.kind is EventKind.CALL else None
            if callee is None or callee.op is not Op.ATTR:
                continue
            if callee.data == "add_recoverable":
                added = event.value.argument(1, "obj")
                if added is None:
                    self.closed = False
                else:
                    self._add(added, frame, certain=certain)
            elif callee.data == "add_recoverables":
                given = event.value.argument(0, _RECOVERABLES)
                if given is None:
                    self.closed = False
                else:
                    self._entries(given, frame, certain=certain)
            elif callee.data in _EXPORTS:
                for item in self._objects(callee.args[0], frame):
                    self.roots.append(Root(item, *self._shown(event.value, frame), certain=False))
            elif str(callee.data) == "update" and _is_recoverable(callee):
                self.closed = False
        self._written_out()

    def _written_out(self) -> None:
        """Objects that the script hands to `torch.save`."""
        for event, frame, _ in self.reach.all_events(".save("):
            if event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR and event.value.callee.data == "save":
                for argument in event.value.args[1:]:
                    for item in self._objects(argument, frame):
                        self.roots.append(Root(item, *self._shown(event.value, frame), certain=False))

    def _add(self, value: Value, frame: Frame, *, certain: bool) -> None:
        found = list(self._objects(value, frame))
        for item in found:
            self.roots.append(Root(item, *self._shown(value, frame), certain=certain and len(found) == 1))
        if not found and not self._is_no_layer(value, frame):
            self.closed = False

    def _objects(self, value: Value, frame: Frame) -> Iterator[Item]:
        found = self.reach.guards.evaluate(value, frame)
        modules = self.reach.modules.entries if self.reach.modules is not None else {}
        if found is Special.MODULES:
            yield from (item for item in modules.values() if item is not None)
        elif isinstance(found, ModuleEntry):
            item = modules.get(found.name)
            if item is not None:
                yield item
        elif isinstance(found, Item):
            yield found
        elif value.op in (Op.CHOICE, Op.ATTR, Op.DICT, Op.LIST, Op.INDEX):
            for part in value.args:
                yield from self._objects(part, frame) if part.op is not Op.CHOICE else ()

    def _is_no_layer(self, value: Value, frame: Frame) -> bool:
        """Whether something the script made itself is an optimizer or a scheduler: made by a class of the recipe."""
        for part in value.walk():
            if part.op is Op.CALL:
                callee = part.callee
                while callee.op in (Op.UNPACK, Op.INDEX):
                    callee = callee.args[0]
                found = self.reach.guards.evaluate(callee, frame)
                if isinstance(found, Item) and found.kind is ItemKind.NAME:
                    model = self.project.classes.resolve(found.target, found.recipe.file)
                    return model is None or not model.is_module
        return self._is_attribute_of_no_layer(value, frame)

    def _is_attribute_of_no_layer(self, value: Value, frame: Frame) -> bool:
        """Whether `self.x` is something that no recipe object stands for: what the Brain makes of its optimizers."""
        return value.op is Op.ATTR and value.args[0].op is Op.PARAM and value.args[0].data == "self"

    def _shown(self, value: Value, frame: Frame) -> tuple[str, Place]:
        module = frame.function.module
        return module.text_of(value), module.place(value)


def _is_recoverable(target: Value) -> bool:
    """Whether a store goes to `….recoverables[…]`, or a call to `….recoverables.update`."""
    if target.op in (Op.INDEX, Op.ATTR) and target.args:
        owner = target.args[0]
        while owner.op is Op.UPDATE:
            owner = owner.args[0]
        return owner.op is Op.ATTR and owner.data == _RECOVERABLES
    return False
