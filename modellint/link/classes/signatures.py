"""Constructor parameters that are certain, and the arguments of a call that do not fit them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.graph.definitions import BARE_BASES
from modellint.graph.value import EventKind, Op, is_super
from modellint.knowledge.facts import ShippedFacts
from modellint.link import library_names
from modellint.link.classes.definitions import SourceFacts
from modellint.link.names import DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modellint.graph.definitions import Definition
    from modellint.graph.value import Parameter, Value
    from modellint.link.classes.models import Classes, ClassModel

Parameters = tuple["Parameter", ...]


def constructor_parameters(
    model: ClassModel, classes: Classes, *, any_release: bool, follows_keywords: bool = False
) -> tuple[Parameters, ...]:
    """The parameter lists of a class's constructor, without the receiver.

    Several if the described releases of its package differ and `any_release` may be in use. None at all if
    they are uncertain: an unknown base comes first, or `__new__`, a metaclass or a decorator may change them.
    With `follows_keywords`, what `super().__init__(**kwargs)` takes stands for `**kwargs`.
    """
    return _constructor(model.mro(), classes, any_release=any_release, follows_keywords=follows_keywords)


def _constructor(
    chain: Sequence[ClassModel], classes: Classes, *, any_release: bool, follows_keywords: bool
) -> tuple[Parameters, ...]:
    """The parameter lists of the first constructor in a chain of classes."""
    for at, current in enumerate(chain):
        facts = current.facts
        if facts.fields is not None or facts.has_method("__new__") or _is_altered(facts):
            return ()
        method = facts.method("__init__")
        if method is None and "__init__" in facts.attributes:
            bound = _partly_given(facts.attributes["__init__"], current, classes)
            return () if bound is None else (bound,)
        if method is not None:
            if isinstance(facts, SourceFacts) and facts.cls.methods["__init__"].signature.decorators:
                return ()
            own = method.parameters[1:]
            call = _passing_call(facts) if follows_keywords else None
            if call is not None:
                known = _of_library(facts.bases, classes)
                if known is None and all(classes.is_known_base(base) for base in facts.bases):
                    known = _constructor(chain[at + 1 :], classes, any_release=any_release, follows_keywords=True)
                return tuple(_with_passed(own, call, one) for one in known) if known else (own,)
            return (own, *(_older(facts, own) if any_release and isinstance(facts, ShippedFacts) else ()))
        inherited = _of_library(tuple(facts.bases), classes)
        if inherited is not None:
            return inherited
        if not all(classes.is_known_base(base) for base in facts.bases):
            return ()
    return ((),)


def _passing_call(facts: object) -> Value | None:
    """The call `super().__init__(…, **kwargs)` that a constructor always makes, if it does nothing else with them."""
    function = facts.cls.methods["__init__"] if isinstance(facts, SourceFacts) else None
    name = function.parameters[-1].name if function is not None and function.parameters else ""
    if function is None or function.parameters[-1].kind != "var-keyword":
        return None
    word = re.compile(rf"\b{name}\b")
    if len(word.findall(function.text)) - len(word.findall(function.docstring or "")) != 2:  # here, and in the call
        return None
    if any(event.guard is not None for event in function.flow.of(EventKind.RETURN)):
        return None
    for event in function.flow.of(EventKind.CALL):
        call = event.value
        is_next = call.callee.op is Op.ATTR and call.callee.data == "__init__" and is_super(call.callee.args[0])
        if is_next and event.guard is None and len(call.callee.args[0].args) == 1:
            return call if None in call.data and not any(p.op is Op.STARRED for p in call.positional) else None
    return None


def _with_passed(own: Parameters, call: Value, behind: Parameters) -> Parameters:
    """The parameters of a constructor that passes its `**kwargs` on to another one."""
    names = {p.name for p in own} | call.keywords.keys()
    given = len(call.positional)
    left = [p for at, p in enumerate(behind) if p.kind != "positional" or at >= given]
    passed = [replace(p, kind="keyword") for p in left if not p.kind.startswith("var-") and p.name not in names]
    plain, rest = own[:-1], [p for p in left if p.kind == "var-keyword"]
    return (*plain, *passed, *rest)


def _partly_given(value: Value, model: ClassModel, classes: Classes) -> Parameters | None:
    """The parameters of `partialmethod(Base.__init__, rate=0.1)`, the receiver left out; None of anything else."""
    module = None if model.cls is None else model.cls.module
    if module is None or value.op is not Op.CALL or value.has_unpacking or not value.positional:
        return None
    target, *given = value.positional
    if classes.names.definition(module, value.callee) != External("functools.partialmethod"):
        return None
    function = classes.names.definition(module, target)
    if not isinstance(function, DefinedFunction) or function.function.signature.decorators:
        return None
    left = function.function.parameters[1 + len(given) :]
    return tuple(replace(p, default=value.keywords.get(p.name, p.default)) for p in left)


def _of_library(found_bases: Iterable[Definition | None], classes: Classes) -> tuple[Parameters, ...] | None:
    """The parameters of a constructor that a described library's class hands down; None if there is none.

    A class without parameters may have no constructor either, and then one of the other bases decides. A class
    without bases may pass `**kwargs` on, which the facts leave out, and then the next one takes them.
    """
    bases = tuple(found_bases)
    first = bases[0] if bases else None
    found = library_names.look_up(first.name, classes.project) if isinstance(first, External) else None
    if not isinstance(found, library_names.Found) or found.kind != "class":
        return None
    is_alone = all(isinstance(one, External) and one.name in BARE_BASES for one in bases[1:])
    return found.signatures if is_alone or (found.bases and all(found.signatures)) else ()


def _is_altered(facts: object) -> bool:
    """True if a metaclass, or a decorator of a class without constructor, may change its parameters."""
    if not isinstance(facts, SourceFacts):
        return False
    head = facts.cls.head
    metaclass = head.keywords.get("metaclass")
    if metaclass is not None and metaclass.data != "ABCMeta":
        return True
    return not all(map(_is_registering, head.decorators)) and not facts.has_method("__init__")


def _is_registering(decorator: Value) -> bool:
    """True if a decorator returns the class: `@MODELS.register_module()`. Source: mmengine 0.10.7, `Registry`."""
    callee = decorator.callee if decorator.op is Op.CALL else decorator
    return callee.op is Op.ATTR and callee.data == "register_module"


def _older(facts: ShippedFacts, known: Parameters) -> tuple[Parameters, ...]:
    """The differing parameter lists of the other described releases."""
    found = []
    for release in knowledge.package(facts.name.partition(".")[0]).releases[1:]:
        other = knowledge.class_facts(facts.name, release)
        method = other.method("__init__") if other is not None else None
        if method is not None and _shape(method.parameters[1:]) != _shape(known):
            found.append(method.parameters[1:])
    return tuple(found)


def _shape(parameters: Parameters) -> list[tuple[str, str, bool]]:
    return [(p.name, p.kind, p.default is not None) for p in parameters]
