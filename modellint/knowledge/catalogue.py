"""Which names the modules of a described package offer, and what their functions take.

One JSON file per package beside this one, with all described releases together: a name that one of them has is there.

    releases   newest first
    redirects  modules that stand for another module
    modules    by name: [classes, functions, other names, is open]; classes and other names as texts with blanks
               between them; functions (and classes that the facts do not describe) by name with their parameters,
               "a b= *c d: e:= **f", one text for each way in which the releases differ, None if they are not known
               `is open`: 1 where the module may have more names than stand there
    earlier    what is known of releases before those: their numbers, what their modules had that is `gone` ("*": and
               more), and what is `new` since, nothing listed of a module that is new itself

What the functions and classes of those earlier releases take stands in a file of its own, which is read when somebody
asks: by module the parameters of its classes and those of its functions by name, as above.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, Parameter, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

_catalogues: dict[str, Catalogue] = {}
#: A default value, whatever it is.
_SOME_DEFAULT = Value(Op.UNKNOWN, (), None, None)


@dataclass(frozen=True, slots=True)
class Module:
    """The names of one module: classes, functions and others."""

    classes: frozenset[str]
    functions: dict[str, list[str] | None]
    others: frozenset[str]
    may_have_more_names: bool

    def signatures(self, name: str) -> tuple[tuple[Parameter, ...], ...]:
        """The parameters of a function or class, one tuple for each way in which the releases differ."""
        return tuple(read_parameters(text) for text in self.functions.get(name) or ())

    def names(self) -> set[str]:
        return {*self.classes, *self.functions, *self.others}


class Catalogue:
    """The modules of one package, with their names."""

    def __init__(self, data: dict[str, Any], package: str) -> None:
        self._data = data
        self._package = package
        self.releases: tuple[str, ...] = tuple(data["releases"])

    @cached_property
    def modules(self) -> frozenset[str]:
        return frozenset(self._data["modules"])

    def module(self, name: str) -> Module | None:
        row = self._data["modules"].get(name)
        if row is None:
            return None
        classes, functions, others, may_have_more_names = row
        return Module(frozenset(classes.split()), functions, frozenset(others.split()), bool(may_have_more_names))

    def redirected(self, name: str) -> str:
        """The name under which the package now keeps what it used to keep under `name`."""
        redirects: dict[str, str] = self._data["redirects"]
        prefix = name
        while prefix and prefix not in redirects:
            prefix = prefix.rpartition(".")[0]
        return redirects[prefix] + name[len(prefix) :] if prefix else name

    def submodules(self, name: str) -> set[str]:
        """The last parts of the names of the modules right inside of a package."""
        return _inside(name, self.modules)

    @cached_property
    def earlier(self) -> Earlier | None:
        """The earlier releases, before the described ones; None if there are none."""
        data = self._data.get("earlier")
        return None if data is None else Earlier(data, self, self._package)

    def homes(self, name: str) -> set[str]:
        """The modules with a class or function of this name, packages of theirs that pass it on left out."""
        found = {module for module, row in self._data["modules"].items() if name in row[1] or name in row[0].split()}
        return {one for one in found if not any(other.startswith(f"{one}.") for other in found)}


class Earlier:
    """The names of releases before the described ones, and the parameters of their functions and classes."""

    def __init__(self, data: dict[str, Any], now: Catalogue, package: str) -> None:
        self._package = package
        self.releases: tuple[str, ...] = tuple(data["releases"])
        self._gone: dict[str, frozenset[str]] = {name: frozenset(names.split()) for name, names in data["gone"].items()}
        self._new: dict[str, frozenset[str]] = {name: frozenset(names.split()) for name, names in data["new"].items()}
        self._now = now
        added = {name for name, names in self._new.items() if not names}
        self.modules = (now.modules - added) | self._gone.keys()

    @property
    def told(self) -> str:
        """`0.5.5 to 0.5.16`."""
        return f"{self.releases[-1]} to {self.releases[0]}"

    def names(self, module: str) -> set[str]:
        """The names of a module of theirs, with those of the modules inside of it."""
        now = self._now.module(module)
        kept = now.names() - self._new.get(module, frozenset()) if now is not None else set()
        return kept | self._gone.get(module, frozenset()) | _inside(module, self.modules)

    def lacks(self, name: str) -> tuple[str, str] | None:
        """The module, and the part of a dotted name that it certainly does not have; None if the name may be there."""
        parts = name.split(".")
        depth = max((n for n in range(1, len(parts) + 1) if ".".join(parts[:n]) in self.modules), default=0)
        owner = ".".join(parts[:depth])
        names = self.names(owner) if 0 < depth < len(parts) else {parts[-1], "*"}
        return None if "*" in names or parts[depth] in names else (owner, parts[depth])

    @cached_property
    def _taken(self) -> dict[str, list[dict[str, list[str]]]]:
        import json

        path = Path(__file__).with_name(f"{self._package}_earlier.json")
        found: dict[str, list[dict[str, list[str]]]] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def is_class(self, name: str) -> bool | None:
        """True if they have a class of this full name, False if a function, None if neither is described."""
        module, _, last = name.rpartition(".")
        classes, functions = self._taken.get(module, ({}, {}))
        return True if last in classes else False if last in functions else None

    def signatures(self, name: str) -> tuple[tuple[Parameter, ...], ...]:
        """The parameters of a function or class by its full name, for each way in which those releases differ."""
        module, _, last = name.rpartition(".")
        classes, functions = self._taken.get(module, ({}, {}))
        return tuple(map(read_parameters, classes.get(last) or functions.get(last) or ()))

    def is_gone(self, name: str) -> bool:
        """True if they have a class, function or module of this name, and the described releases do not."""
        module, _, last = name.rpartition(".")
        return last in self._gone.get(module, ()) or (name in self._gone and name not in self._now.modules)

    def is_new(self, name: str) -> bool:
        """True if only the described releases have a class or function of this name."""
        module, _, last = name.rpartition(".")
        return module in self._now.modules and (module not in self.modules or last in self._new.get(module, ()))


def _inside(name: str, modules: Iterable[str]) -> set[str]:
    start = f"{name}."
    return {other[len(start) :].partition(".")[0] for other in modules if other.startswith(start)}


def write_parameters(parameters: Iterable[Parameter]) -> str:
    """A signature as one line of text."""
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
    """The catalogue of a package; None if none is shipped."""
    import json

    found = _catalogues.get(package)
    if found is None:
        path = Path(__file__).with_name(f"{package}_names.json")
        if not os.path.exists(path):  # also for names that no system takes
            return None
        found = _catalogues[package] = Catalogue(json.loads(path.read_text(encoding="utf-8")), package)
    return found
