"""Conditions that no object of a class fulfils: its constructor sets something else for good, or refuses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.truth import compare_constants
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.classes.families import family
from modellint.link.classes.spoken import kept_name, setters_of_others, spoken
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
_DEPTH = 6


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


def keeper(constructor: Function) -> Kept:
    """Tells as which attribute a constructor keeps a value, whatever holds."""
    kept = [
        (event.value, self_attribute(event.target))
        for event in constructor.flow.of(EventKind.STORE)
        if event.target is not None and is_unconditional(event) and event.value.op in (Op.PARAM, Op.ATTR, Op.INDEX)
    ]
    names = {named(value): name for value, name in kept if name is not None}

    def find(value: Value) -> str | None:
        return names.get(named(value)) if value.op in (Op.PARAM, Op.ATTR, Op.INDEX) else None

    return find


def is_unconditional(event: Event) -> bool:
    """Whether a function that goes on does something once, whatever holds."""
    guards = () if event.guard is None else event.guard.chain()
    return not event.loops and not event.handled and all(guard.raised for guard in guards)


def asserted(constructor: Function, name: Name) -> list[Fact]:
    """What a constructor asserts, whatever holds, or raises errors for."""
    links = {
        id(link): link
        for event in constructor.flow.events
        if event.guard is not None and not event.loops
        for link in event.guard.chain()
        if all(outer.raised for outer in link.chain())
    }
    return [fact for link in links.values() for fact in facts_of(link.test, link.truthy, name)]


def is_never_so(event: Event, cls: Class, project: Project) -> bool:
    """Whether no object of a class comes to what a method of it does under a condition."""
    if event.guard is None:
        return False
    found = along(event.guard, named)
    asked = {str(fact.about[1]) for fact in found if isinstance(fact.about, tuple) and fact.about[0] == "self"}
    known = [fact for name in asked for fact in _settled(name, cls, project)]
    switches = {str(fact.about[1]) for fact in found if isinstance(fact.about, tuple) and fact.about[0] == "global"}
    known += [fact for name in switches for fact in _switched(name, cls, project)]
    return are_at_odds((*found, *known))


def _settled(name: str, cls: Class, project: Project) -> Iterator[Fact]:
    """What holds of an attribute that one class of the family sets, in its constructor or in its head."""
    setting = [
        one for one in family(cls, project).classes if name in one.attributes or name in spoken(one, project).stored
    ]
    if len(setting) != 1 or _is_set_elsewhere(name, cls.module, project):
        return
    owner = setting[0]
    functions = owner.assigned.get(name, [])
    constructor = owner.methods.get("__init__")
    if not functions and name in owner.attributes:
        value = owner.attributes[name]
        if value.op is Op.CONST and name not in owner.rebound:
            yield Fact(("self", name), "==", value.data)
    if functions != [constructor] or constructor is None or name in owner.attributes:
        return
    stores = [event for event in constructor.flow.events if kept_name(event) == name]
    if len(stores) == 1 and is_unconditional(stores[0]):
        if stores[0].value.op is Op.CONST:
            yield Fact(("self", name), "==", stores[0].value.data)
        kept = keeper(constructor)
        yield from (
            fact for fact in asserted(constructor, lambda value: named(value, kept)) if fact.about == ("self", name)
        )


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
