"""Texts for places and facts that the writers share."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from modellint.mapping.model import STAGES, State
from modellint.reporters.text import printable

if TYPE_CHECKING:
    from modellint.mapping.model import Fact, Usage
    from modellint.reporters import View
    from modellint.source import Place

_UNITS = ("KiB", "MiB", "GiB", "TiB")
_WORDS = {State.NO: "-", State.LOOSE: "left out", State.UNKNOWN: "?", State.YES: "yes", State.MAYBE: "maybe"}


def position(place: Place, view: View, *, short: bool = False) -> str:
    """`path:line`; with `short` the file's name only."""
    path = view.path(place.path)
    return f"{path.rpartition('/')[2] if short else path}:{place.span.line}"


def fact_text(fact: Fact, name: str = "") -> str:
    """The cause of a fact, with `?` if it depends on the run; `modules` for an entry named like the layer."""
    if not fact.via or fact.state not in (State.YES, State.MAYBE):
        return _WORDS[fact.state]
    via = shortened(fact.via)
    if via == f"modules[{name}]":
        via = "modules"
    return via if fact.state is State.YES else f"{via}?"


def shortened(text: str) -> str:
    """`Adam` of `hparams["Adam"]`, `opt_class` of `self.hparams.opt_class`, `model` of `recoverables[model]`."""
    loaded = text.partition("[loadables][")[2]
    if loaded:
        return loaded.removesuffix("]")
    for start, end in (
        *(('hparams["', '"]'), ("hparams['", "']"), ("recoverables[", "]"), ("self.hparams.", "")),
        ("self.", ""),
    ):
        if text.startswith(start) and text.endswith(end):
            return text.removeprefix(start).removesuffix(end)
    return text


def stages_text(use: Usage) -> str:
    """The stages of a use, `train, valid`; "" if it is used in every stage, or if they are not known."""
    if len(use.stages) in (0, len(STAGES)):
        return ""
    return ", ".join(stage.lower() for stage in use.stages)


def use_text(use: Usage, view: View, *, short: bool) -> str:
    """A use as `train.py:83`, with its stages and users; with `short`, only the first user."""
    text = position(use.place, view, short=True)
    stages = stages_text(use)
    if stages:
        text += f" ({stages})"
    if use.owners:
        text += f" through {use.owners[0] if short else ' > '.join(use.owners)}"
    return text


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def memory_text(number: int) -> str:
    """Bytes as `512 B`, `1.5 MiB` or `131.4 GiB`."""
    if number < 1024:
        return f"{number} B"
    power = min((number.bit_length() - 1) // 10, len(_UNITS))
    return f"{number / 1024**power:,.1f} {_UNITS[power - 1]}"


def class_text(name: str) -> str:
    """The last part of a dotted name."""
    return name.rpartition(".")[2]


def markup(text: str) -> str:
    """Text for a web page, without markup and control characters."""
    return escape(printable(text))
