"""Uses by a Brain when a training runs under one recipe: entries of `modules`, objects of the recipe, moves.

The methods that the training loop and the script call are interpreted in the order of a training, on the branches
that this recipe leaves open.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.flow.domain import Constant
from modellint.flow.heap import Shell
from modellint.graph.immutable import dataclass
from modellint.link.recipes.atoms import RecipeObject, Stage
from modellint.link.recipes.brains import BATCH, hook_arguments
from modellint.link.recipes.environment import Surroundings
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import Evaluation, Item, ItemKind
from modellint.link.recipes.notes import Notes, Seen, is_certain, text_and_place
from modellint.link.recipes.scripts import script_functions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Atoms, Site
    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.recipes.scripts import BrainUse, Script
    from modellint.source import Place

_TRAIN, _VALID, _TEST = "TRAIN", "VALID", "TEST"
#: The methods that the framework's loops call, by the loop and the stage in which they are called.
_FIT = {
    "make_dataloader": (_TRAIN, _VALID),
    "init_optimizers": (_TRAIN,),
    "on_fit_start": (_TRAIN,),
    "on_stage_start": (_TRAIN, _VALID),
    "on_fit_batch_start": (_TRAIN,),
    "fit_batch": (_TRAIN,),
    "optimizers_step": (_TRAIN,),
    "on_fit_batch_end": (_TRAIN,),
    "evaluate_batch": (_VALID,),
    "on_stage_end": (_TRAIN, _VALID),
}
_EVALUATE = {
    "make_dataloader": (_TEST,),
    "on_evaluate_start": (_TEST,),
    "on_stage_start": (_TEST,),
    "evaluate_batch": (_TEST,),
    "on_stage_end": (_TEST,),
}
#: The method by which the framework's own `fit` runs an epoch; a `fit` of the Brain may call it, too.
_EPOCH = "_fit_train"
#: The methods in which gradients are computed.
_LEARNING = frozenset(("fit", "fit_batch", "compute_forward", "compute_objectives", "on_fit_batch_start"))


@dataclass(frozen=True, eq=False)
class ModuleUse:
    """A read of `self.modules.name` in the script.

    `stages` are those of the training in which it is used; `learns`: gradients reach it there in a step of
    the optimizers; `computes`: it is used for more than its parameters or its mode.
    """

    name: str
    place: Place
    text: str
    certain: bool
    function: str
    stages: frozenset[str] = frozenset()
    learns: bool = False
    computes: bool = True


@dataclass(frozen=True, eq=False)
class ItemUse:
    """A call in the script of an object of the recipe (`direct`), or of a `method` of it.

    `entry` is its name in `self.modules` if it is called through that, else None.
    """

    item: Item
    place: Place
    text: str
    certain: bool
    direct: bool
    function: str
    stages: frozenset[str] = frozenset()
    learns: bool = False
    entry: str | None = None
    call: Value | None = None
    method: str = ""


@dataclass(frozen=True, eq=False)
class KeyRead:
    """A read by the Brain of a key that the recipe lacks."""

    name: str
    value: Value
    function: Function
    certain: bool


@dataclass(frozen=True, eq=False)
class Modules:
    """The argument `modules=` of a Brain. Not `closed`: it may have more entries than `entries`."""

    entries: dict[str, Item | None]
    closed: bool
    source: Item | None
    place: Place

    @property
    def home(self) -> Place:
        """The place of the mapping in the recipe, or else of the argument."""
        return self.place if self.source is None else self.source.place


@dataclass(eq=False)
class Reach:
    """The uses of one Brain under one recipe, and the other notes of its run."""

    brain: BrainUse
    modules: Modules | None
    surroundings: Surroundings = field(repr=False)
    module_uses: list[ModuleUse] = field(default_factory=list)
    item_uses: list[ItemUse] = field(default_factory=list)
    lacking: list[KeyRead] = field(default_factory=list)
    moved: list[Item] = field(default_factory=list)

    @property
    def notes(self) -> Notes:
        return self.surroundings.notes

    def argument(self, name: str) -> Atoms | None:
        """The value that the script passes to the Brain as an argument."""
        return self.surroundings.own.argument(name)

    @property
    def absent_modules(self) -> list[ModuleUse]:
        """The uses of entries that `modules` lacks; none if it may have more entries than are known."""
        modules = self.modules
        if modules is None or not modules.closed:
            return []
        return [use for use in self.module_uses if use.name not in modules.entries]

    def passes(self, method: str, position: int, name: str) -> Iterator[ItemUse]:
        """The objects that the script may pass to a method of the Brain as this argument: `brain.fit(counter, …)`."""
        for called, arguments, site in self.notes.asked:
            given = arguments.argument(position, name) if called == method else None
            for item, direct in self.surroundings.objects.items(given or ()):
                if site.function is not None:
                    yield _item_use(item, site, site.value.callee, certain=direct)

    def unsaved_optimizers(self) -> Iterator[ItemUse]:
        """The optimizers that the Brain makes of classes in the recipe and keeps, and adds to no checkpointer."""
        for optimizer, certain in self.notes.kept:
            item, site = optimizer.item, optimizer.site
            if item is not None and site.function is not None and optimizer not in self.notes.added:
                yield _item_use(item, site, site.value, certain=certain)


def reach(script: Script, brain: BrainUse, evaluation: Evaluation, project: Project) -> Reach:
    """The uses of `brain` under the recipe, computed once."""
    key = ("reach", script.module.path, brain.call.line, brain.call.offset, evaluation.recipe.path)

    def run() -> Reach:
        # The current evaluation of the recipe, which becomes a dependency.
        return _Course(script, brain, evaluate(evaluation.recipe, project), project).run()

    return project.once(key, run)


def _item_use(item: Item, site: Site, spot: Value, *, certain: bool) -> ItemUse:
    """The use of an object in a call, placed at a `spot` in it."""
    function = site.function
    assert function is not None
    text, _ = text_and_place(site, of_callee=True)
    return ItemUse(item, function.module.place(spot), text, certain, False, function.qualname, call=site.value)


class _Course:
    """The course of a training, with a second pass if attributes are read before their stores."""

    def __init__(self, script: Script, brain: BrainUse, evaluation: Evaluation, project: Project) -> None:
        self.script = script
        self.brain = brain
        self.around = Surroundings(script, brain, evaluation, project)

    def run(self) -> Reach:
        around = self.around
        self._script()
        before, done, modules = around.notes.copy(), set(around.run.calls.done), self._know_modules()
        self._train()
        after = self._know_modules()
        if not around.own.is_settled or not _are_same(modules, after):
            around.again()
            around.notes.restore(before)
            around.run.calls.done = done
            self._train()
        found = Reach(self.brain, after, around)
        found.module_uses = list(self._module_uses())
        found.item_uses = list(self._item_uses())
        found.lacking = [
            KeyRead(name, site.value, site.function, is_certain((seen,)))
            for (name, site), seen in around.notes.lacking.items()
            if site.function is not None
        ]
        found.moved = list(around.notes.moved.values())
        around.close()
        return found

    # -- functions that run ----------------------------------------------------------------------------------------

    def _script(self) -> None:
        """Run the module's body, and all its functions if the Brain is made in one that it does not call."""
        self.around.start(self.script.module.body)
        if self.around.own.given is None:
            self._rest(script_functions(self.script.module))

    def _train(self) -> None:
        for function, stage in self._roots():
            learns = stage == _TRAIN and function.name in _LEARNING
            given = self.around.own.given if function.name == "__init__" else None
            arguments = given or hook_arguments(function, (Constant(Stage[stage]),))
            self.around.train(function, stage, learns=learns, arguments=arguments)
        self._rest(script_functions(self.script.module))
        self._rest(method for cls in self.brain.classes for method in cls.methods.values())

    def _rest(self, functions: Iterable[Function]) -> None:
        """Run the functions that no known code calls."""
        for function in functions:
            if function not in self.around.run.calls.done:
                self.around.start(function)

    def _roots(self) -> Iterator[tuple[Function, str]]:
        brain = self.brain
        pairs: dict[tuple[str, str], None] = {("__init__", _TRAIN): None}
        everything = brain.escapes or not brain.called
        loops = [loop for name, loop in (("fit", _FIT), ("evaluate", _EVALUATE)) if everything or name in brain.called]
        for name in sorted(brain.called):
            method = brain.method(name)
            if method is not None:
                called_in: tuple[str, ...] = (_TRAIN, _VALID) if name == "fit" else (_TEST,)
                pairs.update(dict.fromkeys((name, stage) for stage in called_in))
                is_replaced = name in ("fit", "evaluate") and brain.replaces(name)
                if is_replaced and not (name == "fit" and self._runs_epochs()):
                    loops = [loop for loop in loops if loop is not (_FIT if name == "fit" else _EVALUATE)]
        for loop in loops:
            for name, stages in loop.items():
                for stage in stages:
                    method = brain.method(name)
                    if method is not None:
                        pairs[name, stage] = None
                    if name in BATCH and not brain.replaces(name):
                        pairs.update(dict.fromkeys((called, stage) for called in BATCH[name]))
        for name, stage in pairs:
            method = brain.method(name)
            if method is not None:
                yield method, stage

    def _runs_epochs(self) -> bool:
        """True if the Brain has the framework run epochs: a method of it mentions `_fit_train`."""
        methods = (method for cls in self.brain.classes for method in cls.methods.values())
        return self.brain.method(_EPOCH) is None and any(_EPOCH in method.words for method in methods)

    # -- modules of the Brain --------------------------------------------------------------------------------------

    def _know_modules(self) -> Modules | None:
        """Give the run the entries of `modules`, as far as they are known by now."""
        found = self._modules()
        if found is not None:
            self.around.objects.entries = found.entries
            self.around.objects.table.names = found.entries if found.closed else None
        return found

    def _modules(self) -> Modules | None:
        around, written = self.around, self.brain.argument("modules")
        given = around.own.argument("modules")
        if given is None or written is None:
            return None
        atom = given[0] if len(given) == 1 else None
        source = atom.item if isinstance(atom, RecipeObject) and atom.item.kind is ItemKind.MAPPING else None
        entries: dict[str, Item | None] = {}
        closed = source is not None or (isinstance(atom, Shell) and atom.kind == "dict" and atom.is_exact)
        if source is not None:
            entries.update((str(name), child) for name, child in source.fields.items())
        elif isinstance(atom, Shell) and atom.kind == "dict":
            for entry in atom.entries:
                entries[str(entry.key)] = self._object(entry.atoms)
        for owner in (source, around.objects.table):
            for name, atoms in around.objects.added.get(owner, {}).items() if owner is not None else ():
                if name is None:
                    closed = False
                else:
                    entries.setdefault(name, self._object(atoms))
        return Modules(entries, closed, source, self.script.module.place(written))

    def _object(self, atoms: Atoms) -> Item | None:
        return self.around.objects.item(atoms[0]) if len(atoms) == 1 else None

    # -- uses ------------------------------------------------------------------------------------------------------

    def _module_uses(self) -> Iterator[ModuleUse]:
        by_name: dict[str, list[Seen]] = {}
        for entry, seen in self.around.notes.entries.items():
            by_name.setdefault(entry.name, []).append(seen)
        certain = {name: is_certain(seen) for name, seen in by_name.items()}
        for entry, seen in self.around.notes.entries.items():
            function = entry.site.function if entry.site is not None else None
            if entry.site is not None and function is not None:
                yield ModuleUse(
                    entry.name,
                    entry.site.place,
                    function.module.text_of(entry.site.value),
                    certain[entry.name],
                    function.qualname,
                    frozenset(seen.stages),
                    seen.learns,
                    seen.computes,
                )

    def _item_uses(self) -> Iterator[ItemUse]:
        by_item: dict[tuple[Item, str], list[Seen]] = {}
        for use, seen in self.around.notes.uses.items():
            by_item.setdefault((use.item, use.method), []).append(seen)
        certain = {key: is_certain(seen) for key, seen in by_item.items()}
        for use, seen in self.around.notes.uses.items():
            function, call = use.site.function, use.site.value
            if function is not None:
                yield ItemUse(
                    use.item,
                    function.module.place(call.callee),
                    function.module.text_of(call.callee),
                    certain[use.item, use.method],
                    use.method in ("", "forward"),
                    function.qualname,
                    frozenset(seen.stages),
                    seen.learns,
                    use.entry,
                    call,
                    use.method,
                )


def _are_same(one: Modules | None, other: Modules | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.entries == other.entries and one.closed == other.closed
