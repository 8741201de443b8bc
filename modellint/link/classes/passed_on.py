"""Constructors that pass `**kwargs` on to the constructor of a base class, which takes the names then."""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
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
        taken = _names_taken(function, rest)
        call = None if taken is None else _base_call(function, rest)
        above = None if call is None else _whole(mro[index + 1 :], classes)
        if taken is None or call is None or above is None:
            return None
        known, default = {one.name for one in own}, next(one for one in own if one.name == rest)
        return (
            *(one for one in own if one.name != rest),
            *_parameters_left(own, call, above),
            *(replace(default, name=one, kind=_KEYWORD, default=NOWHERE) for one in taken if one not in known),
        )
    return None


def _base_call(function: Function, rest: str) -> Value | None:
    """The call of the base constructor that gets `**kwargs`, if it is the only one and gives nothing of that name."""
    found = [
        event.value
        for event in function.flow.of(EventKind.CALL)
        if _is_base_constructor(event.value) and any(_is_parameter(one, rest) for one in _unpacked_values(event.value))
    ]
    return found[0] if len(found) == 1 and not found[0].keywords.keys() & {rest} else None


def _names_taken(function: Function, rest: str) -> tuple[str, ...] | None:
    """The names that a constructor takes out of its `**kwargs` itself.

    None if it uses them otherwise than by such names and by unpacking them once.
    """
    try:
        tree = ast.parse(textwrap.dedent(function.text))
    except (SyntaxError, ValueError):
        return None
    count: Counter[str] = Counter()
    taken: dict[str, None] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if name == rest:
                count["uses"] += 1
            case ast.keyword(arg=None, value=ast.Name(id=name)) if name == rest:
                count["unpacked"] += 1
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="pop" | "get"), args=[ast.Constant(value=str(key)), *_]
            ) if name == rest:
                count["taken"] += 1
                taken[key] = None
    return tuple(taken) if count["unpacked"] == 1 and count["uses"] == count["taken"] + 1 else None


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
