"""Keys by which a Brain ranks its checkpoints, and that none of them is saved with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

_BRAIN = "speechbrain.core.Brain"
#: Methods of a checkpointer that save, with the meta data first.
_SAVING = ("save_checkpoint", "save_and_keep_only")
#: Those that look for checkpoints, or keep some, by a key of the meta data.
_RANKING = ("find_checkpoint", "find_checkpoints", "recover_if_possible", "delete_checkpoints", "save_and_keep_only")
_KEYS = ("max_key", "min_key", "max_keys", "min_keys")
#: What every checkpoint has.
_ALWAYS = frozenset(("unixtime", "end-of-epoch"))
#: The hook that gets the keys of `evaluate`, and what it does with them unless it leaves them alone.
_HOOK = "on_evaluate_start"
_RECOVERING = frozenset(("super", *_RANKING))


@dataclass(frozen=True, eq=False, slots=True)
class Unsaved:
    """A key that a call ranks checkpoints by, at `value`, though they are all saved with the keys `saved`."""

    function: Function
    call: Value
    value: Value
    saved: tuple[str, ...]
    save: tuple[Function, Value]

    @property
    def key(self) -> str:
        return str(self.value.data)


def unsaved_keys(module: ModuleFacts, project: Project) -> Iterator[Unsaved]:
    """The keys in a file with a Brain that rank its checkpoints, and with which none is saved."""
    if not any(name in module.text for name in _KEYS):
        return
    brains = [cls for cls in module.classes.values() if _is_brain(cls, project)]
    if not brains:
        return
    models = [one for brain in brains for one in project.classes.model(brain).mro() if one.name != _BRAIN]
    classes = dict.fromkeys(one.cls for one in models if one.cls is not None)
    methods = [method for cls in classes for method in cls.methods.values()]
    saves = [(function, call) for function in methods for call in _calls_of(function, _SAVING)]
    known = [_keys_of(call.argument(0, "meta"), function) for function, call in saves]
    outside = (
        one for function in module.all_functions() if function not in methods for one in _calls_of(function, _SAVING)
    )
    if not saves or None in known or any(True for _ in outside):
        return
    saved = tuple(dict.fromkeys(key for keys in known for key in keys or ()))
    is_asked = all(_RECOVERING & method.words for method in methods if method.name == _HOOK)
    evaluating = ("evaluate",) if is_asked else ()
    for function in (module.body, *module.all_functions()):
        names = (*_RANKING, *evaluating) if function in methods else evaluating
        for call in _calls_of(function, names):
            for key in _asked_for(call):
                if key.data not in saved and key.data not in _ALWAYS:
                    yield Unsaved(function, call, key, saved, saves[0])


def _is_brain(cls: Class, project: Project) -> bool:
    return any(one.name == _BRAIN for one in project.classes.model(cls).mro())


def _calls_of(function: Function, names: tuple[str, ...]) -> Iterator[Value]:
    """The calls of methods with these names: of `self.checkpointer`, and `evaluate` of anything."""
    if function.words.isdisjoint(names):
        return
    for event in function.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data in names:
            yield from (event.value,) if callee.data == "evaluate" or _is_checkpointer(callee.args[0]) else ()


def _is_checkpointer(value: Value) -> bool:
    return self_attribute(value) == "checkpointer"


def _asked_for(call: Value) -> Iterator[Value]:
    """The constant keys that a call ranks checkpoints by."""
    for name in _KEYS:
        given = call.keywords.get(name)
        if given is not None:
            parts = given.args if given.op in (Op.LIST, Op.TUPLE) else (given,)
            yield from (part for part in parts if part.op is Op.CONST and isinstance(part.data, str))


def _keys_of(meta: Value | None, function: Function) -> tuple[str, ...] | None:
    """The keys of the meta data that a checkpoint is saved with; None if they are not all known."""
    if meta is None:
        return ()
    made = meta
    while made.op is Op.UPDATE:
        made = made.args[0]
    if made.op is not Op.DICT or any(key is None or key.op is not Op.CONST for key in made.data):
        return None
    keys = [str(key.data) for key in made.data]
    for event in function.flow.events:
        target = event.target
        if event.kind is EventKind.STORE and target is not None and target.op is Op.INDEX and _root(target) is made:
            if target.args[1].op is not Op.CONST:
                return None
            keys.append(str(target.args[1].data))
        is_method = event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR
        if is_method and _root(event.value.callee) is made:
            return None
    return tuple(keys)


def _root(value: Value) -> Value:
    """The container behind an attribute, an index and changes."""
    value = value.args[0]
    while value.op in (Op.UPDATE, Op.CHOICE) and value.args:
        value = value.args[0]
    return value
