"""Maps of recipes: rows are derived from the closures alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.built import is_device_lazy, moves
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import ItemKind
from modellint.link.recipes.moved import layers_of
from modellint.link.recipes.overview import Registration, registrations_of
from modellint.link.recipes.pairing import scripts_of
from modellint.link.recipes.registration import omitted_layers
from modellint.link.recipes.shortfalls import unsaved_layers, untrained_layers
from modellint.mapping.model import (
    STAGES,
    Fact,
    Layer,
    Link,
    Loose,
    RecipeMap,
    RootKind,
    State,
    Training,
    Usage,
)
from modellint.mapping.parameters import counter_of
from modellint.mapping.text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.closures import Root, Via
    from modellint.link.recipes.items import Item
    from modellint.link.recipes.moved import Layers
    from modellint.link.recipes.overview import LayerStatus
    from modellint.link.recipes.used import LayerUse

_NO = Fact(State.NO)
_UNKNOWN = Fact(State.UNKNOWN)
#: The prefix of roots that are entries of `modules`.
_MODULES = "modules["
_MADE = (ItemKind.NEW, ItemKind.APPLY)


def map_recipe(recipe: Recipe, project: Project) -> RecipeMap:
    """The map of a recipe: one training for each Brain of each script that may load it."""
    loose = _LooseLayers(recipe, project)
    registrations = registrations_of(recipe, project)
    if not registrations:
        registrations = (Registration(recipe, evaluate(recipe, project), None, project),)
    trainings = tuple(_Training(registration, loose, project).build() for registration in registrations)
    pairing = scripts_of(recipe, project)
    found_by = pairing.reason if any(t.script for t in trainings) else ""
    turned_down = tuple((one.script.as_posix(), one.reason) for one in pairing.turned_down)
    return RecipeMap(recipe.path, found_by, turned_down, trainings)


class _LooseLayers:
    """The certain findings of the recipe rules, by layer and column, and as texts."""

    def __init__(self, recipe: Recipe, project: Project) -> None:
        self.unmoved = {id(o.layer): o.layer for o in omitted_layers(recipe, project) if o.sure}
        self.untrained = {id(s.part): s.layer for s in untrained_layers(recipe, project) if s.is_certain}
        self.unsaved = {id(s.part): s.layer for s in unsaved_layers(recipe, project) if s.is_certain}

    @property
    def containers(self) -> dict[int, Item]:
        """The larger objects of which nothing is saved, by identity, where they are more than one layer."""
        return {id(whole): whole for part, whole in self.unsaved.items() if part != id(whole)}

    def all_loose(self) -> Iterator[Loose]:
        """Each finding about a loose layer, once."""
        for column, kind, message in (
            (self.unmoved, "not-moved", "is used but not in `modules`: it stays on the CPU"),
            (self.unsaved, "not-saved", "is trained, but no checkpoint holds it"),
            (self.untrained, "not-trained", "is used in training, but no optimizer is given its parameters"),
        ):
            for item in {id(item): item for item in column.values()}.values():
                yield Loose(item.path, f"`{item.path}` {message}", kind, item.place)


class _Training:
    def __init__(self, registration: Registration, loose: _LooseLayers, project: Project) -> None:
        self.registration = registration
        self.loose = loose
        self.project = project
        self.layers: Layers = layers_of(project)

    def build(self) -> Training:
        reach = self.registration.reach
        statuses = self._statuses()
        within = self._nesting([status.item for status in statuses])
        rows = tuple(self._layer(status, within.get(id(status.item))) for status in statuses)
        if reach is None:
            return Training("", None, (), rows, tuple(self.loose.all_loose()), ())
        classes = reach.brain.classes
        brain = classes[0].name if classes else reach.brain.module.text_of(reach.brain.call.callee)
        trained = self.registration.trained
        optimizers = tuple(trained.optimizers) if trained is not None else ()
        absent = tuple(self._absent())
        loose = (*self.loose.all_loose(), *absent)
        missing = tuple(one.name for one in absent)
        return Training(brain, reach.brain.module.path, tuple(map(shortened, optimizers)), rows, loose, missing)

    def _statuses(self) -> list[LayerStatus]:
        """The layers, including entries of `modules` whose class is not known."""
        known = {id(status.item): status for status in self.registration.layers}
        entries = {id(root.item) for root in self.registration.modules.roots}
        found: list[LayerStatus] = []
        for item in self.registration.evaluation.root.walk():
            if id(item) in known:
                found.append(known[id(item)])
            elif id(item) in entries and self._may_be_layer(item):
                found.append(self.registration.status(item))
        return found

    def _may_be_layer(self, item: Item) -> bool:
        model = self.layers.model(item)
        return item.kind in _MADE and (model is None or model.is_module is None)

    def _nesting(self, items: list[Item]) -> dict[int, Item]:
        """For each layer the nearest other one that registers it."""
        found: dict[int, Item] = {}
        held = {id(item): self.layers.held_by(item).certain for item in items}
        for owner in sorted(items, key=lambda item: -len(held[id(item)])):
            for item in items:
                if item is not owner and id(item) in held[id(owner)] and id(owner) not in held[id(item)]:
                    found[id(item)] = owner
        return found

    def _layer(self, status: LayerStatus, within: Item | None) -> Layer:
        item = status.item
        return Layer(
            name=item.path,
            class_name=item.target,
            place=item.place,
            parameters=counter_of(self.project).item(item),
            uses=tuple(_uses(status)),
            moved=self._moved_fact(status),
            trained=self._trained_fact(status),
            saved=self._saved_fact(status),
            loaded=_fact(status.loaded) or _NO,
            frozen=self._frozen(status),
            within=None if within is None else within.path,
            links=tuple(self._links(status, within)),
        )

    # -- facts -------------------------------------------------------------------------------------------------

    def _moved_fact(self, status: LayerStatus) -> Fact:
        if status.moved is not None and not status.moved.root.text.startswith(_MODULES):
            return Fact(State.MAYBE, "by the script", status.moved.root.place)
        fact = _fact(status.moved)
        if fact is not None:
            return fact
        owner = self._mover(status)
        if owner:
            return Fact(State.YES, owner if owner == "itself" else f"by {owner}")
        if self._is_in(status.item, self.loose.unmoved):
            return Fact(State.LOOSE)
        if self.registration.reach is None and "modules" not in self.registration.evaluation.keys:
            return _UNKNOWN
        return _NO if self.registration.moved.closed else _UNKNOWN

    def _mover(self, status: LayerStatus) -> str:
        """The mover of a layer that is not in `modules`: "itself", or the name of its user; "" if there is none."""
        model = self.layers.model(status.item)
        if model is not None and is_device_lazy(model):
            return "itself"
        for use in status.uses:
            owner = use.owners[-1] if use.owners else None
            owning = None if owner is None else self.layers.model(owner)
            if owner is not None and owning is not None:
                given = (name for name, child in self.layers.arguments(owner) if child is status.item)
                if any(name is not None and moves(owning, name) for name in given):
                    return owner.path
        return ""

    def _is_in(self, item: Item, loose: dict[int, Item]) -> bool:
        return any(item is other or self.layers.takes_along(other, item) for other in loose.values())

    def _trained_fact(self, status: LayerStatus) -> Fact:
        fact = _fact(status.trained)
        if fact is not None or status.has_parameters is False:
            return fact or _NO
        if id(status.item) in self.loose.untrained:
            return Fact(State.LOOSE)
        trained = self.registration.trained
        return _NO if trained is not None and trained.closed else _UNKNOWN

    def _saved_fact(self, status: LayerStatus) -> Fact:
        fact = _fact(status.saved)
        if fact is not None:
            return fact
        if id(status.item) in self.loose.unsaved or (
            # It is lost with the container of which nothing is saved.
            status.trained is not None and status.has_parameters and self._is_in(status.item, self.loose.containers)
        ):
            return Fact(State.LOOSE)
        saved = self.registration.saved
        return _NO if saved is not None and saved.closed else _UNKNOWN

    @staticmethod
    def _frozen(status: LayerStatus) -> Fact:
        if status.frozen_by_itself:
            return Fact(State.YES, "itself")
        return _fact(status.frozen) or (_UNKNOWN if status.frozen_by_itself is None else _NO)

    # -- what holds it -----------------------------------------------------------------------------------------

    def _links(self, status: LayerStatus, within: Item | None) -> Iterator[Link]:
        for via, kind in (
            (status.moved, RootKind.MODULES),
            (status.trained, RootKind.OPTIMIZER),
            (status.saved, RootKind.RECOVERABLES),
            (status.loaded, RootKind.PRETRAINER),
        ):
            if via is None:
                continue
            if kind is RootKind.MODULES and not via.root.text.startswith(_MODULES):
                kind = RootKind.SCRIPT
            holder = via.root.item
            is_nested = within is not None and (holder is within or self.layers.takes_along(holder, within))
            if is_nested and holder is not status.item:
                continue  # its owner is held, and the owner's link is drawn
            group = "" if holder is status.item else holder.path
            yield Link(kind, _root_name(via.root, kind), group, via.certain)

    def _absent(self) -> Iterator[Loose]:
        """Entries of `modules` that the script certainly uses, but that do not exist."""
        reach = self.registration.reach
        told: set[str] = set()
        for use in reach.absent_modules if reach is not None else ():
            if use.certain and use.name not in told:
                told.add(use.name)
                message = f"`{use.text}` is used, but `modules` has no `{use.name}`"
                yield Loose(use.name, message, "not-in-modules", use.place)


def _fact(via: Via | None) -> Fact | None:
    if via is None:
        return None
    return Fact(State.YES if via.certain else State.MAYBE, via.root.text, via.root.place)


def _root_name(root: Root, kind: RootKind) -> str:
    if kind in (RootKind.MODULES, RootKind.RECOVERABLES, RootKind.PRETRAINER) and "[" in root.text:
        return root.text.partition("[")[0]
    return kind.value if kind is RootKind.SCRIPT else shortened(root.text)


def _uses(status: LayerStatus) -> Iterator[Usage]:
    """The uses of a layer, each place and way once, the certain ones first."""
    found: dict[tuple[object, ...], Usage] = {}
    for use in sorted(status.uses, key=lambda use: (not use.certain, len(use.owners))):
        made = _use(use)
        found.setdefault((made.place.path, made.place.span.line, made.owners), made)
    yield from found.values()


def _use(use: LayerUse) -> Usage:
    stages = tuple(stage for stage in STAGES if stage in use.stages)
    owners = tuple(owner.path for owner in use.owners)
    return Usage(use.place, use.function, use.text, stages, owners, use.certain)
