"""Tokens that are added once the model was made as large as its tokenizer was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.flow.callees import bound
from modellint.graph.value import EventKind, Op, called_name
from modellint.link.names import DefinedFunction
from modellint.link.values.vocabularies import GROWS, may_grow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project

#: The method by which a model of transformers gets as many rows as a tokenizer has tokens.
_RESIZES = "resize_token_embeddings"
#: Through how many functions tokens and models are followed.
_MAX_CALLS = 4
_PARTS = frozenset((Op.UNPACK, Op.INDEX, Op.ITEM))


@dataclass(frozen=True)
class Late:
    """`resized` makes a model as large as a tokenizer is, to which `added` gives more tokens afterwards."""

    resized: Value
    added: Value


def added_late(function: Function, project: Project) -> Iterator[Late]:
    """The tokens that a function, or what it calls, adds after it has had a model resized."""
    calls = list(function.flow.of(EventKind.CALL))
    grown = [
        (number, event, tokenizer)
        for number, event in enumerate(calls)
        for tokenizer in _grown(event, function, project)
    ]
    resized = [number for number, event in enumerate(calls) if grown and _resizes(event, function, project)]
    for number, event, tokenizer in grown:
        before = [at for at in resized if at < number and _is_sure(calls[at], event)]
        if before and before[-1] == resized[-1] and _is_of(tokenizer, calls[before[-1]].value):
            yield Late(calls[before[-1]].value, event.value)


def _is_sure(first: Event, second: Event) -> bool:
    """Whether an event has happened wherever another one does."""
    return first.guard is None or (second.guard is not None and first.guard in tuple(second.guard.chain()))


def _is_of(tokenizer: Value, resized: Value) -> bool:
    """Whether a tokenizer is the one that a model was resized for: the call is given it, or gives it."""
    known = _stored(tokenizer)
    if any(part is tokenizer or part is known for arg in resized.args[1:] for part in arg.walk()):
        return True
    while known.op in _PARTS:
        known = _stored(known.args[0])
    return known is resized


def _stored(value: Value) -> Value:
    """What an attribute was set to, where that is known."""
    while value.op is Op.ATTR and len(value.args) > 1:
        value = value.args[1]
    return value


def _called(event: Event, function: Function, project: Project) -> Function | None:
    """The function of the project that a call is of."""
    callee = event.value.callee
    if callee.op is not Op.GLOBAL and callee.op is not Op.ATTR:
        return None
    definition = project.names.definition(function.module, callee)
    return definition.function if isinstance(definition, DefinedFunction) else None


def _resizes(event: Event, function: Function, project: Project, depth: int = 0) -> bool:
    """Whether a call gives a model as many rows as a tokenizer has tokens."""
    if called_name(event.value.callee) == _RESIZES:
        return True
    other = _called(event, function, project) if depth < _MAX_CALLS else None
    if other is None or other is function:
        return False
    calls = other.flow.of(EventKind.CALL)
    return project.once(
        ("resizes", other, depth), lambda: any(_resizes(inner, other, project, depth + 1) for inner in calls)
    )


def _grown(event: Event, function: Function, project: Project, depth: int = 0) -> Iterator[Value]:
    """The tokenizers that a call gives more tokens, without a model that grows with them."""
    if may_grow(event):
        yield event.value.callee.args[0]
        return
    other = _called(event, function, project) if depth < _MAX_CALLS else None
    if other is None or other is function:
        return
    names = project.once(("given tokens", other, depth), lambda: _given_tokens(other, project, depth + 1))
    yield from (arg for name, arg in bound(other, event.value) if name in names)


def _given_tokens(function: Function, project: Project, depth: int) -> set[str]:
    """The parameters that a function takes for tokenizers, and may give more tokens."""
    if any("resize" in word for word in function.words):
        return set()
    events = function.flow.of(EventKind.CALL)
    found = [value for event in events for value in _grown(event, function, project, depth)]
    return {str(value.data) for value in found if value.op is Op.PARAM}


def mentions(words: frozenset[str]) -> bool:
    """Whether words of a function speak of growing tokenizers."""
    return not words.isdisjoint(GROWS)
