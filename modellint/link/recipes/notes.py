"""Events of an interpreted script: on which paths, and in which stages of the training, something happens."""

from __future__ import annotations

from copy import copy
from dataclasses import field
from typing import TYPE_CHECKING, Any

from modellint.flow.object_run import covers
from modellint.flow.theory import Sometimes
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Arguments, Site
    from modellint.flow.heap import Path
    from modellint.flow.interp import Interpreter
    from modellint.link.recipes.atoms import ModulesEntry, Optimizer
    from modellint.link.recipes.items import Item
    from modellint.source import Place


@dataclass(eq=False, slots=True)
class Seen:
    """The paths and stages of an event; `learns`: gradients reach it, `computes`: it is used in a computation."""

    paths: list[Path] = field(default_factory=list)
    stages: set[str] = field(default_factory=set)
    learns: bool = False
    computes: bool = False

    def once_more(self, path: Path, stage: str, *, learns: bool = False, computes: bool = False) -> None:
        self.paths.append(path)
        self.stages.add(stage)
        self.learns = self.learns or learns
        self.computes = self.computes or computes


@dataclass(frozen=True, slots=True)
class ObjectCall:
    """A call of an object of the recipe or of its method; `entry` is the name in `modules` if called through it."""

    item: Item
    entry: str | None
    method: str
    site: Site


@dataclass(eq=False, slots=True)
class Trains:
    """An optimizer, or other code, gets the parameters of `items`, each certainly or not."""

    site: Site
    items: list[tuple[Item, bool]]
    path: Path
    is_optimizer: bool


@dataclass(eq=False, slots=True)
class Change:
    """A script's operation on an object of the recipe: it is saved, frozen or thawed."""

    item: Item
    site: Site
    path: Path
    #: It certainly is this object, and not one of several.
    direct: bool
    #: Its parameters are frozen, rather than thawed.
    freezes: bool = True


class Notes:
    """The events of one run of a script that concern objects of its recipe."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: The stage of the training; empty outside of it.
        self.stage = ""
        self.entries: dict[ModulesEntry, Seen] = {}
        #: The assumptions of the run when an entry was read first.
        self._under: dict[ModulesEntry, Path] = {}
        self.uses: dict[ObjectCall, Seen] = {}
        self.lacking: dict[tuple[str, Site], Seen] = {}
        self.moved: dict[int, Item] = {}
        self.trained: list[Trains] = []
        #: True if the parameters of all optimizers are known.
        self.is_known = True
        self.frozen: list[Change] = []
        self.saved: list[Change] = []
        self.recoverables: list[Item] = []
        #: True if a checkpointer saves unknown objects, too.
        self.saves_more = False
        #: The optimizers in attributes of the Brain, with paths; and those added to a checkpointer.
        self.optimizers: dict[Optimizer, list[Path]] = {}
        self.added: set[Optimizer] = set()
        #: The methods that the script calls on the Brain.
        self.asked: list[tuple[str, Arguments, Site]] = []

    def copy(self) -> dict[str, Any]:
        """A copy of the recorded events."""
        return {name: copy(value) for name, value in vars(self).items() if name != "_run"}

    def restore(self, before: dict[str, Any]) -> None:
        """Forget the events since a copy was made."""
        vars(self).update({name: copy(value) for name, value in before.items()})

    @property
    def path(self) -> Path:
        """The current path condition, without conditions that certainly come out both ways."""
        return _certain(self._run.path)

    def entry(self, entry: ModulesEntry, *, computes: bool, learns: bool) -> None:
        if entry.site is not None and self.stage:
            under = self._under.setdefault(entry, self._run.assumed)
            seen = self.entries.setdefault(entry, Seen())
            seen.once_more((*self.path, *_certain(under)), self.stage, learns=learns, computes=computes)

    def use(self, item: Item, entry: str | None, method: str, site: Site, *, learns: bool) -> None:
        if self.stage:
            self.uses.setdefault(ObjectCall(item, entry, method, site), Seen()).once_more(
                self.path, self.stage, learns=learns
            )

    def lacks(self, name: str, site: Site) -> None:
        if self.stage:
            self.lacking.setdefault((name, site), Seen()).once_more(self.path, self.stage)

    def trains(self, site: Site, items: list[tuple[Item, bool]], *, is_known: bool) -> None:
        self.is_known = self.is_known and is_known
        self.trained.append(Trains(site, items, self.path, is_optimizer=True))

    def trains_perhaps(self, site: Site, items: Iterable[Item]) -> None:
        self.trained.append(Trains(site, [(item, False) for item in items], self.path, is_optimizer=False))

    def freeze(self, item: Item, freezes: bool, site: Site, *, direct: bool) -> None:
        self.frozen.append(Change(item, site, self.path, direct, freezes))

    def saves(self, item: Item, site: Site, *, sure: bool) -> None:
        self.saved.append(Change(item, site, self.path, sure))

    def keeps(self, optimizer: Optimizer) -> None:
        self.optimizers.setdefault(optimizer, []).append(self.path)

    @property
    def kept(self) -> Iterator[tuple[Optimizer, bool]]:
        """The optimizers in attributes of the Brain, and whether one of the same class is stored there on all paths."""
        by_class: dict[Item | None, list[Path]] = {}
        for optimizer, paths in self.optimizers.items():
            by_class.setdefault(optimizer.item, []).extend(paths)
        certain = {item for item, paths in by_class.items() if covers(paths)}
        for optimizer in self.optimizers:
            yield optimizer, optimizer.item in certain

    def asks(self, method: str, arguments: Arguments, site: Site) -> None:
        self.asked.append((method, arguments, site))


def _certain(path: Path) -> Path:
    return tuple(step for step in path if not isinstance(step[0], Sometimes))


def text_and_place(site: Site, *, of_callee: bool = False) -> tuple[str, Place]:
    """The expression of a site, the callee for a call with `of_callee`, and its place."""
    assert site.function is not None
    module, value = site.function.module, site.value
    return module.text_of(value.callee if of_callee and value.op is Op.CALL else value), module.place(value)


def is_certain(seen: Iterable[Seen]) -> bool:
    """True if one of several events happens on every path."""
    return covers(path for one in seen for path in one.paths)
