"""Constructors that pass `**kwargs` on to the constructor of a base class, which takes the names then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.immutable import replace
from modellint.graph.value import NOWHERE, EventKind, Op
from modellint.link.classes import calls
from modellint.link.classes.definitions import SourceFacts
from modellint.link.classes.signatures import constructor_parameters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.python import Function
    from modellint.graph.value import Parameter, Value
    from modellint.link.classes.models import Classes, ClassModel

Parameters = tuple["Parameter", ...]
_KEYWORD, _REST = "keyword", "var-keyword"


def whole_parameters(model: ClassModel, classes: Classes) -> Parameters | None:
    """The parameters of a constructor, with those of the base that gets its `**kwargs`; None if they are uncertain."""
    known = constructor_parameters(model, classes, any_release=False)
    return _whole(model.mro(), classes) if len(known) == 1 else None


def _whole(mro: Sequence[ClassModel], classes: Classes) -> Parameters | None:
    for index, current in enumerate(mro):
        if current.name == calls.MODULE:
            return ()
        facts = current.facts
        method = facts.method("__init__")
        if method is None:
            if index + 1 == len(mro) and not current.is_complete:
                return None
            continue
        if not isinstance(facts, SourceFacts):
            return None
        function = facts.cls.methods["__init__"]
        own = method.parameters[1:]
        rest = next((one.name for one in own if one.kind == _REST), None)
        if rest is None:
            return own
        call = _base_call(function, rest)
        above = None if call is None else _whole(mro[index + 1 :], classes)
        if call is None or above is None:
            return None
        return (
            *(one for one in own if one.name != rest),
            *_parameters_left(own, call, above),
            *_names_taken(function, rest, own),
        )
    return None


def _base_call(function: Function, rest: str) -> Value | None:
    """The only call that gets `**kwargs`, if it is `super().__init__(…)` and nothing else uses them but by name."""
    text = function.text
    uses = len(re.findall(rf"\b{rest}\b", text))
    named = len(re.findall(rf"\b{rest}\.(?:pop|get)\(\s*[\"'][^\"']*[\"']", text))
    found = [
        event.value
        for event in function.flow.of(EventKind.CALL)
        if _is_base_constructor(event.value) and any(_is_parameter(one, rest) for one in _unpacked_values(event.value))
    ]
    is_all = len(found) == 1 and uses == named + 2  # the parameter itself, and the call
    return found[0] if is_all and not found[0].keywords.keys() & {rest} else None


def _is_base_constructor(call: Value) -> bool:
    callee = call.callee
    if callee.op is not Op.ATTR or callee.data != "__init__" or callee.args[0].op is not Op.CALL:
        return False
    owner = callee.args[0].callee
    return owner.op is Op.GLOBAL and owner.data == "super"


def _is_parameter(value: Value, name: str) -> bool:
    while value.op is Op.UPDATE:
        value = value.args[0]
    return value.op is Op.PARAM and value.data == name


def _unpacked_values(call: Value) -> Iterator[Value]:
    for name, value in zip(reversed(call.data), reversed(call.args), strict=False):
        if name is None:
            yield value


def _parameters_left(own: Parameters, call: Value, above: Parameters) -> Iterator[Parameter]:
    """The parameters of the base constructor that only `**kwargs` can give."""
    names = {one.name for one in own} | set(call.keywords)
    given = sum(one.op is not Op.STARRED for one in call.positional)
    for number, one in enumerate(above):
        is_open = one.kind.startswith("var")
        if one.kind == _REST or (not is_open and one.name not in names and number >= given):
            yield one if is_open else replace(one, kind=_KEYWORD)


def _names_taken(function: Function, rest: str, own: Parameters) -> Iterator[Parameter]:
    """The names that a constructor takes out of its `**kwargs` itself."""
    found = re.findall(rf"\b{rest}\.(?:pop|get)\(\s*[\"']([^\"']*)[\"']", function.text)
    default = next(one for one in own if one.name == rest)
    known = {one.name for one in own}
    for name in dict.fromkeys(found):
        if name not in known:
            yield replace(default, name=name, kind=_KEYWORD, default=NOWHERE)
