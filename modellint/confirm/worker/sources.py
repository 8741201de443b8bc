"""Python files that define targets: imported, with their syntax trees."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types

    from .standins import StandIns


class CannotBuildError(Exception):
    """An argument cannot be determined; the message names the parameter."""


class Source:
    """The file of a request: its module, its syntax tree, and the definitions in it."""

    def __init__(self, path: str, stand_ins: StandIns) -> None:
        self.path = path
        self._stand_ins = stand_ins
        with open(path, "rb") as stream:
            self.tree = ast.parse(stream.read())
        self.module = self._import()

    def _import(self) -> types.ModuleType:
        name = dotted_name(self.path)
        is_package = os.path.basename(self.path) == "__init__.py"
        above = _packages_above(self.tree) - name.count(".") - is_package
        if above > 0:
            return self._below_packages(name, above)
        module = self._stand_ins.module(name)
        if os.path.realpath(getattr(module, "__file__", None) or "") == os.path.realpath(self.path):
            return module
        # Another file of that name came first on the search path.
        return self._stand_ins.importing(lambda: _load(f"{name}_of_target", self.path))

    def _below_packages(self, name: str, above: int) -> types.ModuleType:
        """Import a file with relative imports of packages that are not there: it replaces a file of a library."""
        root = f"packages_above_{name.partition('.')[0]}"
        self._stand_ins.names.append(root)
        packages = [root, *(f"above_{number}" for number in range(2, above + 1))]
        parent = ".".join(packages)
        self._stand_ins.module(parent)
        return self._stand_ins.importing(lambda: _load(f"{parent}.{name}", self.path))

    def find(self, name: str) -> Any:
        """The object of a name of the file (`Encoder`, `Encoder.forward`). Raises CannotBuildError without one."""
        found: Any = self.module
        for part in name.split("."):
            if not hasattr(found, part):
                raise CannotBuildError(f"`{self.module.__name__}` defines no `{name}`")
            found = getattr(found, part)
        return found

    def home_of(self, name: str) -> tuple[str, str] | None:
        """The file that defines an imported name, and its name there; None if this file defines it."""
        top = name.partition(".")[0]
        if any(getattr(node, "name", None) == top for node in ast.walk(self.tree)):
            return None
        found = self.find(name)
        module = sys.modules.get(getattr(found, "__module__", None) or "")
        path, called = getattr(module, "__file__", None), getattr(found, "__qualname__", "")
        if path is None or not path.endswith(".py") or os.path.realpath(path) == os.path.realpath(self.path):
            return None
        return path, called

    def split(self, name: str) -> tuple[str, str]:
        """The class to build and the method to call for a name of the file; for a function, its name and ""."""
        owner, _, method = name.rpartition(".")
        if isinstance(self.find(name), type):
            return name, "forward"
        if not owner:
            return name, ""
        return owner, "forward" if method == "__init__" else method


def _packages_above(tree: ast.AST) -> int:
    """The number of packages up from which a file imports."""
    return max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)


def _load(name: str, path: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def dotted_name(path: str) -> str:
    """The name by which a file is imported, in the packages around it."""
    folder, file = os.path.split(os.path.abspath(path))
    stem = os.path.splitext(file)[0]
    parts = [] if stem == "__init__" else [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.append(name)
    return ".".join(reversed(parts)) or stem
