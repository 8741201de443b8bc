"""Calls of classes whose constructors take `*args` or `**kwargs`: whether what they pass them on to takes them, too."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from .signatures import VARIADIC
from .standins import described
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: A keyword that no constructor has a parameter for.
_NONSENSE = "modellint_knows_no_such_keyword"
#: The number for parameters without a default: a width or a count that suits most layers.
_NUMBER = 8
#: The hint that newer Pythons add to an error, which depends on how a name is spelt.
_HINT = ". Did you mean"


def open_call(name: str, found: Callable[..., Any], bound: inspect.BoundArguments, *, is_final: bool) -> Verdict:
    """Make an object of a class that binds the arguments: confirmed if what it passes them on to refuses one by name.

    A refusal of a name differs from one of a value in that it is the same for a name which nobody knows. With
    `is_final`, the lack of an argument that a base class needs confirms, too. A function is not called.
    """
    if not isinstance(found, type):
        return unconfirmed(f"`{name}` may pass its arguments on, and is not called")
    rest = next((p.name for p in bound.signature.parameters.values() if p.kind is p.VAR_KEYWORD), "")
    passed_on: Mapping[str, Any] = bound.arguments.get(rest, {})
    given = {key: _value(found, key) for key in bound.arguments if key != rest}
    listed = next((p.name for p in bound.signature.parameters.values() if p.kind is p.VAR_POSITIONAL), "")
    if given.pop(listed, None) is not None and bound.arguments[listed]:
        return unconfirmed(f"`{name}` may pass its arguments on by position, and nothing says which values they have")
    for key, parameter in bound.signature.parameters.items() if not is_final else ():
        if parameter.default is parameter.empty and parameter.kind not in VARIADIC:
            given.setdefault(key, _value(found, key))
    others = {key: _value(found, key) for key in passed_on}
    error = _error(found, {**given, **others})
    if error is None:
        return refuted(f"`{name}` can be made with these arguments")
    told = f"making `{name}` raises {described(error)}"
    for key in passed_on:
        rest_of_them = {other: value for other, value in others.items() if other != key}
        unknown = _error(found, {**given, **rest_of_them, _NONSENSE: others[key]})
        is_named = re.search(rf"\b{key}\b", str(error)) is not None
        if is_named and type(unknown) is type(error) and _words_of(unknown, _NONSENSE) == _words_of(error, key):
            return confirmed(told)
    if is_final and isinstance(error, TypeError) and _is_lack(found, error):
        return confirmed(told)
    return unconfirmed(told)


def _error(found: type, given: Mapping[str, Any]) -> Exception | None:
    """The error of a constructor; None if it makes an object."""
    try:
        found(**given)
    except Exception as error:
        return error
    return None


def _words_of(error: Exception | None, name: str) -> str:
    """The text of an error without the name in it, and without a hint."""
    return str(error).partition(_HINT)[0].replace(name, "")


def _value(found: type, name: str) -> Any:
    """A value for a parameter of a constructor, or of one that it passes arguments on to: its default, or a number."""
    for base in found.__mro__:
        init = base.__dict__.get("__init__")
        try:
            parameter = inspect.signature(init).parameters.get(name) if init is not None else None
        except ValueError:
            continue
        if parameter is not None:
            return _NUMBER if parameter.default is parameter.empty else parameter.default
    return None


def _is_lack(found: type, error: TypeError) -> bool:
    """True if a base class refuses to be made for want of an argument."""
    bases = {f"{base.__qualname__}.__init__()" for base in found.__mro__}
    callee, _, rest = str(error).partition(" ")
    return callee in bases and rest.startswith("missing ")
