"""Which names the modules of a described package offer, and what their functions take.

One JSON file per package beside this one, with all described releases together: a name that one of them has is there.

    releases   newest first
    redirects  modules that stand for another module
    modules    by name: [classes, functions, other names, is open]; classes and other names as texts with blanks
               between them; functions (and classes that the facts do not describe) by name with their parameters,
               "a b= *c d: e:= **f", one text for each way in which the releases differ, None if they are not known
               `is open`: 1 where the module may have more names than stand there
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.graph.python import Parameter
from modellint.graph.value import Op, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

_catalogues: dict[str, Catalogue] = {}
#: A default value, whatever it is.
_SOME_DEFAULT = Value(Op.UNKNOWN, (), None, None)


@dataclass(frozen=True, slots=True)
class Module:
    """The names of one module."""

    classes: frozenset[str]
    functions: dict[str, list[str] | None]
    others: frozenset[str]
    is_open: bool

    def signatures(self, name: str) -> tuple[tuple[Parameter, ...], ...]:
        """The parameters of a function or class, one tuple for each way in which the releases differ."""
        return tuple(read_parameters(text) for text in self.functions.get(name) or ())

    def names(self) -> set[str]:
        return {*self.classes, *self.functions, *self.others}


class Catalogue:
    """The modules of one package."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self.releases: tuple[str, ...] = tuple(data["releases"])

    @cached_property
    def modules(self) -> frozenset[str]:
        return frozenset(self._data["modules"])

    def module(self, name: str) -> Module | None:
        row = self._data["modules"].get(name)
        if row is None:
            return None
        classes, functions, others, is_open = row
        return Module(frozenset(classes.split()), functions, frozenset(others.split()), bool(is_open))

    def redirected(self, name: str) -> str:
        """The name under which the package now keeps what it used to keep under `name`."""
        redirects: dict[str, str] = self._data["redirects"]
        prefix = name
        while prefix and prefix not in redirects:
            prefix = prefix.rpartition(".")[0]
        return redirects[prefix] + name[len(prefix) :] if prefix else name

    def submodules(self, name: str) -> set[str]:
        """The last parts of the names of the modules right inside of a package."""
        start = f"{name}."
        return {other[len(start) :].partition(".")[0] for other in self.modules if other.startswith(start)}


def write_parameters(parameters: Iterable[Parameter]) -> str:
    """Parameters as one text."""
    marks = {"var-positional": ("*", ""), "var-keyword": ("**", ""), "keyword": ("", ":"), "positional": ("", "")}
    words = []
    for parameter in parameters:
        before, after = marks[parameter.kind]
        words.append(f"{before}{parameter.name}{after}{'' if parameter.default is None else '='}")
    return " ".join(words)


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters that `write_parameters` has written; of defaults only that there are some."""
    return tuple(map(_parameter, text.split()))


def _parameter(word: str) -> Parameter:
    default = _SOME_DEFAULT if word.endswith("=") else None
    name = word.removesuffix("=")
    if name.startswith("**"):
        return Parameter(name[2:], "var-keyword", None, None)
    if name.startswith("*"):
        return Parameter(name[1:], "var-positional", None, None)
    return Parameter(name.removesuffix(":"), "keyword" if name.endswith(":") else "positional", default, None)


def catalogue(package: str) -> Catalogue | None:
    """What is known of the names of a package, None if nothing is."""
    import json

    found = _catalogues.get(package)
    if found is None:
        path = Path(__file__).with_name(f"{package}_names.json")
        if not os.path.exists(path):  # also for names that no system takes
            return None
        found = _catalogues[package] = Catalogue(json.loads(path.read_text(encoding="utf-8")))
    return found
