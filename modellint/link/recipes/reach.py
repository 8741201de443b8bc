"""What a Brain uses when a training runs under one recipe: entries of `modules`, objects of the recipe, moves.

The walk starts at the methods that the training loop and the script call, follows calls through the Brain's own
methods and the script's functions, and keeps to the branches that this recipe leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from modellint import operators
from modellint.graph.value import Event, EventKind, Op, Value, dotted
from modellint.link.names import External
from modellint.link.recipes.evaluation import Evaluation, Item, ItemKind
from modellint.link.recipes.guards import Abstract, Counter, Frame, Guards, ModuleEntry, Special, Truth
from modellint.link.recipes.scripts import own_events, script_functions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Guard
    from modellint.link.project import Project
    from modellint.link.recipes.scripts import BrainUse, Script
    from modellint.source import Place

_MAX_VISITS = 600
_MOVES = operators.methods("Module", "moves")
#: Methods of a module that compute nothing with what it holds.
_BOOKKEEPING = operators.methods("Module") | operators.methods("ModuleDict")
_QUESTIONS = operators.functions("looks") | {"builtins.setattr"}
#: What `self.modules` answers to without being asked for an entry: `torch.nn.ModuleDict`, its bases, what wraps it.
_MODULE_DICT = _BOOKKEEPING | operators.attributes("Module") | {"forward", "module", "no_sync"}
#: Methods by which an entry may be added under a name that is not seen.
_ADDS_ENTRIES = operators.methods("Module", "registers:module@1") | {"update", "setdefault", "__setattr__"}

#: Values that are made under conditions of their own, or whose calls have events of their own.
_ELSEWHERE = frozenset((Op.CALL, Op.CHOICE, Op.UPDATE, Op.COMPREHENSION, Op.BOOL, Op.LAMBDA))

_TRAIN, _VALID, _TEST = "TRAIN", "VALID", "TEST"
#: The methods that the framework's loops call, by the loop and the stage in which they are called.
_FIT = {
    "on_fit_start": (_TRAIN,),
    "on_stage_start": (_TRAIN, _VALID),
    "on_stage_end": (_TRAIN, _VALID),
    "fit_batch": (_TRAIN,),
    "evaluate_batch": (_VALID,),
    "init_optimizers": (_TRAIN,),
    "on_fit_batch_start": (_TRAIN,),
    "on_fit_batch_end": (_TRAIN,),
    "optimizers_step": (_TRAIN,),
    "make_dataloader": (_TRAIN, _VALID),
}
_EVALUATE = {
    "on_evaluate_start": (_TEST,),
    "on_stage_start": (_TEST,),
    "on_stage_end": (_TEST,),
    "evaluate_batch": (_TEST,),
    "make_dataloader": (_TEST,),
}
#: Attributes of a tensor through which no gradient comes back.
_WITHOUT_GRADIENT = (
    {"detach"}
    | operators.attributes("Tensor", "gives")
    | operators.methods("Tensor", "gives:size", "gives:int", "gives:bool", "gives:tuple", "host gives")
)
#: The methods in which gradients are computed.
_LEARNING = frozenset(("fit", "fit_batch", "compute_forward", "compute_objectives", "on_fit_batch_start"))
#: In which no gradients are recorded, or perhaps none.
_QUIET = operators.functions("no-gradients")
#: The hooks that are told whether the optimizers step, and at which position.
_STEPPING = {"on_fit_batch_start": 1, "on_fit_batch_end": 3}
#: What the framework's own version of a batch method calls.
_BATCH = {
    "fit_batch": ("compute_forward", "compute_objectives"),
    "evaluate_batch": ("compute_forward", "compute_objectives"),
}


@dataclass(frozen=True, eq=False)
class ModuleUse:
    """`self.modules.name` in the script.

    `stages` are those of the training in which it is used, `learns` tells that gradients reach it there in a step
    of the optimizers. What only asks for its parameters or changes its mode does not compute with it.
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
    """An object of the recipe that the script calls: itself (`direct`), or a method of it.

    `entry` is its name where it is called through `self.modules`, None where the recipe's own object is.
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


@dataclass(frozen=True, eq=False)
class Modules:
    """What a Brain is given as `modules=`. Not `closed`: there may be more entries than `entries` says."""

    entries: dict[str, Item | None]
    closed: bool
    source: Item | None
    place: Place


@dataclass(eq=False)
class Reach:
    """The uses of one Brain under one recipe."""

    brain: BrainUse
    modules: Modules | None
    module_uses: list[ModuleUse] = field(default_factory=list)
    item_uses: list[ItemUse] = field(default_factory=list)
    moved: list[Item] = field(default_factory=list)
    #: What evaluates the script's values, and the functions that run, as they are called, if they certainly do.
    guards: Guards = field(init=False, repr=False)
    frames: list[tuple[Frame, bool]] = field(default_factory=list, repr=False)
    _others: dict[int, Frame] = field(default_factory=dict, init=False, repr=False)

    def events(self, *words: str) -> Iterator[tuple[Event, Frame, bool]]:
        """What happens in the functions that run, where it does, and whether that is certain.

        Left out are functions that mention none of the `words`.
        """
        for frame, certain in self.frames:
            if _mentions(frame.function, words):
                for event in own_events(frame.function):
                    truth = self.guards.holds(event.guard, frame)
                    if truth is not Truth.FALSE:
                        yield event, frame, certain and truth is not Truth.UNKNOWN

    def all_events(self, *words: str) -> Iterator[tuple[Event, Frame, bool]]:
        """`events`, what the script does around the Brain, and what happens in methods that nothing is known to call.

        Only the Brain's work is certain.
        """
        yield from self.events(*words)
        walked = {id(frame.function) for frame, _ in self.frames}
        methods = (method for cls in self.brain.classes for method in cls.methods.values())
        for function in (*script_functions(self.brain.module), *methods):
            if id(function) not in walked and _mentions(function, words):
                frame = self._others.setdefault(id(function), Frame(function, ""))
                for event in own_events(function):
                    if function.owner is not None or self.guards.holds(event.guard, frame) is not Truth.FALSE:
                        yield event, frame, False


def _mentions(function: Function, words: tuple[str, ...]) -> bool:
    return not words or any(word in function.text for word in words)


def reach(script: Script, brain: BrainUse, evaluation: Evaluation, project: Project) -> Reach:
    """What `brain` uses under the recipe, computed once."""
    key = ("reach", script.module.path, brain.call.line, brain.call.offset, evaluation.recipe.path)
    return project.once(key, lambda: _Walk(script, brain, evaluation, project).run())


class _Walk:
    def __init__(self, script: Script, brain: BrainUse, evaluation: Evaluation, project: Project) -> None:
        self.script = script
        self.brain = brain
        self.project = project
        self.evaluation = evaluation
        changed = frozenset(_changed_keys(script))
        plain = Guards(script, brain, evaluation.keys, changed, None)
        modules = self._modules(plain)
        self.result = Reach(brain, modules)
        known = modules.entries if modules is not None and modules.closed else None
        self.guards = self.result.guards = Guards(script, brain, evaluation.keys, changed, known)
        self.guards.project = project
        #: How certainly and how fully each function has been walked.
        self._visited: dict[Any, tuple[bool, bool]] = {}
        self._uses: dict[tuple[str, int, int], ModuleUse] = {}
        self._items: dict[tuple[int, int, int], ItemUse] = {}

    def run(self) -> Reach:
        for function, stage in self._roots():
            learns = stage == _TRAIN and function.name in _LEARNING
            self._visit(Frame(function, stage, _given(function)), True, learns)
        for function in (*script_functions(self.script.module), *self._methods()):
            self._collect_moves(function)
        self.result.module_uses = list(self._uses.values())
        self.result.item_uses = list(self._items.values())
        return self.result

    def _methods(self) -> Iterator[Function]:
        for cls in self.brain.classes:
            yield from cls.methods.values()

    # -- what is given to the Brain ----------------------------------------------------------------------------

    def _modules(self, guards: Guards) -> Modules | None:
        value = self.brain.argument("modules")
        if value is None:
            return None
        frame = Frame(self.script.module.body, "")
        place = self.script.module.place(value)
        entries: dict[str, Item | None] = {}
        closed = True
        source: Item | None = None
        while value.op is Op.UPDATE:
            key = value.args[1] if len(value.args) > 1 else None
            if value.data == "[]=" and key is not None and key.op is Op.CONST and isinstance(key.data, str):
                entries.setdefault(key.data, guards.item(value.args[2], frame))
            else:
                closed = False
            value = value.args[0]
        if value.op is Op.DICT:
            for key, item in zip(value.data, value.args, strict=True):
                if key is None or key.op is not Op.CONST:
                    closed = False
                else:
                    entries.setdefault(str(key.data), guards.item(item, frame))
        else:
            source = guards.item(value, frame)
            if source is not None and source.kind is ItemKind.MAPPING:
                for name, child in source.fields.items():
                    entries.setdefault(str(name), child)
            else:
                closed = False
        added, open_ended = self._added_modules(guards, frame, source)
        for name, child_item in added.items():
            entries.setdefault(name, child_item)
        return Modules(entries, closed and not open_ended, source, place)

    def _added_modules(self, guards: Guards, frame: Frame, source: Item | None) -> tuple[dict[str, Item | None], bool]:
        """Entries that code adds to the Brain's modules, or to the mapping that becomes them."""
        added: dict[str, Item | None] = {}
        open_ended = False
        for function in (*script_functions(self.script.module), *self._methods()):
            inner = replace(frame, function=function)
            for event in function.flow.events:
                if event.kind is EventKind.STORE and event.target is not None:
                    target = event.target
                    owner = guards.evaluate(target.args[0], inner)
                    if owner is not Special.MODULES and (owner is not source or source is None):
                        continue
                    name = self._stored_name(target)
                    if name is None:
                        open_ended = True
                    elif not self._unwraps(event.value, name, guards, inner):
                        added[name] = guards.item(event.value, inner)
                elif event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR:
                    method = event.value.callee.data
                    if method in _ADDS_ENTRIES:
                        owner = guards.evaluate(event.value.callee.args[0], inner)
                        open_ended = open_ended or owner is Special.MODULES or (source is not None and owner is source)
                elif event.kind is EventKind.CALL and dotted(event.value.callee) == "setattr":
                    first = event.value.argument(0)
                    if first is not None and guards.evaluate(first, inner) is Special.MODULES:
                        open_ended = True
        return added, open_ended

    @staticmethod
    def _unwraps(value: Value, name: str, guards: Guards, frame: Frame) -> bool:
        """Whether a value is made of that very entry: `self.modules.x = self.modules.x.module` adds nothing."""
        entry = ModuleEntry(name)
        parts = (part for part in value.walk() if part.op in (Op.ATTR, Op.INDEX))
        return any(guards.evaluate(part, frame) == entry for part in parts)

    @staticmethod
    def _stored_name(target: Value) -> str | None:
        """The entry that a store to an attribute or item of `modules` sets."""
        if target.op is Op.ATTR:
            return str(target.data)
        key = target.args[1]
        return str(key.data) if key.op is Op.CONST else None

    # -- the walk ----------------------------------------------------------------------------------------------

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
                if name in ("fit", "evaluate") and not calls_super(method, name):
                    loops = [loop for loop in loops if loop is not (_FIT if name == "fit" else _EVALUATE)]
        for loop in loops:
            for name, stages in loop.items():
                for stage in stages:
                    method = brain.method(name)
                    if method is not None:
                        pairs[name, stage] = None
                    if name in _BATCH and (method is None or calls_super(method, name)):
                        pairs.update(dict.fromkeys((called, stage) for called in _BATCH[name]))
        for name, stage in pairs:
            method = brain.method(name)
            if method is not None:
                yield method, stage

    def _is_quiet(self, contexts: Iterable[Value], function: Function) -> bool:
        """Whether code in these contexts, or with these decorators, records no gradients, or may record none."""
        for context in contexts:
            callee = context.callee if context.op is Op.CALL else context
            found = self.project.names.definition(function.module, callee)
            if isinstance(found, External) and found.name in _QUIET:
                return True
        return False

    def _visit(self, frame: Frame, certain: bool, learns: bool) -> None:
        key = (id(frame.function), frame.stage, _key_of(frame.arguments))
        known, knew = self._visited.get(key, (None, False))
        if (known is not None and known >= certain and knew >= learns) or len(self._visited) > _MAX_VISITS:
            return
        self._visited[key] = (certain or bool(known), learns or knew)
        self.result.frames.append((frame, certain))
        learns = learns and not self._is_quiet(frame.function.signature.decorators, frame.function)
        detached = _detached(frame.function) if learns else frozenset()
        seen: dict[int, bool] = {}
        tests: set[int] = set()
        for event in own_events(frame.function):
            self._test_uses(event.guard, frame, certain, tests, seen)
            truth = self.guards.holds(event.guard, frame)
            if truth is Truth.FALSE:
                continue
            sure = certain and truth is not Truth.UNKNOWN
            teaches = learns and not self._is_quiet(event.contexts, frame.function)
            teaches = teaches and id(event.value) not in detached
            self._module_uses(event, frame, sure, teaches, seen)
            if event.kind is EventKind.CALL:
                self._item_use(event.value, frame, sure, teaches)
                self._follow(event.value, frame, sure, teaches)

    def _test_uses(
        self, guard: Guard | None, frame: Frame, certain: bool, tests: set[int], seen: dict[int, bool]
    ) -> None:
        """Entries that conditions ask for before they are decided; those in `tests` were looked at before."""
        while guard is not None and id(guard.test) not in tests:
            tests.add(id(guard.test))
            truth = self.guards.holds(guard.outer, frame)
            asked = _first_asked(guard.test)
            if truth is not Truth.FALSE and asked.op not in _ELSEWHERE:
                sure = certain and truth is not Truth.UNKNOWN
                self._entry_uses(asked, frame, sure, seen, learns=False, computes=False)
            guard = guard.outer

    def _module_uses(self, event: Event, frame: Frame, certain: bool, learns: bool, seen: dict[int, bool]) -> None:
        callee = event.value.callee if event.kind is EventKind.CALL else None
        computes = callee is None or not _is_idle(callee)
        self._entry_uses(event.value, frame, certain, seen, learns=learns, computes=computes)

    def _entry_uses(
        self, root: Value, frame: Frame, certain: bool, seen: dict[int, bool], *, learns: bool, computes: bool
    ) -> None:
        for value in _parts(root, certain, seen):
            name = self._entry_name(value, frame)
            if name is None or name in _MODULE_DICT:
                continue
            module = frame.function.module
            place = module.place(value)
            key = (place.path, place.span.line, place.span.column)
            known = self._uses.get(key)
            if known is None:
                text = module.text_of(value)
                known = ModuleUse(name, place, text, certain, frame.function.qualname, computes=computes)
            self._uses[key] = replace(
                known,
                certain=known.certain or certain,
                stages=known.stages | {frame.stage},
                learns=known.learns or (learns and computes),
                computes=known.computes or computes,
            )

    def _entry_name(self, value: Value, frame: Frame) -> str | None:
        if value.op not in (Op.ATTR, Op.INDEX) and not is_plain_getattr(value):
            return None
        found = self.guards.evaluate(value, frame)
        return found.name if isinstance(found, ModuleEntry) else None

    def _item_use(self, call: Value, frame: Frame, certain: bool, learns: bool) -> None:
        receiver, method = call.callee, ""
        item = self.guards.item(receiver, frame)
        while item is None and receiver.op is Op.ATTR:
            receiver, method = receiver.args[0], receiver.data
            item = self.guards.item(receiver, frame)
        if item is None or method in _BOOKKEEPING or item.kind not in (ItemKind.NEW, ItemKind.SEQUENCE):
            return
        module = frame.function.module
        key = (id(item), call.line, call.offset)
        known = self._items.get(key)
        if known is None:
            direct = method in ("", "forward")
            text = module.text_of(call.callee)
            found = self.guards.evaluate(receiver, frame)
            entry = found.name if isinstance(found, ModuleEntry) else None
            place, function = module.place(call.callee), frame.function.qualname
            known = ItemUse(item, place, text, certain, direct, function, entry=entry, call=call)
        self._items[key] = replace(
            known,
            certain=known.certain or certain,
            stages=known.stages | {frame.stage},
            learns=known.learns or learns,
        )

    def _follow(self, call: Value, frame: Frame, certain: bool, learns: bool) -> None:
        callee = call.callee
        function: Function | None = None
        if callee.op is Op.ATTR:
            owner = callee.args[0]
            if self.guards.evaluate(owner, frame) is Special.SELF:
                function = self.brain.method(callee.data)
            elif owner.op is Op.CALL and dotted(owner.callee) == "super":
                function = self._super(callee.data, frame, certain, learns)
        elif callee.op in (Op.GLOBAL, Op.LAMBDA):
            function = self.script.module.functions.get(str(callee.data)) if callee.op is Op.GLOBAL else None
        if function is None:
            return
        bound = function.bind(call)
        arguments: dict[str, Abstract] = {}
        stage = frame.stage
        for name, value in bound.items():
            found = self.guards.evaluate(value, frame)
            if type(found).__name__ == "Stage":
                stage = found.name  # type: ignore[union-attr]
            if found is not Special.UNKNOWN:
                arguments[name] = found
        for parameter in function.parameters:
            default = parameter.default
            if default is not None and parameter.name not in bound and not call.has_unpacking:
                found = self.guards.evaluate(default, frame)
                if found is not Special.UNKNOWN:
                    arguments[parameter.name] = found
        if function.owner is None and not arguments:
            return
        self._visit(Frame(function, stage, arguments), certain, learns)

    def _super(self, name: str, frame: Frame, certain: bool, learns: bool) -> Function | None:
        owner: Class | None = frame.function.owner
        function = self.brain.method(name, after=owner) if owner is not None else None
        if function is None:
            for called in _BATCH.get(name, ()):
                method = self.brain.method(called)
                if method is not None:
                    self._visit(Frame(method, frame.stage), certain, learns)
        return function

    # -- moves -------------------------------------------------------------------------------------------------

    def _collect_moves(self, function: Function) -> None:
        """Objects that the script moves, wherever and under whatever condition it does."""
        frame = Frame(function, "")
        for event in function.flow.of(EventKind.CALL):
            callee = event.value.callee
            if callee.op is not Op.ATTR or callee.data not in _MOVES:
                continue
            for value in callee.args[0].walk():
                found = self.guards.evaluate(value, frame)
                if isinstance(found, Item):
                    self.result.moved.append(found)
                elif found is Special.HPARAMS and value is callee.args[0]:
                    self.result.moved.extend(self.evaluation.keys.values())


def _given(function: Function) -> dict[str, Abstract]:
    """What the framework passes to a hook of its loop: whether the optimizers step, which they do now and then."""
    position = _STEPPING.get(function.name)
    names = function.argument_names
    return {names[position]: Counter(0, 1)} if position is not None and position < len(names) else {}


def is_plain_getattr(value: Value) -> bool:
    """Whether a value is `getattr(x, name)`, which has nothing else to fall back on."""
    if value.op is not Op.CALL or value.args[0].data != "getattr":
        return False
    return value.callee.op is Op.GLOBAL and len(value.positional) == 2


def _is_idle(callee: Value) -> bool:
    """Whether a call only asks about an object, or changes its mode."""
    if callee.op is Op.ATTR:
        return callee.data in _BOOKKEEPING
    return callee.op is Op.GLOBAL and f"builtins.{callee.data}" in _QUESTIONS


def _detached(function: Function) -> frozenset[int]:
    """The calls of whose results nothing is used but what is detached from them, by identity."""
    calls = (event.value.callee for event in function.flow.of(EventKind.CALL))
    detached = {id(callee.args[0]) for callee in calls if callee.op is Op.ATTR and callee.data == "detach"}
    if not detached:
        return frozenset()
    seen: set[int] = set()
    for event in function.flow.events:
        if event.kind is not EventKind.CALL:
            detached.discard(id(event.value))
        for part in event.value.walk() if id(event.value) not in seen else ():
            if id(part) not in seen and not (part.op is Op.ATTR and part.data in _WITHOUT_GRADIENT):
                detached.difference_update(map(id, part.args))
            seen.add(id(part))
    return frozenset(detached)


def _parts(value: Value, certain: bool, seen: dict[int, bool]) -> Iterator[Value]:
    """What a value is made of, each part once; calls inside have their own events, and choices may go elsewhere."""
    stack = [value]
    while stack:
        current = stack.pop()
        if seen.get(id(current), False) < certain or id(current) not in seen:
            seen[id(current)] = certain
            yield current
            stack.extend(arg for arg in current.args if arg.op not in _ELSEWHERE)


def _first_asked(test: Value) -> Value:
    """What of a condition is certainly asked: of `a and b`, and of `a or b`, only `a` is."""
    while test.op is Op.BOOL or (test.op is Op.UNARY and test.data == "not"):
        test = test.args[0]
    return test


def _changed_keys(script: Script) -> Iterator[str]:
    """Keys of the recipe that the script stores itself: `hparams["tokenizer"] = …`."""
    for function in script_functions(script.module):
        for event in function.flow.of(EventKind.STORE):
            target = event.target
            if target is None or target.op is not Op.INDEX or target.args[1].op is not Op.CONST:
                continue
            owner = target.args[0]
            while owner.op is Op.UPDATE:
                owner = owner.args[0]
            if owner.target in script.names or (owner.op in (Op.GLOBAL, Op.PARAM) and owner.data in script.names):
                yield str(target.args[1].data)


def calls_super(method: Function, name: str) -> bool:
    """Whether a method calls what it overrides."""
    for event in method.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data == name and callee.args[0].op is Op.CALL:
            return True
    return False


def _key_of(arguments: Mapping[str, Abstract]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, _identity(value)) for name, value in arguments.items()))


def _identity(value: Abstract) -> str:
    return f"item {id(value)}" if isinstance(value, Item) else repr(value)
