"""Keys of a recipe that its script reads, and that the recipe does not have."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from modellint.graph.value import EventKind, Op, Value
from modellint.link.names import DefinedClass, DefinedFunction
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.keys import HPARAMS, KeyWork, kept_under, key_work, may_be_keys, text_of
from modellint.link.recipes.loading import callee_name
from modellint.link.recipes.pairing import recipes_of, scripts_of
from modellint.link.recipes.reach import reach
from modellint.link.recipes.scripts import own_events, read_script

from .guards import Abstract, Frame, Guards, Special, Truth

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.value import Event, Guard
    from modellint.link.project import Project
    from modellint.link.recipes.evaluation import Evaluation
    from modellint.link.recipes.scripts import BrainUse, Script
    from modellint.source import Place

_MAX_FRAMES = 200
#: What makes a function a step of a dataset's pipeline.
_ADDS_ITEM = "add_dynamic_item"
#: Values that are made under conditions of their own, or whose calls have events of their own.
_ELSEWHERE = frozenset((Op.CALL, Op.CHOICE, Op.UPDATE, Op.COMPREHENSION, Op.LAMBDA))
#: How a statement of a file's own code begins.
_STATEMENT = re.compile(r"(?!else\b|elif\b|except\b|finally\b)[\w@(\[{\"']")
_CAUGHT = re.compile(r"\bexcept\s*(?::|[^\n]*(?:KeyError|AttributeError|LookupError|Exception))")
#: What dictionaries and namespaces answer to without being asked for a key.
_METHODS = frozenset(dir(dict))


@dataclass(frozen=True, eq=False)
class KeyUse:
    """A key that a script reads: `self.hparams.name` or `hparams["name"]`."""

    name: str
    place: Place
    text: str
    certain: bool
    function: str


@dataclass(frozen=True, eq=False)
class LackingRecipe:
    """A recipe without a key that its script reads; `doubt` says why the script may be that of others only."""

    recipe: Recipe
    keys: tuple[str, ...]
    certain: bool
    doubt: str


@dataclass(frozen=True, eq=False)
class MissingKey:
    """A key that a script reads, or overrides (`is_override`), and that each of `recipes` lacks."""

    use: KeyUse
    recipes: tuple[LackingRecipe, ...]
    is_override: bool


def missing_keys(module: ModuleFacts, project: Project) -> tuple[MissingKey, ...]:
    """The keys that a script reads and its recipes lack."""
    return project.once(("missing keys", module.path), lambda: tuple(_missing(module, project)))


def _missing(module: ModuleFacts, project: Project) -> Iterator[MissingKey]:
    recipes = recipes_of(module.file, project)
    script = read_script(module, project) if recipes else None
    if script is None:
        return
    uses: dict[Place, KeyUse] = {}
    lacking: dict[Place, list[LackingRecipe]] = {}
    overridden: set[Place] = set()
    for recipe in recipes:
        evaluation = evaluate(recipe, project)
        walk = _Walk(script, evaluation, project)
        keys = tuple(sorted(name for name in evaluation.keys if isinstance(name, str) and not name.startswith("__")))
        pairing = scripts_of(recipe, project)
        doubt = pairing.reason if pairing.is_doubtful else ""
        for use in walk.run():
            uses.setdefault(use.place, use)
            lacking.setdefault(use.place, []).append(LackingRecipe(recipe, keys, use.certain, doubt))
        overridden |= walk.overridden
    for place, use in uses.items():
        yield MissingKey(use, tuple(lacking[place]), place in overridden)


def _around(value: Value, function: Function) -> str:
    """The function that a value stands in; of a file's own code, the statement."""
    module = function.module
    if function is not module.body:
        return function.text
    lines = module.source.plain.lines
    first = last = value.line
    while first > 1 and not _STATEMENT.match(lines[first - 1]):
        first -= 1
    while last < len(lines) and not _STATEMENT.match(lines[last]):
        last += 1
    return module.source.plain.text_between(first, last)


def _work(script: Script, project: Project) -> KeyWork:
    """What a script, and the files of its Brains' classes, ask for and store; what it imports from beside it asks."""
    total = KeyWork()
    modules = {id(cls.module): cls.module for brain in script.brains for cls in brain.classes}
    modules.pop(id(script.module), None)
    for work in (script.work, *(_work_of(module, project) for module in modules.values())):
        total.mentioned |= work.mentioned
        total.stored |= work.stored
        total.is_open = total.is_open or work.is_open
    imported = _work_in(list(_imported(script, project)))
    total.mentioned |= imported.mentioned
    total.stored |= imported.stored
    return total


def _work_of(module: ModuleFacts, project: Project) -> KeyWork:
    """What a file does with keys; bases are shared."""
    return project.once(("asked in", module.path), lambda: _work_in([*module.all_functions(), module.body]))


def _work_in(functions: list[Function]) -> KeyWork:
    """What functions do with keys, under whatever attribute they keep them."""
    names = kept_under(functions, may_be_keys)
    return key_work(functions, lambda value: may_be_keys(value, names))


def _imported(script: Script, project: Project) -> Iterator[Function]:
    """The functions that a script imports from files beside it and calls, and the methods of such classes."""
    module = script.module
    for name in module.imports.keys() & script.work.called:
        found = project.names.resolve(module, name)
        if isinstance(found, DefinedFunction) and found.function.module.file.is_relative_to(module.file.parent):
            yield found.function
        elif isinstance(found, DefinedClass) and found.cls.module.file.is_relative_to(module.file.parent):
            yield from found.cls.methods.values()


@dataclass(frozen=True, slots=True)
class Keeper:
    """An object that keeps the keys, under these attributes."""

    cls: Class
    kept: Mapping[str, Special]


class _Method(NamedTuple):
    """A method of an object that keeps the keys under `kept`."""

    function: Function
    kept: Mapping[str, Special]


def _kept(cls: Class, init: Frame, guards: Guards) -> dict[str, Special]:
    """The attributes under which a constructor keeps the keys, and that no other method sets."""
    found: dict[str, Special] = {}
    others: set[str] = set()
    for method in cls.methods.values():
        for event in method.flow.of(EventKind.STORE):
            target = event.target
            if target is None or target.op is not Op.ATTR or target.args[0].data != "self":
                continue
            value = guards.evaluate(event.value, init) if method is init.function else Special.UNKNOWN
            if value in (Special.HPARAMS, Special.NAMESPACE):
                found[str(target.data)] = value
            else:
                others.add(str(target.data))
    return {name: value for name, value in found.items() if name not in others}


class _Walk:
    """What a script reads of one recipe: around its Brains, and in them."""

    def __init__(self, script: Script, evaluation: Evaluation, project: Project) -> None:
        self.script = script
        self.evaluation = evaluation
        self.project = project
        self.keys = {name for name in evaluation.keys if isinstance(name, str) and not name.startswith("__")}
        self.overridden: set[Place] = set()
        self._found: dict[tuple[str, int, int], KeyUse] = {}
        self._visited: set[Any] = set()
        #: The objects that keep the keys: by the calls that make them, and by their names.
        self._keepers: dict[int | str, Keeper] = {}
        work = project.once(("asks", script.module.path), lambda: _work(script, project))
        self.stored = set(work.stored)
        self.is_open = work.is_open or not script.loads_one
        #: The names that may turn out to be missing; only lines that mention one are looked at.
        self.candidates = tuple(sorted(work.mentioned - self.keys - self.stored - _METHODS))
        self._lines: dict[str, list[int]] = {}

    def run(self) -> Iterator[KeyUse]:
        if not self.candidates and not self.script.states_overrides:
            return iter(())
        plain = Guards(self.script, self.evaluation.keys, frozenset(self.stored), self.project)
        self._visit(Frame(self.script.module.body), plain, True)
        for cls in self.script.module.classes.values():
            self._visit_loader(cls, plain)
        for brain in self.script.brains:
            methods = (method for cls in brain.classes for method in cls.methods.values())
            if any(map(self._mentions, methods)) and self._has_all(brain, plain):
                reached = reach(self.script, brain, self.evaluation, self.project)
                for read in reached.lacking:
                    if read.name not in self.stored:
                        self._add(read.name, read.value, read.function, read.certain)
        return iter(self._found.values())

    def _mentions(self, function: Function) -> bool:
        return any(name in function.text for name in self.candidates)

    def _is_mentioned(self, value: Value, module: ModuleFacts) -> bool:
        """Whether a candidate stands on the lines of a value."""
        lines = self._lines.get(module.path)
        if lines is None:
            wanted = re.compile(r"\b(?:" + "|".join(self.candidates or ("(?!)",)) + r")\b")
            lines = [number for number, line in enumerate(module.source.lines, 1) if wanted.search(line)]
            self._lines[module.path] = lines
        first = bisect_left(lines, value.line)
        return first < len(lines) and lines[first] <= value.end_line

    def _has_all(self, brain: BrainUse, guards: Guards) -> bool:
        """Whether a Brain is given the recipe's keys as they are."""
        given = brain.argument("hparams")
        return given is not None and guards.evaluate(given, Frame(self.script.module.body)) is Special.HPARAMS

    # -- around the Brain --------------------------------------------------------------------------------------

    def _visit(self, frame: Frame, guards: Guards, certain: bool) -> None:
        key = (id(frame.function), certain, tuple(sorted(frame.arguments)), tuple(sorted(frame.kept)))
        if key in self._visited or len(self._visited) > _MAX_FRAMES:
            return
        self._visited.add(key)
        is_body = frame.function is self.script.module.body
        mentions = is_body or self._mentions(frame.function)
        for event in own_events(frame.function):
            if mentions:
                self._read(event, frame, guards, certain)
            call = event.value if event.kind is EventKind.CALL else None
            method = None if call is None else self._method(call, frame)
            if call is None or not (call.callee.op is Op.GLOBAL or method is not None or self.script.is_load(call)):
                continue
            truth = self._holds(event.guard, frame, guards)
            if truth is not Truth.FALSE:
                sure = certain and truth is not Truth.UNKNOWN
                self._overrides(call, frame, guards, sure)
                if method is None:
                    self._follow(call, frame, guards, sure)
                else:
                    arguments = self._handed(method.function, call, frame, guards)
                    self._visit(Frame(method.function, arguments, method.kept), guards, sure)

    def _holds(self, guard: Guard | None, frame: Frame, guards: Guards) -> Truth:
        """Whether code under `guard` runs when the file is run as a script."""
        result = Truth.TRUE
        for condition in guard.chain() if guard is not None else ():
            test = condition.test
            if test.op is Op.COMPARE and any(arg.op is Op.GLOBAL and arg.data == "__name__" for arg in test.args):
                continue
            if test.op is Op.UNKNOWN and test.data == "nested":
                truth = self._is_in_pipeline(test, frame, guards)
            else:
                truth = guards.truth(test, frame)
            truth = truth if condition.truthy else ~truth
            if truth is Truth.FALSE:
                return truth
            if truth is not Truth.TRUE:
                result = Truth.UNKNOWN
        return result

    def _is_in_pipeline(self, nested: Value, frame: Frame, guards: Guards) -> Truth:
        """Whether an inner function is added to the pipeline of a dataset, which then calls it for each item."""
        for event in frame.function.flow.of(EventKind.CALL):
            if (callee_name(event.value.callee) or "").rpartition(".")[2] != _ADDS_ITEM:
                continue
            if any(arg.op is Op.LAMBDA and arg.at == nested.at for arg in event.value.args[1:]):
                return self._holds(event.guard, frame, guards)
        return Truth.UNKNOWN

    def _follow(self, call: Value, frame: Frame, guards: Guards, certain: bool) -> None:
        """Functions that are handed the keys; those that may change them make every answer uncertain."""
        if call.callee.op is not Op.GLOBAL:
            return
        name = str(call.callee.data)
        handed = any(guards.evaluate(value, frame) is Special.HPARAMS for value in call.args[1:])
        if not handed and name not in self.script.module.functions:
            return
        found = self.project.names.resolve(frame.function.module, name)
        if isinstance(found, DefinedClass):
            self._construct(found.cls, call, frame, guards, certain)
        if not isinstance(found, DefinedFunction):
            return
        function = found.function
        arguments = self._handed(function, call, frame, guards)
        if handed:
            self._learn(function, arguments)
        if function.module is self.script.module or arguments:
            self._visit(Frame(function, arguments), guards, certain)

    @staticmethod
    def _handed(function: Function, call: Value, frame: Frame, guards: Guards) -> dict[str, Abstract]:
        """The parameters of a function that a call gives the keys."""
        bound = function.bind(call).items()
        return {name: Special.HPARAMS for name, value in bound if guards.evaluate(value, frame) is Special.HPARAMS}

    def _construct(self, cls: Class, call: Value, frame: Frame, guards: Guards, certain: bool) -> None:
        """An object of a class other than a Brain, which may keep the keys that it is handed."""
        init = cls.methods.get("__init__")
        is_near = cls.module.file.is_relative_to(self.script.module.file.parent)
        if init is None or not is_near or any(cls in brain.classes for brain in self.script.brains):
            return
        inner = Frame(init, self._handed(init, call, frame, guards))
        kept = _kept(cls, inner, guards)
        if kept:
            keeper = Keeper(cls, kept)
            self._keepers[id(call)] = keeper
            if call.target is not None and frame.function is self.script.module.body:
                self._keepers[call.target] = keeper
        self._visit(Frame(init, inner.arguments, kept), guards, certain)

    def _visit_loader(self, cls: Class, guards: Guards) -> None:
        """A class whose constructor loads a recipe itself."""
        init = cls.methods.get("__init__")
        events = () if init is None else init.flow.of(EventKind.CALL)
        if init is not None and any(self.script.is_load(event.value) for event in events):
            kept = _kept(cls, Frame(init), guards)
            self._visit(Frame(init, {}, kept), guards, True)

    def _method(self, call: Value, frame: Frame) -> _Method | None:
        """The method that a call runs on an object that keeps the keys, or on itself."""
        callee = call.callee
        owner = callee.args[0] if callee.op is Op.ATTR else None
        if owner is None:
            return None
        keeper = self._keepers.get(id(owner))
        if keeper is None and owner.op is Op.GLOBAL and frame.function.module is self.script.module:
            keeper = self._keepers.get(str(owner.data))
        if keeper is None and frame.kept and owner.op is Op.PARAM and owner.data == "self":
            cls = frame.function.owner
            keeper = None if cls is None else Keeper(cls, frame.kept)
        function = None if keeper is None else keeper.cls.methods.get(str(callee.data))
        return None if keeper is None or function is None else _Method(function, keeper.kept)

    def _learn(self, function: Function, handed: Collection[str]) -> None:
        """What a function stores among the keys that it is handed."""
        key = ("learnt", function.module.path, function.qualname, tuple(sorted(handed)))
        work = self.project.once(key, lambda: key_work((function,), lambda value: may_be_keys(value, handed)))
        self.stored |= work.stored
        self.is_open = self.is_open or work.is_open

    def _overrides(self, call: Value, frame: Frame, guards: Guards, certain: bool) -> None:
        """Overrides that the script states must be there, unless it says that they need not."""
        if not self.script.is_load(call):
            return
        given = call.argument(1, "overrides")
        match = call.argument(2, "overrides_must_match")
        if match is not None and not (match.op is Op.CONST and match.data is True):
            self.is_open = True
            return
        if given is None or given.op is not Op.DICT:
            return
        for key in given.data:
            stated = key.data if key is not None and key.op is Op.CONST else None
            if isinstance(stated, str) and stated not in self.evaluation.keys:
                self._add(stated, key, frame.function, certain)
                self.overridden.add(frame.function.module.place(key))

    # -- reading -----------------------------------------------------------------------------------------------

    def _read(self, event: Event, frame: Frame, guards: Guards, certain: bool) -> None:
        """The keys that an event reads, and those that the conditions it stands under read before they are decided."""
        value, guard = event.value, event.guard
        while True:
            if self._is_mentioned(value, frame.function.module):
                decided = self._holds(guard, frame, guards)
                if decided is not Truth.FALSE:
                    self._read_value(value, frame, guards, certain and decided is not Truth.UNKNOWN)
            if guard is None:
                return
            value, guard = guard.test, guard.outer

    def _read_value(self, value: Value, frame: Frame, guards: Guards, certain: bool) -> None:
        stack = [value] if value.op is Op.CALL or value.op not in _ELSEWHERE else []
        seen: set[int] = set()
        while stack:
            current = stack.pop()
            if id(current) in seen:
                continue
            seen.add(id(current))
            name = self._key(current, frame, guards)
            if name is not None and name not in self.keys and name not in self.stored:
                self._add(name, current, frame.function, certain)
            # Of `a and b` only `a` is certain.
            parts = current.args[:1] if current.op is Op.BOOL else current.args
            stack.extend(arg for arg in parts if arg.op not in _ELSEWHERE)

    def _key(self, value: Value, frame: Frame, guards: Guards) -> str | None:
        """The key that a value asks the recipe for."""
        if value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "getattr":
            name = text_of(value.argument(1)) if len(value.positional) == 2 else None
            return name if name and guards.evaluate(value.args[1], frame) is Special.NAMESPACE else None
        if value.op is Op.ATTR:
            is_own = not str(value.data).startswith("__")
            return str(value.data) if is_own and guards.evaluate(value.args[0], frame) is Special.NAMESPACE else None
        if value.op is Op.INDEX and (name := text_of(value.args[1])) is not None:
            owner = value.args[0]
            if owner.op is Op.ATTR and owner.data != HPARAMS and owner.data not in frame.kept:
                return None
            return name if guards.evaluate(owner, frame) is Special.HPARAMS else None
        return None

    def _add(self, name: str, value: Value, function: Function, certain: bool) -> None:
        module = function.module
        place = module.place(value)
        key = (place.path, place.span.line, place.span.column)
        certain = certain and not self.is_open and not _CAUGHT.search(_around(value, function))
        known = self._found.get(key)
        if known is None or (certain and not known.certain):
            text = module.text_of(value) if value.op is not Op.CONST else f'"{name}"'
            self._found[key] = KeyUse(name, place, text, certain, function.qualname)
