"""Keys, objects and entries of `modules` of a recipe as receivers in a script's run: attributes, methods, stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from modellint import operators
from modellint.flow.domain import (
    NONE,
    PLAIN,
    UNKNOWN,
    Arguments,
    Bound,
    Constant,
    Site,
    Unknown,
    join,
    text,
)
from modellint.flow.heap import Shell, opened
from modellint.flow.theory import Foreign
from modellint.graph.value import Op, Value
from modellint.link.recipes.atoms import (
    Keys,
    ModulesEntry,
    ModulesTable,
    ObjectPart,
    RecipeObject,
    Turn,
    Weights,
    atoms_of,
)
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.moved import layers_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.link.project import Project
    from modellint.link.recipes.fates import Fates
    from modellint.link.recipes.gradients import Gradients
    from modellint.link.recipes.items import Evaluation, Item
    from modellint.link.recipes.notes import Notes

#: Methods of a module that return the module itself, that move it, and that return its parameters.
_FLUENT = operators.methods("Module", "itself")
_MOVES = operators.methods("Module", "moves")
PARAMETERS = operators.methods("Module", "parameters")
#: Methods of a module that compute nothing with its layers.
_BOOKKEEPING = operators.methods("Module") | operators.methods("ModuleDict")
#: Attributes of `self.modules` itself, not its entries: of `torch.nn.ModuleDict`, its bases and wrappers.
_MODULE_DICT = _BOOKKEEPING | operators.attributes("Module") | {"forward", "no_sync"}
#: Methods that may add an entry under an unknown name.
_ADDS_ENTRIES = operators.methods("Module", "registers:module@1") | {"update", "setdefault", "__setattr__"}
#: Methods that export the weights of a module without a checkpointer.
_EXPORTS = frozenset(("state_dict", "save_pretrained", "save"))
_VIEWS = frozenset(("keys", "values", "items"))
#: Attributes of dictionaries and namespaces that are no keys.
_OF_MAPPINGS = frozenset(dir(dict))
_COUNTER = "speechbrain.utils.epoch_loop.EpochCounter"


class _Around(Protocol):
    """The surroundings of a script, as far as the objects of its recipe depend on them."""

    run: Interpreter
    project: Project
    notes: Notes
    fates: Fates
    gradients: Gradients

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None: ...

    def hand(self, arguments: Arguments, value: Value) -> None: ...


class Objects:
    """The objects of one recipe, as values of a run."""

    def __init__(self, around: _Around, recipe: Evaluation) -> None:
        self._around = around
        self._recipe = recipe
        self.keys = Keys(set(recipe.keys))
        self.table = ModulesTable()
        #: The entries of `modules`; and values that code adds to it or to mappings of the recipe, `None` for any name.
        self.entries: dict[str, Item | None] = {}
        self.added: dict[object, dict[str | None, Atoms]] = {}
        #: The values that code stores under keys.
        self._changed: dict[str, Atoms] = {}

    def change(self, name: str, atoms: Atoms) -> None:
        """Store a value under a key: `hparams["name"] = …`."""
        self.keys.names.add(name)
        self._changed[name] = atoms

    def key(self, name: str, frame: Frame | None, value: Value | None) -> Atoms:
        if name == "__dict__":
            return (self.keys,)
        if name in _OF_MAPPINGS and value is not None and value.op is Op.ATTR:
            return (Bound(self.keys, name),)
        if name in self._changed:
            return self._changed[name]
        item = self._recipe.keys.get(name)
        if item is None:
            if frame is not None and frame.function is not None and value is not None:
                self._around.notes.lacks(name, Site(value, frame.function))
            return UNKNOWN
        return atoms_of(item, self._around.project) or UNKNOWN

    def entry(self, name: str, frame: Frame | None, value: Value | None) -> Atoms:
        if name == "module":
            return (self.table,)
        if name in _MODULE_DICT:
            return (Bound(self.table, name),)
        is_written = frame is not None and frame.function is not None and value is not None
        found = ModulesEntry(name, Site(value, frame.function) if is_written else None)  # type: ignore[arg-type, union-attr]
        self._around.notes.entry(found, computes=False, learns=False)
        return (found,)

    def part_of(self, atom: RecipeObject | ModulesEntry, name: str) -> Atoms:
        """An attribute of an object of the recipe: the constant that its constructor stores, or an unknown part."""
        item = self.item(atom)
        if isinstance(atom, ModulesEntry):
            self.compute(atom)
        elif item is not None and item.kind is ItemKind.NEW:
            if item.target == _COUNTER and name == "current":
                return (_epochs(item),)
            found = layers_of(self._around.project).constant(item, name)
            if found is not None:
                return (found,)
        return (ObjectPart(atom, name),)

    def item(self, atom: Atom) -> Item | None:
        """The object of the recipe that a value is, entries of `modules` included; else None."""
        if isinstance(atom, ModulesEntry):
            return self.entries.get(atom.name)
        return atom.item if isinstance(atom, RecipeObject) else None

    def items(self, atoms: Atoms) -> Iterator[tuple[Item, bool]]:
        """The objects of the recipe that a value is or contains, and whether it certainly is or contains each."""
        direct = len(atoms) == 1
        for atom in atoms:
            if isinstance(atom, Weights):
                yield from ((item, sure and direct) for item, sure in self.items((atom.owner,)))
            elif isinstance(atom, ModulesTable):
                yield from ((item, direct) for item in self.entries.values() if item is not None)
            elif isinstance(atom, Shell):
                for entry in self._contents(atom):
                    yield from self.items((entry,))
            elif (item := self.item(atom)) is not None and item.kind is not ItemKind.CONSTANT:
                yield item, direct

    @staticmethod
    def _contents(shell: Shell) -> list[Atom]:
        """The objects and weights in a container, or in a layer that the script makes."""
        held = [entry.atoms for entry in shell.entries]
        if shell.kind == "instance":
            held += [*shell.arguments.all(), *(store.atoms for store in shell.stores)]
        return [atom for atoms in held for atom in opened(atoms) if isinstance(atom, Foreign | Weights)]

    def at(self, atom: Keys | ModulesTable | RecipeObject, index: Atom, frame: Frame, value: Value) -> Atoms:
        """The element of a sequence, or the value of a mapping, at one index."""
        if not isinstance(index, Constant):
            return UNKNOWN
        if isinstance(atom, RecipeObject):
            return self._field(atom.item, index.value)
        name = str(index.value)
        return self.key(name, frame, value) if isinstance(atom, Keys) else self.entry(name, frame, value)

    def _field(self, item: Item, key: object) -> Atoms:
        """The value in a mapping or list of the recipe, or the value that code added there."""
        added = self.added.get(item, {})
        if key in added:
            return added[key]
        found = None
        if item.kind is ItemKind.MAPPING:
            found = next((child for name, child in item.fields.items() if name == key), None)
        elif item.kind is ItemKind.SEQUENCE and type(key) is int and 0 <= key < len(item.elements):
            found = item.elements[key]
        return UNKNOWN if found is None else atoms_of(found, self._around.project) or UNKNOWN

    def fields(self, item: Item) -> Atoms:
        held = (*item.fields.values(), *item.elements)
        return join(atoms_of(child, self._around.project) or UNKNOWN for child in held)

    def add(self, owner: object, name: str | None, atoms: Atoms) -> None:
        """Add a value to `modules` or to a mapping of the recipe; an entry that is unwrapped stays the same."""
        parts = [atom.owner if isinstance(atom, ObjectPart) else atom for atom in atoms]
        if name is None or not any(isinstance(part, ModulesEntry) and part.name == name for part in parts):
            self.added.setdefault(owner, {})[name] = atoms

    def keys_method(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        if name in ("keys", "copy"):
            return (self.keys,)
        if name not in _OF_MAPPINGS:
            found = self.key(name, frame, value.callee)
            return join(self._around.run.calls.apply(atom, arguments, frame, value) for atom in found)
        key = text(arguments.argument(0, "key"))
        if name != "get" or key is None:
            return UNKNOWN
        if key in self.keys.names:
            return self.key(key, frame, value)
        return arguments.argument(1, "default") or NONE

    def table_method(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        if name not in _MODULE_DICT:
            (entry,) = self.entry(name, frame, value.callee)
            return self._around.run.calls.apply(entry, arguments, frame, value)
        if name in PARAMETERS:
            return self.weights(self.table, name, frame, value)
        if name in _ADDS_ENTRIES:
            self.add(self.table, None, UNKNOWN)
        if name == "keys":
            return (self.table,)
        if name in ("values", "children", "items"):
            return self._each(tuple(ModulesEntry(entry) for entry in self.entries), name, frame, value)
        if name == "requires_grad_":
            self._around.fates.switch(self.table, arguments, frame, value)
        return (self.table,) if name in _FLUENT else UNKNOWN

    def _each(self, atoms: Atoms, name: str, frame: Frame, value: Value) -> Atoms:
        """The elements of a mapping in a loop, in rows with their names for `items`."""
        every = self._around.run.shell("list", value, frame, name)
        every.is_exact = False
        if name == "items":
            row = self._around.run.shell("tuple", value, frame, "row")
            row.fill((PLAIN, atoms))
            every.put((row,), ())
        else:
            every.put(atoms, ())
        return (every,)

    def weights(self, owner: Atom, name: str, frame: Frame, value: Value) -> Atoms:
        """The parameters of a module, as a list."""
        return self._each((Weights(owner),), "items" if name.startswith("named_") else "values", frame, value)

    def method(
        self,
        atom: ModulesEntry | RecipeObject | ObjectPart,
        name: str,
        arguments: Arguments,
        frame: Frame,
        value: Value,
    ) -> Atoms:
        owner = atom.owner if isinstance(atom, ObjectPart) else atom
        item = self.item(owner)
        if name in PARAMETERS:
            return self.weights(owner, name, frame, value)
        if isinstance(atom, RecipeObject) and atom.item.kind is ItemKind.MAPPING:
            return self._mapping_method(atom, name, arguments, frame, value)
        self._handle(owner, item, name, arguments, frame, value)
        if name in _FLUENT:
            return (atom,)
        if name in _BOOKKEEPING:
            return UNKNOWN
        self.use(owner, atom.name if isinstance(atom, ObjectPart) else name, frame, value)
        self._around.hand(arguments, value)
        return UNKNOWN

    def _handle(
        self, owner: Atom, item: Item | None, name: str, arguments: Arguments, frame: Frame, value: Value
    ) -> None:
        """Record the effect of a method on a whole module: freezes, moves or exports it."""
        if name == "requires_grad_":
            self._around.fates.switch(owner, arguments, frame, value)
        elif "freeze" in name:
            self._around.fates.freeze(owner, "unfreeze" not in name, value, frame)
        if item is not None and name in _MOVES:
            self._around.notes.moved[id(item)] = item
        if item is not None and name in _EXPORTS:
            self._around.notes.saves(item, Site(value, frame.function), sure=False)

    def _mapping_method(self, atom: RecipeObject, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        if name == "keys":
            return (atom,)
        if name == "get":
            key = text(arguments.argument(0, "key"))
            return self._field(atom.item, key) if atom.has(key) else arguments.argument(1, "default") or NONE
        if name in _VIEWS:
            return self._each(self.fields(atom.item), name, frame, value)
        if name in _ADDS_ENTRIES:
            self.add(atom.item, None, UNKNOWN)
        return UNKNOWN

    def weights_method(self, atom: Weights, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        if name == "requires_grad_":
            self._around.fates.switch(atom.owner, arguments, frame, value)
        return (atom,) if name.endswith("_") and not name.endswith("__") else PLAIN

    @staticmethod
    def like(atoms: Atoms) -> Atoms:
        """A copy: the same keys, or unknown new objects."""
        return tuple(atom if isinstance(atom, Keys) else Unknown() for atom in atoms)

    def has(self, atom: Atom, name: str | None, rest: tuple[Atoms, ...], frame: Frame, value: Value) -> Atoms:
        found = None
        if name is not None and isinstance(atom, Keys | ModulesTable):
            found = atom.has(name)
        elif name is not None and isinstance(atom, RecipeObject):
            found = atom.has_attribute(name)
        elif isinstance(atom, ModulesEntry) and name is not None and (item := self.item(atom)) is not None:
            found = RecipeObject(item, self._around.project).has_attribute(name)
        return PLAIN if found is None else (Constant(found),)

    def attribute(self, atom: Atom, name: str | None, rest: tuple[Atoms, ...], frame: Frame, value: Value) -> Atoms:
        if name is None:
            return UNKNOWN
        has = self.has(atom, name, rest, frame, value)
        if rest and has == (Constant(False),):
            return rest[0]
        found = self._around.attribute(atom, name, frame, value) or UNKNOWN
        return join([found, rest[0]]) if rest and has != (Constant(True),) else found

    def compute(self, entry: ModulesEntry) -> None:
        self._around.notes.entry(entry, computes=True, learns=self._around.gradients.are_recorded())

    def use(self, owner: Atom, method: str, frame: Frame, value: Value) -> None:
        learns = self._around.gradients.are_recorded() and not self._around.gradients.is_detached(value, frame)
        if isinstance(owner, ModulesEntry):
            self._around.notes.entry(owner, computes=True, learns=learns)
        item = self.item(owner)
        if item is None or value.op is not Op.CALL or item.kind not in (ItemKind.NEW, ItemKind.SEQUENCE):
            return
        entry = owner.name if isinstance(owner, ModulesEntry) else None
        self._around.notes.use(item, entry, method, Site(value, frame.function), learns=learns)


def _epochs(counter: Item) -> Turn:
    """The values of an epoch counter while its epochs run."""
    limit = counter.fields.get("limit") or (counter.elements[0] if counter.elements else None)
    number = limit.number if limit is not None else None
    return Turn(1, int(number) if number is not None and number >= 1 else None)
