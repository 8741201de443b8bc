"""Names that a package offers from its modules, each module imported when the first of its names is asked for.

`from modellint import claims` at the top of a rule imports no claim; `claims.Refused(…)` imports the room it lies in.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazily(package: str, offered: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: `offered` has its names, separated by spaces, by the module that defines them.

    A module with a dot in front is one of the package. An unknown name raises AttributeError with the nearest one.
    """
    homes = {name: module for module, names in offered.items() for name in names.split()}

    def find(name: str) -> Any:
        module = homes.get(name)
        if module is None:
            raise UnknownNameError(package, name, homes)
        value = getattr(importlib.import_module(module, package), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


class UnknownNameError(AttributeError):
    """A package has no such name. The nearest name is searched for the message only: modules are asked for, too."""

    def __str__(self) -> str:
        package, name, names = self.args
        return f"`{package}` has no `{name}`{nearest(name, names)}"


def nearest(name: str, names: Mapping[str, object]) -> str:
    """A hint for an unknown name: `; did you mean …?`, empty where no name is near."""
    import difflib

    found = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean `{found[0]}`?" if found else ""
