"""Conditions that no object of a class fulfils: its constructor rules them out, by a constant or by an assertion."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.attributes import set_attribute, set_value
from modellint.graph.definitions import DefinedConstant
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, compare_constants, self_attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, PathCondition, Value
    from modellint.rule import Project

    #: The name of a value, the same wherever it is read; None for one that may differ each time.
    Name = Callable[[Value], Hashable | None]
    #: The attribute in which a constructor stores a value; None if it stores it in none.
    Kept = Callable[[Value], str | None]

#: The exceptions whose handlers expect that an attribute is missing.
CATCHING = frozenset(("AttributeError", "Exception", "BaseException"))
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==", "is": "is not", "is not": "is"}
_TRUTH = {"true": "false", "false": "true"}
#: Functions whose result is the same for the same arguments, whenever they are called.
_QUESTIONS = frozenset(("isinstance", "hasattr", "callable", "len"))
#: Operations whose result is named by their operands.
_PLAIN = (Op.CONST, Op.GLOBAL, Op.PARAM, Op.ATTR, Op.COMPARE, Op.INDEX)
#: A constructor's parameters, and parts of them.
_KEPT = (Op.PARAM, Op.ATTR, Op.INDEX)
_DUNDER = re.compile(r"__\w+__")
_DEPTH = 6
#: How many methods are followed, each of which calls the next one.
_CALLS = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """A condition that holds: a named value compares so with a constant, or is `true` or `false`."""

    about: Hashable
    operator: str
    constant: object = None

    def excludes(self, other: Fact) -> bool:
        """True if both facts are about the same value and cannot hold together."""
        if self.about != other.about:
            return False
        return not any(_holds(self, value) and _holds(other, value) for value in _samples(self, other))


def _samples(*facts: Fact) -> Iterator[object]:
    """A value for each way in which comparisons with the constants of the facts may turn out."""
    yield from (None, True, False, "", object())
    for fact in facts:
        yield fact.constant
        if isinstance(fact.constant, int | float):
            yield from (fact.constant - 1, fact.constant + 1, fact.constant + 0.5, fact.constant - 0.5)


def _holds(fact: Fact, value: object) -> bool:
    if fact.operator in _TRUTH:
        return bool(value) is (fact.operator == "true")
    outcome = compare_constants(fact.operator, value, fact.constant)
    # Numbers are not compared with values of other types; of strings, any order may hold.
    return isinstance(fact.constant, str) if outcome is None else outcome


def facts_of(test: Value, truthy: bool, name: Name) -> Iterator[Fact]:
    """The facts that hold where `test` comes out as `truthy`."""
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


def facts_under(guard: PathCondition | None, name: Name) -> list[Fact]:
    """The facts that hold under a path condition."""
    links = () if guard is None else guard.chain()
    return [fact for link in links for fact in facts_of(link.test, link.truthy, name)]


def are_at_odds(facts: Iterable[Fact]) -> bool:
    """True if two of the facts cannot hold together."""
    known = list(facts)
    return any(one.excludes(other) for at, one in enumerate(known) for other in known[at + 1 :])


def name_of(value: Value, kept: Kept | None = None, depth: int = 0) -> Hashable | None:
    """A name for a value that is the same wherever it is written alike.

    `kept` finds the attribute in which a constructor stores the value. Without it, attributes that the method has set
    before have no name.
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
    parts = [name_of(part, kept, depth + 1) for part in value.args]
    return None if None in parts else (value.op.value, str(value.data), *parts)


def attributes_in(guard: PathCondition | None) -> set[str]:
    """The attributes of the object itself that a path condition reads."""
    links = () if guard is None else guard.chain()
    return {name for link in links for part in link.test.walk() if (name := self_attribute(part)) is not None}


def attribute_finder(function: Function) -> Kept:
    """Finds the attribute in which a function stores a value, if it stores nothing else there."""
    kept: dict[str, set[Hashable | None]] = {}
    for name, events in function.flow.stores.items():
        kept[name] = {name_of(event.value) if event.value.op in _KEPT else None for event in events}
    names = {value: name for name, values in kept.items() if len(values) == 1 for value in values}

    def find(value: Value) -> str | None:
        return names.get(name_of(value)) if value.op in _KEPT else None

    return find


def is_unconditional(event: Event) -> bool:
    """True if an event happens exactly once in each call that does not raise."""
    guards = () if event.guard is None else event.guard.chain()
    return not event.loops and not event.handled and all(guard.raised for guard in guards)


def asserted_facts(function: Function, name: Name, event: Event | None = None) -> set[Fact]:
    """The facts without which a function raises an error: in any call, or in one that reaches `event`."""
    there = set() if event is None or event.guard is None else {id(link) for link in event.guard.chain()}
    links = {
        id(link): link
        for other in function.flow.events
        if other.guard is not None and not other.loops
        for link in other.guard.chain()
        if link.raised and all(outer.raised or id(outer) in there for outer in link.chain())
    }
    return {fact for link in links.values() for fact in facts_of(link.test, link.truthy, name)}


def is_never_reached(event: Event, function: Function, cls: Class, project: Project, depth: int = 0) -> bool:
    """True if no object of a class reaches an event in one of its methods."""
    if event.guard is not None:
        found = facts_under(event.guard, name_of)
        asked = {fact.about for fact in found if isinstance(fact.about, tuple)}
        known = [
            fact for kind, name, *_ in asked if kind == "self" for fact in _facts_about_attribute(name, cls, project)
        ]
        known += [
            fact for kind, name, *_ in asked if kind == "global" for fact in _facts_about_constant(name, cls, project)
        ]
        if are_at_odds((*found, *known)):
            return True
    return depth < _CALLS and _is_never_called(function, cls, project, depth)


def _is_never_called(function: Function, cls: Class, project: Project, depth: int) -> bool:
    """True if a method is mentioned in its family only, and only by events that no object reaches."""
    name = function.name
    relatives = queries.family(cls, project).classes
    is_told = any(name in queries.mentions(one, project).told for one in relatives)
    if name == "forward" or is_told or _DUNDER.fullmatch(name):
        return False
    uses = [
        (event, method)
        for one in relatives
        for method in one.methods.values()
        if name in method.words
        for event in method.flow.reads
        if event.value.data == name
    ]
    modules = (cls.module, *queries.files_mentioning(cls.module, project, name))
    return (
        bool(uses)
        and all(is_never_reached(event, method, cls, project, depth + 1) for event, method in uses)
        and not any(queries.is_attribute_read(name, module, project, of_others=True) for module in modules)
    )


def _facts_about_attribute(name: str, cls: Class, project: Project) -> Iterator[Fact]:
    """The facts about an attribute that is set by one method, or in the body, of one class of the family only."""
    setting = [
        one
        for one in queries.family(cls, project).classes
        if name in one.attributes or name in queries.mentions(one, project).stored
    ]
    if len(setting) != 1 or _is_set_elsewhere(name, cls.module, project):
        return
    owner = setting[0]
    stores = {
        method: found
        for method in owner.methods.values()
        if name in method.words and (found := [event for event in method.flow.events if set_attribute(event) == name])
    }
    at_first = owner.attributes.get(name)
    if not stores and name not in owner.rebound and at_first is not None and at_first.op is Op.CONST:
        yield Fact(("self", name), "==", at_first.data)
    if len(stores) != 1 or at_first is not None:
        return
    ((function, events),) = stores.items()
    if any(event.loops or event.handled for event in events):
        return
    values = {(type(value.data), value.data) if value.op is Op.CONST else None for value in map(set_value, events)}
    if len(values) == 1 and None not in values:
        yield Fact(("self", name), "==", set_value(events[0]).data)
    held = set.intersection(
        *(asserted_facts(function, partial(name_of, kept=attribute_finder(function)), event) for event in events)
    )
    for model in project.classes.model(cls).mro():
        constructor = model.cls.methods.get("__init__") if model.cls is not None else None
        if constructor is not None and constructor is not function:
            held |= asserted_facts(constructor, name_of)
    yield from (fact for fact in held if fact.about == ("self", name))


def _facts_about_constant(name: str, cls: Class, project: Project) -> Iterator[Fact]:
    """The fact about a constant of the module that nothing sets again."""
    definition = project.names.resolve(cls.module, name)
    if isinstance(definition, DefinedConstant) and definition.value.op is Op.CONST:
        home, last = definition.module, definition.name
        is_set_again = last in home.rebound or f"global {last}" in home.text
        if not is_set_again and not _is_set_elsewhere(last, home, project):
            yield Fact(("global", name), "==", definition.value.data)


def _is_set_elsewhere(name: str, module: ModuleFacts, project: Project) -> bool:
    """True if code sets an attribute of this name on another object than its own."""
    others = (one for word in (f". {name}", f"' {name}") for one in queries.files_mentioning(module, project, word))
    return any(queries.owners_set(name, one, project) for one in (module, *others))
