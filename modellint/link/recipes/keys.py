"""Keys of a recipe that code reads or stores, whichever recipe it gets."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import Event, EventKind, Op, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.graph.python import Function

#: The attribute of a Brain, and of an interface, that holds the keys.
HPARAMS = "hparams"
_ASKING = frozenset(("hasattr", "getattr"))
#: Calls whose result is another mapping than the one that was loaded.
_MAPPINGS = frozenset(("dict", "SimpleNamespace", "types.SimpleNamespace"))


@dataclass(slots=True)
class KeyWork:
    """The keys of a recipe that code reads and stores.

    `read` are those that it reads, `optional` those that it tests for or has a default for, `stored` those
    that it sets. `may_have_more_keys`: it may set any key. `mentioned` are all names that code reads from values
    that might be the keys, `called` the functions that it calls by a plain name.
    """

    read: set[str] = field(default_factory=set)
    optional: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    mentioned: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    may_have_more_keys: bool = False


def key_work(functions: Iterable[Function], is_keys: Callable[[Value], bool]) -> KeyWork:
    """The keys that functions read and store; `is_keys` recognises the value that holds all keys."""
    work = KeyWork()
    for function in functions:
        seen: set[int] = set()
        for event in function.flow.events:
            _take_event(event, work, is_keys)
            for part in _new_parts(event, seen):
                _take_value(part, work, is_keys)
    return work


def may_be_keys(value: Value, names: Iterable[str] = ()) -> bool:
    """True if a value is named like the keys of a recipe: `hparams`, `self.hparams`, `train_hparams`."""
    while value.op is Op.UPDATE:
        value = value.args[0]
    if value.op is Op.ATTR:
        is_called_so = _is_name(value.data) or value.data in names
        return is_called_so or (value.data == "__dict__" and may_be_keys(value.args[0], names))
    if value.op is Op.INDEX:  # what stands under a key, whatever it is called
        return False
    called = value.data if value.op in (Op.GLOBAL, Op.PARAM) else value.target
    return isinstance(called, str) and (_is_name(called) or called in names)


def kept_under(functions: Iterable[Function], is_keys: Callable[[Value], bool]) -> set[str]:
    """The attributes in which functions store the keys: `params` of `self.params = brain.hparams`."""
    stores = (event for function in functions for event in function.flow.of(EventKind.STORE))
    return {
        str(event.target.data)
        for event in stores
        if event.target is not None and event.target.op is Op.ATTR and is_keys(event.value)
    }


def _is_name(name: object) -> bool:
    return isinstance(name, str) and HPARAMS in name


def _new_parts(event: Event, seen: set[int]) -> Iterator[Value]:
    """The values that an event and its conditions evaluate, each once per function."""
    pending = [event.value]
    guard = event.guard
    while guard is not None and id(guard.test) not in seen:
        pending.append(guard.test)
        guard = guard.outer
    while pending:
        value = pending.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            pending.extend(value.args)


def _take_value(value: Value, work: KeyWork, is_keys: Callable[[Value], bool]) -> None:
    if value.op is Op.INDEX:
        name = text_of(value.args[1])
        if name is not None:
            work.mentioned.add(name)
            if is_keys(value.args[0]):
                work.read.add(name)
    elif value.op is Op.ATTR:
        owner = value.args[0]
        if owner.op is Op.ATTR and owner.data == HPARAMS:
            work.mentioned.add(str(value.data))
            work.read.add(str(value.data))
    elif value.op is Op.COMPARE and value.data in ("in", "not in"):
        _add(text_of(value.args[0]), work.optional)
    elif value.op is Op.CALL:
        _take_question(value, work)
    elif value.op is Op.DICT:
        # A mapping that is written out under the same name is another mapping.
        work.may_have_more_keys = work.may_have_more_keys or value.target == HPARAMS
    elif value.op is Op.BIN and value.data == "|":
        work.may_have_more_keys = work.may_have_more_keys or any(map(is_keys, value.args))


def _take_question(call: Value, work: KeyWork) -> None:
    """Record the key in `getattr(x, "name")`, `hasattr(x, "name")` or `x.get("name")`."""
    callee = call.callee
    if callee.op is Op.GLOBAL and callee.data in _ASKING:
        is_read = callee.data == "getattr" and len(call.positional) == 2
        _add(text_of(call.argument(1)), work.mentioned if is_read else work.optional)
    elif callee.op is Op.ATTR and callee.data == "get":
        _add(text_of(call.argument(0)), work.optional)


def _take_event(event: Event, work: KeyWork, is_keys: Callable[[Value], bool]) -> None:
    if event.kind is EventKind.STORE and event.target is not None:
        _take_store(event.target, event.value, work, is_keys)
    elif event.kind is EventKind.CALL:
        _take_call(event.value, work, is_keys)


def _take_store(target: Value, value: Value, work: KeyWork, is_keys: Callable[[Value], bool]) -> None:
    owner = target.args[0]
    if target.op is Op.ATTR and target.data == HPARAMS:
        work.may_have_more_keys = work.may_have_more_keys or not (is_keys(value) or _is_like_keys(value, is_keys))
    elif target.op is Op.ATTR and is_keys(owner):
        work.stored.add(str(target.data))
    elif target.op is Op.INDEX and (is_keys(owner) or _is_vars_of_keys(owner, is_keys)):
        name = text_of(target.args[1])
        _add(name, work.stored)
        work.may_have_more_keys = work.may_have_more_keys or name is None


def _take_call(call: Value, work: KeyWork, is_keys: Callable[[Value], bool]) -> None:
    callee = call.callee
    if callee.op is Op.ATTR:
        owner = callee.args[0]
        is_own = is_keys(owner)
        if callee.data == "update" and (is_own or _is_vars_of_keys(owner, is_keys)):
            work.may_have_more_keys = True
        elif callee.data == "setdefault" and is_own:
            _take_name(call.argument(0), work)
    elif callee.op is Op.GLOBAL:
        work.called.add(callee.data)
        first = call.argument(0)
        if callee.data == "setattr" and first is not None and is_keys(first):
            _take_name(call.argument(1), work)
    if call.target is not None and _is_name(call.target) and _callee(call) in _MAPPINGS:
        work.may_have_more_keys = work.may_have_more_keys or not _is_like_keys(call, is_keys)


def _is_like_keys(value: Value, is_keys: Callable[[Value], bool]) -> bool:
    """True if a value holds the keys and nothing else: `SimpleNamespace(**hparams)`, `dict(hparams)`."""
    is_mapping = value.op is Op.CALL and _callee(value) in _MAPPINGS
    return is_mapping and len(value.args) == 2 and value.data in ((), (None,)) and is_keys(value.args[1])


def _take_name(name: Value | None, work: KeyWork) -> None:
    """Record a key that is stored: any key, if its name is computed."""
    text = text_of(name)
    _add(text, work.stored)
    work.may_have_more_keys = work.may_have_more_keys or text is None


def _is_vars_of_keys(value: Value, is_keys: Callable[[Value], bool]) -> bool:
    while value.op is Op.UPDATE:
        value = value.args[0]
    return value.op is Op.CALL and _callee(value) == "vars" and any(map(is_keys, value.positional))


def _callee(call: Value) -> str:
    callee = call.callee
    owner = callee.args[0] if callee.op is Op.ATTR else None
    prefix = f"{owner.data}." if owner is not None and owner.op is Op.GLOBAL else ""
    return f"{prefix}{callee.data}" if callee.op in (Op.GLOBAL, Op.ATTR) else ""


def text_of(value: Value | None) -> str | None:
    """The text of a string constant; None for other values."""
    return value.data if value is not None and value.op is Op.CONST and isinstance(value.data, str) else None


def _add(name: str | None, names: set[str]) -> None:
    if name is not None:
        names.add(name)
