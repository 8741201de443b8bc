"""The signatures of constructors and methods."""

from __future__ import annotations

import inspect
import typing
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_MISSING = inspect.Parameter.empty
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def init_of(cls: type) -> Callable[..., Any]:
    """The first constructor that names parameters: one of `*args, **kwargs` alone passes them on to the next."""
    found: list[Callable[..., Any]] = [base.__dict__["__init__"] for base in cls.__mro__ if "__init__" in base.__dict__]
    if _hands_on(found[0]) and (overloads := _overloads(found[0])):
        return overloads[0]
    return next((init for init in found if not _hands_on(init)), found[0])


def _overloads(function: Callable[..., Any]) -> Sequence[Callable[..., Any]]:
    """The overloads of a function (seen since Python 3.11)."""
    find: Callable[[Any], Sequence[Callable[..., Any]]] = getattr(typing, "get_overloads", lambda _: ())
    return find(function)


def _hands_on(init: Callable[..., Any]) -> bool:
    return init is not object.__init__ and not parameters_of(init) and len(inspect.signature(init).parameters) > 1


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a constructor or method that can be passed by name, the receiver left out."""
    if function is object.__init__:
        return []
    found = list(inspect.signature(function).parameters.values())[1:]
    return [parameter for parameter in found if parameter.kind not in VARIADIC]


def annotation_of(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """A parameter's annotation, names in strings resolved; `inspect.Parameter.empty` if that fails."""
    if not isinstance(parameter.annotation, str):
        return parameter.annotation
    try:
        return eval(parameter.annotation, getattr(function, "__globals__", {}))
    except Exception:
        return _MISSING


def is_tensor_type(annotation: Any) -> bool:
    """True for the old types of tensors by dtype (`torch.LongTensor`)."""
    return isinstance(annotation, type(torch.LongTensor)) and annotation is not torch.Tensor


def takes_any_attributes(cls: type) -> bool:
    """True if the constructor of a class takes `**kwargs` alone, and the class has no fields."""
    try:
        parameters = list(inspect.signature(cls).parameters.values())
    except (TypeError, ValueError):
        return False
    return [parameter.kind for parameter in parameters] == [inspect.Parameter.VAR_KEYWORD] and not _fields(cls)


def _fields(cls: type) -> dict[str, Any]:
    return {name: kind for base in cls.__mro__ for name, kind in getattr(base, "__annotations__", {}).items()}
