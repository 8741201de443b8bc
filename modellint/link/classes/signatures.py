"""Constructor parameters that are certain, and the arguments of a call that do not fit them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.graph.value import Op
from modellint.knowledge.facts import ShippedFacts
from modellint.link import library_names
from modellint.link.classes.definitions import SourceFacts
from modellint.link.names import DefinedFunction, External

if TYPE_CHECKING:
    from modellint.graph.definitions import Definition
    from modellint.graph.value import Parameter, Value
    from modellint.link.classes.models import Classes, ClassModel

Parameters = tuple["Parameter", ...]
#: Bases that leave the constructor to others.
_NEUTRAL = frozenset(("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"))


def constructor_parameters(model: ClassModel, classes: Classes, *, any_release: bool) -> tuple[Parameters, ...]:
    """The parameter lists of a class's constructor, without the receiver.

    Several if the described releases of its package differ and `any_release` may be in use. None at all if
    they are uncertain: an unknown base comes first, or `__new__`, a metaclass or a decorator may change them.
    """
    for current in model.mro():
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
            return (own, *(_older(facts, own) if any_release and isinstance(facts, ShippedFacts) else ()))
        inherited = _of_library(facts.bases, classes)
        if inherited is not None:
            return inherited
        if not all(_is_known(base, classes) for base in facts.bases):
            return ()
    return ((),)


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


def _of_library(bases: tuple[Definition | None, ...], classes: Classes) -> tuple[Parameters, ...] | None:
    """The parameters of a constructor that a described library's class hands down; None if there is none.

    A class without parameters may have no constructor either, and then one of the other bases decides.
    """
    first = bases[0] if bases else None
    found = library_names.look_up(first.name, classes.project) if isinstance(first, External) else None
    if not isinstance(found, library_names.Found) or found.kind != "class":
        return None
    is_alone = all(isinstance(one, External) and one.name in _NEUTRAL for one in bases[1:])
    return found.signatures if is_alone or all(found.signatures) else ()


def _is_known(base: object, classes: Classes) -> bool:
    if isinstance(base, External) and base.name in _NEUTRAL:
        return True
    return classes.of(base) is not None  # type: ignore[arg-type]


def _is_altered(facts: object) -> bool:
    """True if a metaclass, or a decorator of a class without constructor, may change its parameters."""
    if not isinstance(facts, SourceFacts):
        return False
    head = facts.cls.head
    metaclass = head.keywords.get("metaclass")
    if metaclass is not None and metaclass.data != "ABCMeta":
        return True
    return bool(head.decorators) and not facts.has_method("__init__")


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
