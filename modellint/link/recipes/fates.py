"""Effects of a script on the layers of a recipe: optimizers train them, code freezes them, checkpointers save them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from modellint.flow.domain import (
    NONE,
    UNKNOWN,
    Arguments,
    Constant,
    Plain,
    Site,
    SymbolicInput,
)
from modellint.flow.heap import Shell, opened
from modellint.graph.value import Op, Value
from modellint.link.recipes.atoms import (
    Checkpointer,
    Data,
    ModulesEntry,
    Optimizer,
    Product,
    RecipeObject,
    Weights,
)
from modellint.link.recipes.items import Item, ItemKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item
    from modellint.link.recipes.notes import Notes


class _Items(Protocol):
    """Maps values to objects of the recipe."""

    def items(self, atoms: Atoms) -> Iterator[tuple[Item, bool]]: ...


class _Around(Protocol):
    """The surroundings of a script, as far as effects on layers depend on them."""

    run: Interpreter
    project: Project
    notes: Notes

    @property
    def objects(self) -> _Items: ...

    def hand(self, arguments: Arguments, value: Value) -> None: ...


class Fates:
    """Records which layers of one recipe a script trains, freezes and saves."""

    def __init__(self, around: _Around) -> None:
        self._around = around

    def freeze(self, owner: Atom, freezes: bool, value: Value, frame: Frame, *, is_sure: bool = True) -> None:
        for item, direct in self._around.objects.items((owner,)):
            self._around.notes.freeze(item, freezes, Site(value, frame.function), direct=direct and is_sure)

    def save(self, atoms: Atoms, value: Value, frame: Frame) -> None:
        """Record that a value is added to the recoverables of a checkpointer."""
        found = list(self._around.objects.items(tuple(opened(atoms))))
        sure = len(found) == 1
        for item, _ in found:
            self._around.notes.saves(item, Site(value, frame.function), sure=sure)
        for atom in opened(atoms):
            if isinstance(atom, Optimizer):
                self._around.notes.added.add(atom)
        is_own = atoms and all(_is_no_layer(atom) for atom in opened(atoms))
        if not found and not is_own:
            self._around.notes.saves_more = True

    def checkpoint(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        added = arguments.argument(*((1, "obj") if name == "add_recoverable" else (0, "recoverables")))
        if added is None:
            self._around.notes.saves_more = True
        elif name == "add_recoverable":
            self.save(added, _argument(value, 1, "obj"), frame)
        else:
            self.save_all(added, _argument(value, 0, "recoverables"), frame)
        return NONE

    def save_all(self, mapping: Atoms, value: Value, frame: Frame) -> None:
        """Record that the entries of a mapping become recoverables."""
        for atom in mapping:
            if isinstance(atom, Shell) and atom.kind == "dict" and atom.is_exact:
                for entry in atom.entries:
                    self.save(entry.atoms, value, frame)
            elif isinstance(atom, RecipeObject) and atom.item.kind is ItemKind.MAPPING:
                self._around.notes.recoverables.append(atom.item)
            else:
                self._around.notes.saves_more = True

    def switch(self, owner: Atom, arguments: Arguments, frame: Frame, value: Value) -> None:
        """Record `owner.requires_grad_(…)`."""
        flag = arguments.argument(0, "requires_grad")
        freezes = flag is not None and flag != (Constant(True),)
        self.freeze(owner, freezes, value, frame)

    def checkpointer(self, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        given = arguments.argument(1, "recoverables")
        if given is not None:
            self.save_all(given, _argument(value, 1, "recoverables"), frame)
        return (Checkpointer(Site(value, frame.function), arguments.is_complete),)

    def call_named(self, item: Item, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of calling a class or function named in the recipe: an optimizer, or another product."""
        if self._may_optimize(item) and (
            item.target.startswith("torch.optim.") or any(map(self._holds_weights, arguments.all()))
        ):
            return self.optimizer(item, arguments, frame, value)
        self._around.hand(arguments, value)
        return (Product(item),)

    def _may_optimize(self, item: Item) -> bool:
        """True if a class passed on by name may be an optimizer: no layer, no scheduler."""
        if ".lr_scheduler." in item.target:
            return False
        model = self._around.project.classes.resolve(item.target, item.recipe.file)
        return model is None or not model.is_module

    @staticmethod
    def _holds_weights(atoms: Atoms) -> bool:
        return any(isinstance(atom, Weights) for atom in opened(atoms))

    def optimizer(self, item: Item | None, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        site = Site(value, frame.function)
        params = arguments.argument(0, "params")
        owners = list(self._weight_owners(params or UNKNOWN, are_all=self._around.run.loops > 0))
        is_known = all(owner is not None for owner, _ in owners)
        self._around.notes.trains(site, [(i, d) for i, d in owners if i is not None], is_known=is_known)
        return (Optimizer(site, item),)

    def _weight_owners(self, atoms: Atoms, *, are_all: bool) -> Iterator[tuple[Item | None, bool]]:
        """The objects whose parameters a value contains, each with its certainty; None for unknown ones."""
        sure = are_all or len(atoms) == 1 or self._are_alike(atoms)
        for atom in atoms:
            if isinstance(atom, Weights):
                found = list(self._around.objects.items((atom.owner,)))
                yield from ((item, direct and sure) for item, direct in found)
                if not found and not isinstance(atom.owner, ModulesEntry):
                    yield None, False
            elif isinstance(atom, Shell) and atom.is_container:
                for entry in atom.entries:
                    if atom.kind != "dict" or entry.key in ("params", None):
                        for item, direct in self._weight_owners(entry.atoms, are_all=are_all or not atom.is_exact):
                            yield item, direct and sure and not entry.path
            elif not isinstance(atom, Constant) and type(atom) is not Plain:
                yield None, False

    def _are_alike(self, atoms: Atoms) -> bool:
        """True if all atoms are containers with the parameters of the same objects."""
        held = [
            {item for item, _ in self._weight_owners((atom,), are_all=True)}
            for atom in atoms
            if isinstance(atom, Shell)
        ]
        return len(held) == len(atoms) and all(one == held[0] for one in held)


def _is_no_layer(atom: Atom) -> bool:
    """True if a saved value is an optimizer, scheduler, loader or constant, or an attribute of the Brain not stored."""
    return isinstance(atom, Optimizer | Product | Data | Constant | SymbolicInput)


def _argument(call: Value, position: int, name: str) -> Value:
    """The argument expression in a call, or the call itself if it is not written there."""
    return call.argument(position, name) or call if call.op is Op.CALL else call
