"""Keys, and entries of `modules`, that a script uses and its recipe lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.flow.object_run import covers
from modellint.graph.definitions import DefinedClass, DefinedFunction
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, Value
from modellint.link.recipes.environment import Surroundings
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.keys import HPARAMS, KeyWork, kept_under, key_work, may_be_keys
from modellint.link.recipes.notes import is_certain
from modellint.link.recipes.pairing import recipes_of, scripts_of
from modellint.link.recipes.reach import reach
from modellint.link.recipes.registration import reached_from
from modellint.link.recipes.scripts import read_script
from modellint.source import plain_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.items import Evaluation
    from modellint.link.recipes.reach import ModuleUse
    from modellint.link.recipes.scripts import Script
    from modellint.source import Place

#: The stage for code around Brains, outside of all stages of a training.
_AROUND = "AROUND"
#: The beginning of a statement in a file's own code.
_STATEMENT = re.compile(r"(?!else\b|elif\b|except\b|finally\b)[\w@(\[{\"']")
_CAUGHT = re.compile(r"\bexcept\s*(?::|[^\n]*(?:KeyError|AttributeError|LookupError|Exception))")
#: Attributes of dictionaries and namespaces that are no keys.
_METHODS = frozenset(dir(dict))


@dataclass(frozen=True, eq=False)
class KeyUse:
    """A key that a script reads, `self.hparams.name` or `hparams["name"]`, or overrides (`is_override`)."""

    name: str
    place: Place
    text: str
    certain: bool
    function: str
    is_override: bool = False


@dataclass(frozen=True, eq=False)
class Lacking:
    """A recipe without a name that its script uses: the `names` that it or its `modules` have, and where they stand.

    `is_certain`: the script uses the name on every path. `is_defined`: the recipe has a key of that name. `doubt` says
    why the script may belong to other recipes only; empty if it is certain.
    """

    recipe: Recipe
    names: tuple[str, ...]
    place: Place
    is_certain: bool
    is_defined: bool = False
    doubt: str = ""


@dataclass(frozen=True, eq=False)
class Missing:
    """A name that a script uses, and that each of `candidates` may lack."""

    use: KeyUse | ModuleUse
    candidates: tuple[Lacking, ...]

    @property
    def is_certain(self) -> bool:
        """True if the script certainly uses the name with one of the recipes."""
        return any(one.is_certain for one in self.candidates)

    @property
    def lacking(self) -> tuple[Lacking, ...]:
        """The recipes with which the script certainly uses the name, or else all."""
        return tuple(one for one in self.candidates if one.is_certain) or self.candidates

    @property
    def is_override(self) -> bool:
        """True if the script overrides the key, rather than reads it."""
        return isinstance(self.use, KeyUse) and self.use.is_override


def missing_modules(module: ModuleFacts, project: Project) -> tuple[Missing, ...]:
    """The entries of `self.modules` that a script uses and its recipes lack."""
    return project.once(("missing modules", module.path), lambda: _joined(_lacked_modules(module, project)))


def missing_keys(module: ModuleFacts, project: Project) -> tuple[Missing, ...]:
    """The keys that a script reads or overrides, and its recipes lack."""
    return project.once(("missing keys", module.path), lambda: _joined(_lacked_keys(module, project)))


def _joined(found: Iterable[tuple[KeyUse | ModuleUse, Lacking]]) -> tuple[Missing, ...]:
    """The uses with all the recipes that lack their names."""
    uses: dict[Place, KeyUse | ModuleUse] = {}
    lacking: dict[Place, list[Lacking]] = {}
    for use, one in found:
        uses.setdefault(use.place, use)
        lacking.setdefault(use.place, []).append(one)
    return tuple(Missing(use, tuple(lacking[place])) for place, use in uses.items())


def _lacked_modules(module: ModuleFacts, project: Project) -> Iterator[tuple[ModuleUse, Lacking]]:
    for recipe in recipes_of(module.file, project):
        keys, pairing = evaluate(recipe, project).keys, scripts_of(recipe, project)
        for reached in reached_from(recipe, module.file, project) or ():
            for use in reached.absent_modules:
                assert reached.modules is not None
                names, place = tuple(reached.modules.entries), reached.modules.home
                is_certain = use.certain and not pairing.is_doubtful
                yield use, Lacking(recipe, names, place, is_certain, use.name in keys)


def _lacked_keys(module: ModuleFacts, project: Project) -> Iterator[tuple[KeyUse, Lacking]]:
    recipes = recipes_of(module.file, project)
    script = read_script(module, project) if recipes else None
    if script is None:
        return
    for recipe in recipes:
        walk, pairing = _Walk(script, evaluate(recipe, project), project), scripts_of(recipe, project)
        doubt = pairing.reason if pairing.is_doubtful else ""
        first = recipe.root.entries[0].key if recipe.root.entries else recipe.root
        for use in walk.run():
            yield use, Lacking(recipe, walk.keys, recipe.place(first.span), use.certain, doubt=doubt)


def _around(value: Value, function: Function) -> str:
    """The text of the function that a value stands in; in a file's own code, of the statement."""
    module = function.module
    if function is not module.body:
        return function.text
    lines = module.source.plain.lines
    first = last = value.line
    while first > 1 and not _STATEMENT.match(lines[first - 1]):
        first -= 1
    while last < len(lines) and not _STATEMENT.match(lines[last]):
        last += 1
    return plain_text("".join(module.as_written(first, last)))


def _work(script: Script, project: Project) -> KeyWork:
    """The keys that a script, the files of its Brains' classes and its imports from beside it read and store."""
    total = KeyWork()
    modules = {id(cls.module): cls.module for brain in script.brains for cls in brain.classes}
    modules.pop(id(script.module), None)
    for work in (script.work, *(_work_of(module, project) for module in modules.values())):
        total.mentioned |= work.mentioned
        total.stored |= work.stored
        total.may_have_more_keys = total.may_have_more_keys or work.may_have_more_keys
    imported = _work_in(list(_imported_functions(script, project)))
    total.mentioned |= imported.mentioned
    total.stored |= imported.stored
    return total


def _work_of(module: ModuleFacts, project: Project) -> KeyWork:
    """The work of a file on keys; remembered, since bases are shared."""
    return project.once(("asked in", module.path), lambda: _work_in([*module.all_functions(), module.body]))


def _work_in(functions: list[Function]) -> KeyWork:
    """The work of functions on keys, under whatever attributes they store them."""
    names = kept_under(functions, may_be_keys)
    return key_work(functions, lambda value: may_be_keys(value, names))


def _imported_functions(script: Script, project: Project) -> Iterator[Function]:
    """The functions that a script imports from files beside it and calls, and the methods of such classes."""
    module = script.module
    for name in module.imports.keys() & script.work.called:
        found = project.names.resolve(module, name)
        if isinstance(found, DefinedFunction) and found.function.module.file.is_relative_to(module.file.parent):
            yield found.function
        elif isinstance(found, DefinedClass) and found.cls.module.file.is_relative_to(module.file.parent):
            yield from found.cls.methods.values()


class _Walk:
    """The missing keys that a script reads of one recipe: around its Brains, and in them."""

    def __init__(self, script: Script, evaluation: Evaluation, project: Project) -> None:
        self.script = script
        self.evaluation = evaluation
        self.project = project
        names = (name for name in evaluation.keys if isinstance(name, str) and not name.startswith("__"))
        self.keys = tuple(sorted(names))
        self._found: dict[tuple[str, int, int], KeyUse] = {}
        work = project.once(("asks", script.module.path), lambda: _work(script, project))
        self.stored = set(work.stored)
        self.may_have_more_keys = work.may_have_more_keys or not script.loads_one
        #: The names that may turn out to be missing; only code that mentions one is looked at.
        self.candidates = tuple(sorted(work.mentioned.difference(self.keys, self.stored, _METHODS)))

    def run(self) -> Iterator[KeyUse]:
        if not self.candidates and not self.script.states_overrides:
            return iter(())
        around = Surroundings(self.script, None, self.evaluation, self.project)
        around.notes.stage = _AROUND
        around.start(self.script.module.body, _AROUND)
        for cls in self.script.module.classes.values():
            init = cls.methods.get("__init__")
            if init is not None and any(self.script.is_load(event.value) for event in init.flow.of(EventKind.CALL)):
                around.make(cls)
        for function, handed in around.told:
            self._learn(function, handed)
        for call, function, path in around.loads:
            self._overrides(call, function, covers((path,)))
        for (name, site), seen in around.notes.lacking.items():
            if name not in self.stored and not name.startswith("__") and site.function is not None:
                self._add(name, site.value, site.function, is_certain((seen,)))
        given = {brain: given.argument(2, HPARAMS) for brain, given in around.brains_made.items() if given is not None}
        keys = (around.objects.keys,)
        around.close()
        for brain in self.script.brains:
            methods = (method for cls in brain.classes for method in cls.methods.values())
            if any(map(self._mentions, methods)) and given.get(brain) == keys:
                reached = reach(self.script, brain, self.evaluation, self.project)
                for read in reached.lacking:
                    if read.name not in self.stored:
                        self._add(read.name, read.value, read.function, read.certain)
        return iter(self._found.values())

    def _mentions(self, function: Function) -> bool:
        return any(name in function.text for name in self.candidates)

    def _learn(self, function: Function, handed: Collection[str]) -> None:
        """Add the keys that a function stores in a mapping of keys among its arguments."""
        key = ("learnt", function.module.path, function.qualname, tuple(sorted(handed)))
        work = self.project.once(key, lambda: key_work((function,), lambda value: may_be_keys(value, handed)))
        self.stored |= work.stored
        self.may_have_more_keys = self.may_have_more_keys or work.may_have_more_keys

    def _overrides(self, call: Value, function: Function, certain: bool) -> None:
        """Note the overrides that the script states and the recipe lacks, unless they need not match."""
        given = call.argument(1, "overrides")
        match = call.argument(2, "overrides_must_match")
        if match is not None and not (match.op is Op.CONST and match.data is True):
            self.may_have_more_keys = True
            return
        if given is None or given.op is not Op.DICT:
            return
        for key in given.data:
            stated = key.data if key is not None and key.op is Op.CONST else None
            if isinstance(stated, str) and stated not in self.evaluation.keys:
                self._add(stated, key, function, certain, is_override=True)

    def _add(self, name: str, value: Value, function: Function, certain: bool, *, is_override: bool = False) -> None:
        module = function.module
        place = module.place(value)
        key = (place.path, place.span.line, place.span.column)
        certain = certain and not self.may_have_more_keys and not _CAUGHT.search(_around(value, function))
        known = self._found.get(key)
        if known is None or (certain and not known.certain):
            text = module.text_of(value) if value.op is not Op.CONST else f'"{name}"'
            self._found[key] = KeyUse(name, place, text, certain, function.qualname, is_override)
