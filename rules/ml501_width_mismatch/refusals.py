"""The errors that torch raises for widths that do not fit, and the calls where a run raises them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims
from modellint.graph.value import EventKind, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.graph.python import Function
    from modellint.graph.value import Value

    from .meetings import Misfit
    from .table import Argument

_CHANNELS = ("RuntimeError", "to have {taken} channels, but got {given} channels")
_STATISTICS = ("RuntimeError", "running_mean should contain {given} elements not {taken}")
_RECURRENT = ("RuntimeError", "input.size(-1) must be equal to input_size. Expected {taken}, got {given}")
_ATTENTION = ("AssertionError", "was expecting embedding dimension of {taken}, but got {given}")
#: The type of the error, and a part of its words, by the beginning of the layer's name; where there are two texts, the
#: last one has no numbers.
_SAID: dict[str, tuple[str, ...]] = {
    "Linear": ("RuntimeError", "x{given} and {taken}x", "mat1 and mat2 shapes cannot be multiplied"),
    "Conv": _CHANNELS,
    "BatchNorm": _STATISTICS,
    "GroupNorm": ("RuntimeError", "size equal to the number of channels in input"),
    "LayerNorm": ("RuntimeError", "Given normalized_shape=[{taken}]"),
    "RMSNorm": ("RuntimeError", "Given normalized_shape=[{taken}]"),
    "RNN": _RECURRENT,
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "MultiheadAttention": _ATTENTION,
    "Transformer": _ATTENTION,
}


def refusal_of(misfit: Misfit) -> claims.Refused | None:
    """The claim that a call of a layer is refused, where calling the function around it shows that."""
    said = next((said for name, said in _SAID.items() if misfit.layer.name.startswith(name)), None)
    given, taken = misfit.given.size.number, misfit.taken.number
    if said is None or (given is not None and given == taken) or (misfit.is_one_side and not misfit.is_default):
        return None
    if given is None or taken is None:  # as large as the run makes them
        words = max((part for part in re.split(r"\{\w+\}", said[-1])), key=len)
    else:
        words = said[1].format(given=given, taken=taken)
    place, within = _place(misfit)
    return None if place is None else claims.Refused(place, said[0], words, within)


def division_refusal(place: Place, parts: Argument) -> claims.Refused:
    """The claim that a constructor is refused."""
    if "num_heads" in parts or "nhead" in parts:
        return claims.Refused(place, "AssertionError", "embed_dim must be divisible by num_heads")
    return claims.Refused(place, "ValueError", f"must be divisible by {parts[1]}")


def _place(misfit: Misfit) -> tuple[Place | None, str]:
    """The call that fails, of the layer or of its `Sequential`, and the function of the file that leads there."""
    call, met = misfit.call, misfit.met
    module = call.frame.module
    if met is None:
        calls = () if misfit.around is None else _calls_of(misfit.around, call.frame.function)
        return next((module.place(found) for found in calls), None), ""
    outer = met.frame
    while outer.caller is not None:
        outer = outer.caller
    if misfit.given.maker is None or met.frame.module is not module or outer.module is not module:
        return None, ""
    return module.place(met.value), "" if outer is met.frame else outer.function.qualname


def _calls_of(made: Value, function: Function) -> Iterator[Value]:
    """The calls, in other methods and outside conditions, of the layer that a constructor stores."""
    owner = function.owner
    stores = function.flow.stores.items()
    names = {name for name, events in stores if any(event.value is made for event in events)}
    for method in owner.methods.values() if owner is not None else ():
        for event in method.flow.of(EventKind.CALL):
            if self_attribute(event.value.callee) in names and event.guard is None:
                yield event.value
