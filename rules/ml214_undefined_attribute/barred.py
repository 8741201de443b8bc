"""Conditions that no object of a class fulfils: its constructor sets something else for good, or refuses them."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from modellint.flow.truth import compare_constants
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.classes.families import family
from modellint.link.classes.spoken import is_read, kept_name, kept_value, setters_of_others, spoken
from modellint.link.names import DefinedConstant
from modellint.link.searched import mentioning

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, PathCondition, Value
    from modellint.link.project import Project

    #: What a value is called by wherever it is read; None for one that may be another thing each time.
    Name = Callable[[Value], Hashable | None]
    #: As which attribute a constructor keeps a value.
    Kept = Callable[[Value], str | None]

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==", "is": "is not", "is not": "is"}
_TRUTH = {"true": "false", "false": "true"}
#: What tells the same of the same thing whenever it is asked.
_QUESTIONS = frozenset(("isinstance", "hasattr", "callable", "len"))
#: What is called by what it is made of.
_PLAIN = (Op.CONST, Op.GLOBAL, Op.PARAM, Op.ATTR, Op.COMPARE, Op.INDEX)
#: What a constructor is given, and parts of it.
_KEPT = (Op.PARAM, Op.ATTR, Op.INDEX)
_DUNDER = re.compile(r"__\w+__")
_DEPTH = 6
#: How many methods are followed, each of which calls the next one.
_CALLS = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that holds: a named value compares so with a constant, or is `true` or `false`."""

    about: Hashable
    operator: str
    constant: object = None

    def excludes(self, other: Fact) -> bool:
        """Whether another fact about the same value cannot hold."""
        if self.about != other.about:
            return False
        return not any(_holds(self, value) and _holds(other, value) for value in _samples(self, other))


def _samples(*facts: Fact) -> Iterator[object]:
    """A value for each way in which comparisons with the constants of facts may turn out."""
    yield from (None, True, False, "", object())
    for fact in facts:
        yield fact.constant
        if isinstance(fact.constant, int | float):
            yield from (fact.constant - 1, fact.constant + 1, fact.constant + 0.5, fact.constant - 0.5)


def _holds(fact: Fact, value: object) -> bool:
    if fact.operator in _TRUTH:
        return bool(value) is (fact.operator == "true")
    outcome = compare_constants(fact.operator, value, fact.constant)
    # Numbers are not compared with what is none; how texts are ordered is not for us to say.
    return isinstance(fact.constant, str) if outcome is None else outcome


def facts_of(test: Value, truthy: bool, name: Name) -> Iterator[Fact]:
    """What is known to hold where a test is true, or is not."""
    if test.op is Op.UNARY and test.data == "not":
        yield from facts_of(test.args[0], not truthy, name)
    elif test.op is Op.BOOL:
        if (test.data == "and") is truthy:
            for part in test.args:
                yield from facts_of(part, truthy, name)
    elif test.op is Op.COMPARE and test.data in _NEGATED and test.args[1].op is Op.CONST:
        about = name(test.args[0])
        if about is not None:
            yield Fact(about, test.data if truthy else _NEGATED[test.data], test.args[1].data)
    elif test.op is Op.CONST:
        yield Fact("constant", "==", test.data)
        yield Fact("constant", "true" if truthy else "false")
    else:
        about = name(test)
        if about is not None:
            yield Fact(about, "true" if truthy else "false")


def along(guard: PathCondition | None, name: Name) -> list[Fact]:
    """What holds where code stands under a condition."""
    links = () if guard is None else guard.chain()
    return [fact for link in links for fact in facts_of(link.test, link.truthy, name)]


def are_at_odds(facts: Iterable[Fact]) -> bool:
    """Whether some facts cannot hold together."""
    known = list(facts)
    return any(one.excludes(other) for at, one in enumerate(known) for other in known[at + 1 :])


def named(value: Value, kept: Kept | None = None, depth: int = 0) -> Hashable | None:
    """A name for a value that is the same wherever it is written alike.

    `kept` tells as which attribute a constructor keeps it. In other methods what they have set before has no name.
    """
    attribute = self_attribute(value)
    if attribute is not None:
        return ("self", attribute) if kept is not None or len(value.args) == 1 else None
    attribute = None if kept is None else kept(value)
    if attribute is not None:
        return "self", attribute
    is_question = value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data in _QUESTIONS
    if depth > _DEPTH or not (
        is_question or value.op in (Op.CONST, Op.GLOBAL, Op.PARAM, Op.ATTR, Op.COMPARE, Op.INDEX)
    ):
        return None
    parts = [named(part, kept, depth + 1) for part in value.args]
    return None if None in parts else (value.op.value, str(value.data), *parts)


def attributes_in(guard: PathCondition | None) -> set[str]:
    """The attributes of its own object that a condition asks for."""
    links = () if guard is None else guard.chain()
    return {name for link in links for part in link.test.walk() if (name := self_attribute(part)) is not None}


def keeper(function: Function) -> Kept:
    """Tells as which attribute a function keeps a value, and nothing else."""
    kept: dict[str, set[Hashable | None]] = {}
    for event in function.flow.of(EventKind.STORE):
        name = None if event.target is None else self_attribute(event.target)
        if name is not None:
            kept.setdefault(name, set()).add(named(event.value) if event.value.op in _KEPT else None)
    names = {value: name for name, values in kept.items() if len(values) == 1 for value in values}

    def find(value: Value) -> str | None:
        return names.get(named(value)) if value.op in _KEPT else None

    return find


def is_unconditional(event: Event) -> bool:
    """Whether a function that goes on does something once, whatever holds."""
    guards = () if event.guard is None else event.guard.chain()
    return not event.loops and not event.handled and all(guard.raised for guard in guards)


def asserted(function: Function, name: Name, event: Event | None = None) -> set[Fact]:
    """What a function asserts, or raises errors for: whatever holds, or where it comes to an event."""
    there = set() if event is None or event.guard is None else {id(link) for link in event.guard.chain()}
    links = {
        id(link): link
        for other in function.flow.events
        if other.guard is not None and not other.loops
        for link in other.guard.chain()
        if link.raised and all(outer.raised or id(outer) in there for outer in link.chain())
    }
    return {fact for link in links.values() for fact in facts_of(link.test, link.truthy, name)}


def is_never_so(event: Event, function: Function, cls: Class, project: Project, depth: int = 0) -> bool:
    """Whether no object of a class comes to what a method of it does."""
    if event.guard is not None:
        found = along(event.guard, named)
        asked = {fact.about for fact in found if isinstance(fact.about, tuple)}
        known = [fact for kind, name, *_ in asked if kind == "self" for fact in _settled(name, cls, project)]
        known += [fact for kind, name, *_ in asked if kind == "global" for fact in _switched(name, cls, project)]
        if are_at_odds((*found, *known)):
            return True
    return depth < _CALLS and _is_never_called(function, cls, project, depth)


def _is_never_called(function: Function, cls: Class, project: Project, depth: int) -> bool:
    """Whether only such methods of the family speak of a method that no object comes to, or do so where none comes."""
    name = function.name
    relatives = family(cls, project).classes
    if name == "forward" or _DUNDER.fullmatch(name) or any(name in spoken(one, project).told for one in relatives):
        return False
    uses = [
        (event, method)
        for one in relatives
        for method in one.methods.values()
        if name in method.words
        for event in method.flow.reads
        if event.value.data == name
    ]
    modules = (cls.module, *mentioning(project, cls.module, name))
    return (
        bool(uses)
        and all(is_never_so(event, method, cls, project, depth + 1) for event, method in uses)
        and not any(is_read(name, module, project, of_others=True) for module in modules)
    )


def _settled(name: str, cls: Class, project: Project) -> Iterator[Fact]:
    """What holds of an attribute that one method of one class of the family sets, or the head of that class."""
    setting = [
        one for one in family(cls, project).classes if name in one.attributes or name in spoken(one, project).stored
    ]
    if len(setting) != 1 or _is_set_elsewhere(name, cls.module, project):
        return
    owner = setting[0]
    stores = {
        method: found
        for method in owner.methods.values()
        if name in method.words and (found := [event for event in method.flow.events if kept_name(event) == name])
    }
    at_first = owner.attributes.get(name)
    if not stores and name not in owner.rebound and at_first is not None and at_first.op is Op.CONST:
        yield Fact(("self", name), "==", at_first.data)
    if len(stores) != 1 or at_first is not None:
        return
    ((function, events),) = stores.items()
    if any(event.loops or event.handled for event in events):
        return
    values = {(type(value.data), value.data) if value.op is Op.CONST else None for value in map(kept_value, events)}
    if len(values) == 1 and None not in values:
        yield Fact(("self", name), "==", kept_value(events[0]).data)
    held = set.intersection(*(asserted(function, partial(named, kept=keeper(function)), event) for event in events))
    for model in project.classes.model(cls).mro():
        constructor = model.cls.methods.get("__init__") if model.cls is not None else None
        if constructor is not None and constructor is not function:
            held |= asserted(constructor, named)
    yield from (fact for fact in held if fact.about == ("self", name))


def _switched(name: str, cls: Class, project: Project) -> Iterator[Fact]:
    """What holds of a constant of the module that nothing sets again."""
    definition = project.names.resolve(cls.module, name)
    if isinstance(definition, DefinedConstant) and definition.value.op is Op.CONST:
        home, last = definition.module, definition.name
        is_set_again = last in home.rebound or f"global {last}" in home.text
        if not is_set_again and not _is_set_elsewhere(last, home, project):
            yield Fact(("global", name), "==", definition.value.data)


def _is_set_elsewhere(name: str, module: ModuleFacts, project: Project) -> bool:
    """Whether code sets an attribute of a name of anything but its own object."""
    others = (one for word in (f". {name}", f"' {name}") for one in mentioning(project, module, word))
    return any(setters_of_others(one, name, project) for one in (module, *others))
