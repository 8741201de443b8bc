"""Layers of a recipe that follow `modules=` to the device, and layers that a training uses beside them.

A layer follows if the mapping holds it, or a module in it registers it. The closure stops at objects that are no
modules: only a scorer itself moves the layers in its plain attributes. If a class is unknown, everything it
holds counts as moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from modellint.flow.built import Built, any_layer, built, has_state, is_device_lazy, moves, parts, state_of
from modellint.flow.domain import PLAIN, UNKNOWN, Arguments, ClassRef, Constant, Outside, constant
from modellint.flow.heap import Shell
from modellint.graph.arguments import bind
from modellint.graph.immutable import dataclass
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.targets import class_of_item

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.interp import Interpreter
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

T = TypeVar("T")

_CONTAINERS = (ItemKind.MAPPING, ItemKind.SEQUENCE)
#: Kinds of objects that are no layers, though they may contain some.
_NO_LAYERS = frozenset((ItemKind.CONSTANT, ItemKind.MODULE, ItemKind.NAME, *_CONTAINERS))
_MAX_DEPTH = 20
#: Arguments of more objects are unknown: aliases can multiply a few lines to any number.
_MAX_OBJECTS = 20_000
#: Constructor parameters that freeze the weights of pretrained models.
_FREEZING = ("freeze", "frozen", "freeze_params")


@dataclass(frozen=True, eq=False)
class Moved:
    """The ids of objects that follow `modules=`: those that certainly do, and those that may."""

    certain: frozenset[int]
    possible: frozenset[int]

    def __contains__(self, item: Item) -> bool:
        return id(item) in self.certain or id(item) in self.possible


@dataclass(frozen=True, eq=False)
class UsedLayer:
    """A layer in use, and the chain of objects that it is reached through, from the one used first."""

    layer: Item
    owners: tuple[Item, ...]


class Layers:
    """Facts about the objects of recipes as layers. Reached through `layers_of`."""

    def __init__(self, project: Project) -> None:
        self._project = project
        #: By id of the object; the object is stored as well, so that no other one gets its id.
        self._extents: dict[int, tuple[Item, int]] = {}
        self._holding: dict[int, tuple[Item, bool]] = {}

    def _once(self, item: Item, question: Hashable, answer: Callable[[], T]) -> T:
        """The memoised answer to a question about an object; each asker gets its file dependencies."""
        return self._project.once(("item", id(item), question), lambda: (item, answer()))[1]

    def model(self, item: Item) -> ClassModel | None:
        """The class of an object that the recipe makes."""
        if item.kind is not ItemKind.NEW:
            return None
        return self._once(item, "class", lambda: class_of_item(item, self._project))

    def class_of(self, item: Item) -> ClassModel | None:
        """The class whose object the recipe makes, or that it names."""
        if item.kind is ItemKind.NAME:
            return class_of_item(item, self._project)
        return self.model(item)

    def constant(self, item: Item, name: str) -> Constant | None:
        """The constant that the constructor of an object stores in an attribute; else None."""
        return self._ask_item(item, ("attribute", name), lambda found: constant(found.shell.get(name) or ()))

    def _ask_item(self, item: Item, question: Hashable, answer: Callable[[Built], T]) -> T | None:
        """The answer to a question about an object after its constructor has run; None if its class is unknown."""
        model = self.model(item)
        if model is None:
            return None
        return self._once(item, question, lambda: self._ask_built(model, self._arguments(item, 0), question, answer))

    def _ask_built(
        self, model: ClassModel, arguments: Arguments, question: Hashable, answer: Callable[[Built], T]
    ) -> T:
        """The answer to a question about an object with these arguments, shared by all recipes that have one."""

        def ask() -> T:
            with built(model, arguments) as found:
                return answer(found)

        return model.classes.once(model, (question, _key(arguments)), ask)

    def has_own_state(self, item: Item) -> bool | None:
        """True if an object has parameters or buffers of its own that do not move themselves; None if unknown.

        Those of layers among its arguments belong to them.
        """
        model = self.model(item)
        known = None if model is None else has_state(model)
        return known if known is False else self._ask_item(item, "state", _own_state)

    def has_own_parameters(self, item: Item) -> bool | None:
        """True if an object has trainable parameters of its own, those of layers among its arguments left out."""
        model = self.model(item)
        known = None if model is None else has_state(model, trained=True)
        if known is not None:
            return known
        return self._ask_item(item, "parameters", lambda found: found.state(trained=True))

    def freezes(self, item: Item) -> bool | None:
        """True if an argument or default freezes the object (`freeze: True`); None if its value is unknown."""
        model = self.model(item)
        for name, child in self.arguments(item):
            if name in _FREEZING:
                return bool(child.value) if child.kind is ItemKind.CONSTANT else None
        parameters = (model.parameter(name) for name in _FREEZING) if model is not None else ()
        defaults = (parameter.default for parameter in parameters if parameter is not None)
        return any(default is not None and default.data is True for default in defaults)

    def registers(self, item: Item, argument: str | int) -> bool | None:
        """True if an object registers the layer in its argument, a name or a position; None if unknown."""
        model = self.model(item)
        if model is None:
            return None
        return self._once(item, ("registers", argument), lambda: self._ask(item, model, argument))

    def _ask(self, item: Item, model: ClassModel, argument: str | int) -> bool | None:
        """Run the constructor with this one layer; other arguments for `*args` and `**kwargs` are left out."""
        layer = any_layer(model.classes, is_container=self._may_be_container(item, argument))
        declared = [p for p in model.signature or () if not p.kind.startswith("var")]
        names = {p.name for p in declared}
        taken = sum(p.kind == "positional" for p in declared)
        positional = [
            _layers(child, layer) if index == argument else self._object(child, 1)
            for index, child in enumerate(item.elements)
            if index == argument or index < taken
        ]
        keywords = {
            str(name): _layers(child, layer) if name == argument else self._object(child, 1)
            for name, child in item.fields.items()
            if name == argument or name in names
        }
        arguments = Arguments(tuple(positional), keywords)
        found = self._ask_built(model, arguments, "registers", lambda made: made.registers(layer))
        # Containers exist to register the layers in their arguments, by whatever code.
        return True if found is None and model.is_container and self._is_layer(item, argument) else found

    def _argument_class(self, item: Item, argument: str | int) -> ClassModel | None:
        """The class of the object in an argument."""
        given = next((child for name, child in item.children() if name == argument), None)
        return None if given is None else self.model(given)

    def _is_layer(self, item: Item, argument: str | int) -> bool:
        """True if the object in an argument certainly is a layer."""
        model = self._argument_class(item, argument)
        return model is not None and model.is_module is True

    def _may_be_container(self, item: Item, argument: str | int) -> bool:
        """True if the object in an argument may be a container of layers."""
        model = self._argument_class(item, argument)
        return model is None or model.is_container

    def arguments(self, item: Item) -> Iterator[tuple[str | None, Item]]:
        """The arguments of an object with their parameter names, None for unknown names."""
        for name, child in item.fields.items():
            yield str(name), child
        if item.elements:
            model = self.model(item)
            signature = model.signature if model is not None else None
            bound = bind(signature or (), item.elements, {})
            yield from bound.given.items()
            rest = next((one.name for one in bound.parameters if one.kind == "var-positional"), None)
            yield from ((rest, child) for child in bound.rest)

    def _arguments(self, item: Item, depth: int) -> Arguments:
        return Arguments(
            tuple(self._object(child, depth + 1) for child in item.elements),
            {str(name): self._object(child, depth + 1) for name, child in item.fields.items()},
        )

    def _object(self, item: Item, depth: int) -> Atoms:
        """The atoms of an argument for the constructor; layers in it are plain values."""
        if depth > _MAX_DEPTH or self._extent(item) > _MAX_OBJECTS:
            return UNKNOWN
        match item.kind:
            case ItemKind.CONSTANT:
                values = item.values
                return (Constant(item.value),) if values is None else _list((Constant(value),) for value in values)
            case ItemKind.MAPPING:
                return _dict({name: self._object(child, depth + 1) for name, child in item.fields.items()})
            case ItemKind.SEQUENCE:
                return _list(self._object(child, depth + 1) for child in item.elements)
            case ItemKind.NEW:
                model = self.model(item)
                if model is None or model.is_module is None:
                    return UNKNOWN
                if model.is_module:
                    return PLAIN
                return (Shell("instance", None, (), model, self._arguments(item, depth)),)
            case ItemKind.NAME:
                found = class_of_item(item, self._project)
                return (Outside(item.target) if found is None else ClassRef(found, self._arguments(item, depth)),)
            case ItemKind.UNKNOWN if item.node.text == "" and not item.fields and not item.elements:
                # A placeholder: the user fills in a number or a path.
                return PLAIN
        return UNKNOWN

    def _extent(self, item: Item) -> int:
        """The number of objects in an argument; shared ones count each time."""
        known = self._extents.get(id(item))
        if known is None:
            self._extents[id(item)] = item, _MAX_OBJECTS + 1  # an argument that holds itself has no end
            known = self._extents[id(item)] = item, 1 + sum(self._extent(child) for _, child in item.children())
        return known[1]

    def _may_hold_layers(self, item: Item) -> bool:
        """True if an argument, or any object in it, may be a layer."""
        known = self._holding.get(id(item))
        if known is None:
            found = any(part.kind not in _NO_LAYERS for part in item.walk())
            known = self._holding[id(item)] = item, found
        return known[1]

    # -- closures ----------------------------------------------------------------------------------------------

    def moved_with(self, starts: Iterable[Item]) -> Moved:
        """The objects that move when `starts` are moved."""
        begin = list(starts)
        certain = {id(item) for item in begin}
        possible: set[int] = set()
        pending = [(item, True) for item in begin]
        while pending:
            item, sure = pending.pop()
            for child, follows in self._moving_along(item, sure, certain):
                target = certain if follows else possible
                if id(child) not in target:
                    target.add(id(child))
                    pending.append((child, follows))
        return Moved(frozenset(certain), frozenset(possible))

    def held_by(self, item: Item) -> Moved:
        """An object and all objects that it registers."""
        return self._once(item, "held", lambda: self.moved_with((item,)))

    def _moving_along(self, item: Item, sure: bool, known: set[int]) -> Iterator[tuple[Item, bool]]:
        """The direct parts that move with `item`, those in `known` left out, and whether that is certain."""
        if item.kind in _CONTAINERS:
            for _, child in item.children():
                yield child, sure
            return
        model = self.model(item)
        if model is None or model.is_module is None:
            for _, child in item.children():
                yield child, False
        elif model.is_module:
            for argument, child in item.children():
                if self._may_hold_layers(child) and id(child) not in known:
                    registered = self.registers(item, argument)
                    if registered is not False:
                        yield child, sure and registered is True

    def holds(self, owner: Item, item: Item) -> bool:
        """True if an object certainly registers another one, or is it."""
        return id(item) in self.held_by(owner).certain

    def takes_along(self, owner: Item, item: Item) -> bool:
        """True if moving `owner` moves `item`, another object, certainly or possibly."""
        return owner is not item and item in self.held_by(owner)

    def reached_from(self, used: Item) -> Iterator[UsedLayer]:
        """The layers that computing with `used` may need: itself and those in its arguments, at any depth."""
        seen: set[int] = set()
        pending: list[tuple[Item, tuple[Item, ...]]] = [(used, ())]
        while pending:
            item, owners = pending.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if item.kind in _CONTAINERS:
                pending.extend((child, owners) for _, child in item.children())
            elif (model := self.model(item)) is not None:
                if model.is_module:
                    yield UsedLayer(item, owners)
                pending.extend((child, (*owners, item)) for _, child in item.children() if self._may_hold_layers(child))

    def used_with(self, used: Item, moved: Moved | None = None) -> Iterator[UsedLayer]:
        """The layers with state that computing with `used` needs: itself, and those in its arguments.

        Left out are layers in `moved`, and those that their owner moves or that move themselves, with their parts.
        """
        seen: set[int] = set()
        pending: list[tuple[Item, tuple[Item, ...]]] = [(used, ())]
        while pending:
            item, owners = pending.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if item.kind in _CONTAINERS:
                pending.extend((child, owners) for _, child in item.children())
                continue
            model = self.model(item)
            if model is None or is_device_lazy(model):
                continue
            if model.is_module and (moved is None or item not in moved) and self.has_own_state(item):
                yield UsedLayer(item, owners)
            for name, child in self.arguments(item):
                if name is not None and self._may_hold_layers(child) and not moves(model, name):
                    pending.append((child, (*owners, item)))


def _key(values: Arguments | Atoms) -> Hashable:
    """A hashable key that equal arguments share."""
    if isinstance(values, Arguments):
        keywords = tuple((name, _key(atoms)) for name, atoms in values.keywords.items())
        return tuple(map(_key, values.positional)), keywords
    return tuple(map(_atom_key, values))


def _atom_key(atom: Atom) -> Hashable:
    if isinstance(atom, ClassRef):
        return "class", id(atom.model), _key(atom.arguments)
    if not isinstance(atom, Shell):
        return atom
    entries = tuple((entry.key, _key(entry.atoms)) for entry in atom.entries if atom.is_container)
    return atom.kind, id(atom.model), _key(atom.arguments), entries


def _own_state(found: Built) -> bool | None:
    state = found.state()
    return _stays_behind(found.run, (found.shell,), 0) if state else state


def _stays_behind(run: Interpreter, atoms: Atoms, depth: int) -> bool:
    """True if some of an object's state belongs to a class that does not move it to the input's device."""
    shell = atoms[0] if len(atoms) == 1 else None
    if depth > _MAX_DEPTH or not isinstance(shell, Shell) or shell.model is None or shell.kind != "instance":
        return True
    if is_device_lazy(shell.model):
        return False
    stateful = [part.atoms for part in parts(run, shell) if state_of(run, part)]
    return not stateful or any(_stays_behind(run, part, depth + 1) for part in stateful)


def _list(values: Iterable[Atoms]) -> Atoms:
    found = Shell("list", None, ())
    found.fill(tuple(values))
    return (found,)


def _dict(values: Mapping[object, Atoms]) -> Atoms:
    found = Shell("dict", None, ())
    for key, atoms in values.items():
        found.put(atoms, (), key)
    return (found,)


def _layers(item: Item, layer: Shell) -> Atoms:
    """The layer in the place of an argument, or of each element of it."""
    match item.kind:
        case ItemKind.SEQUENCE:
            return _list((layer,) for _ in item.elements)
        case ItemKind.MAPPING:
            return _dict(dict.fromkeys(item.fields, (layer,)))
    return (layer,)


def layers_of(project: Project) -> Layers:
    """The project's `Layers`, which memoise their answers."""
    return project.once(("layers",), lambda: Layers(project))
