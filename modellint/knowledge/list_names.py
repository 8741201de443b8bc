"""Extracts the catalogues: `python -m modellint.knowledge.list_names --torch PATH --speechbrain PATH...`.

Each PATH is a folder that holds the unpacked package. Of several releases the names of all are kept together. Of those
under `--speechbrain-earlier` only what they have and the others lack, and the other way round; what their functions and
classes take goes into a file of its own.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint import knowledge
from modellint.graph.value import Op
from modellint.knowledge import facts as form
from modellint.knowledge.catalogue import write_parameters
from modellint.knowledge.regenerate import release_of, release_order
from modellint.link.classes.signatures import constructor_parameters
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.python import Class, Function, ModuleFacts

#: Parts of the packages that recipes take names from.
_FOLDERS = {"torch": ("nn", "optim", "utils/data"), "speechbrain": ("",)}
_DYNAMIC = re.compile(r"^(?:def __getattr__|[^#\n]*(?:\bglobals\(\)|\bexec\(|\bsys\.modules\[))", re.MULTILINE)
#: How many modules may pass a name on.
_MAX_HOPS = 4
#: Decorators under which a function keeps its parameters.
_KEEPING = frozenset(("no_grad", "inference_mode", "staticmethod", "wraps", "enable_grad", "fwd_default_precision"))


class Listing:
    """The names of one release of a package, with what functions take, and with `constructors` all classes as well."""

    def __init__(self, root: Path, package: str, *, constructors: bool = False) -> None:
        self.package = package
        self._constructors = constructors
        self.project = Project(ProjectOptions(root))
        self._root = root

    def modules(self) -> dict[str, list[Any]]:
        """The row of each module."""
        folder = self._root / self.package
        rows: dict[str, list[Any]] = {}
        origins: list[tuple[list[Any], str, str]] = []
        for part in _FOLDERS[self.package]:
            for path in sorted((folder / part).rglob("*.py")):
                module = self.project.python(path)
                if module is not None and f"{module.name}.".startswith(f"{self.package}."):
                    row = rows[module.name] = self._row(module)
                    origins += ((row, name, origin) for name, origin in self._imported_names(module))
        for _ in range(_MAX_HOPS):
            for row, name, origin in origins:
                _pass_on(rows.get(origin.rpartition(".")[0]), origin.rpartition(".")[2], row, name)
        return rows

    def _imported_names(self, module: ModuleFacts) -> Iterator[tuple[str, str]]:
        """The names that a module imports, each with the full name of its origin."""
        yield from module.imports.items()
        for star in module.star_imports:
            for name in self._public(star, module):
                yield name, f"{star}.{name}"

    def _public(self, star: str, module: ModuleFacts) -> frozenset[str]:
        """The names that `from star import *` imports."""
        source = self.project.names.find_module(star, module.file)
        if source is None:
            return frozenset()
        exported = self.project.names.exported(source)
        if exported is not None:
            return exported
        own = {*source.classes, *source.functions, *source.constants, *source.imports}
        for inner in source.star_imports:
            own |= self._public(inner, source) if inner != star else frozenset()
        return frozenset(name for name in own if not name.startswith("_") and "." not in name)

    def _row(self, module: ModuleFacts) -> list[Any]:
        classes = {name for name in module.classes if "." not in name}
        functions = {name: self._parameters(function) for name, function in module.functions.items()}
        names = {*module.constants, *(name for name, _ in self._imported_names(module))}
        may_have_more_names = _DYNAMIC.search(module.text) is not None
        may_have_more_names |= any(
            self.project.names.find_module(star, module.file) is None for star in module.star_imports
        )
        for name in classes & module.classes.keys():
            if self._constructors:
                functions[name] = self._inherited_parameters(module.classes[name])
            elif not knowledge.knows(knowledge.canonical(f"{module.name}.{name}")):
                functions[name] = self._constructor(module.classes[name])
        others = {name for name in names if "." not in name}
        return [classes, functions, others, int(may_have_more_names)]

    def _parameters(self, function: Function) -> list[str] | None:
        for decorator in function.signature.decorators:
            target = decorator.callee if decorator.op is Op.CALL else decorator
            if target.data not in _KEEPING:
                return None
        return [write_parameters(function.parameters)]

    def _constructor(self, cls: Class) -> list[str] | None:
        method = cls.methods.get("__init__")
        if method is None or "__new__" in cls.methods or cls.head.keywords or method.signature.decorators:
            return None
        return [write_parameters(method.parameters[1:])]

    def _inherited_parameters(self, cls: Class) -> list[str] | None:
        """The parameters of a constructor that may be a base's."""
        classes = self.project.classes
        found = constructor_parameters(classes.model(cls), classes, any_release=True)
        return list(dict.fromkeys(map(write_parameters, found))) or None

    def redirects(self) -> dict[str, str]:
        top = self.project.python(self._root / self.package / "__init__.py")
        return {} if top is None else self.project.names.redirects(top)


def _pass_on(source: list[Any] | None, origin: str, row: list[Any], name: str) -> None:
    """Add to `row` the parameters, or the kind, of a name that another module passes on."""
    if source is None or name in row[0] or name in row[1]:
        return
    if origin in source[0]:
        row[0].add(name)
    if origin in source[1]:
        row[1][name] = source[1][origin]


def extract(package: str, roots: Sequence[Path], earlier: Sequence[Path] = ()) -> tuple[dict[str, Any], dict[str, Any]]:
    """The catalogue of a package, from one or more releases, what earlier ones have and lack, and what those take."""
    releases, modules, redirects = _read(package, roots)
    catalogue: dict[str, Any] = {"releases": releases, "redirects": redirects}
    taken: dict[str, Any] = {}
    if earlier:
        old_releases, old_modules, _ = _read(package, earlier, constructors=True)
        gone, new = _lost_names(old_modules, modules), _new(old_modules, modules)
        catalogue["earlier"] = {"releases": old_releases, "gone": gone, "new": new}
        taken = {
            name: _parameters_taken(row) for name, row in sorted(old_modules.items()) if any(_parameters_taken(row))
        }
    return {**catalogue, "modules": {name: _pack_row(modules[name]) for name in sorted(modules)}}, taken


def _parameters_taken(row: list[Any]) -> list[dict[str, list[str]]]:
    """The known parameters of a module's classes, and of its functions."""
    known = {name: texts for name, texts in sorted(row[1].items()) if texts is not None}
    classes = {name: texts for name, texts in known.items() if name in row[0]}
    return [classes, {name: texts for name, texts in known.items() if name not in classes}]


def _read(
    package: str, roots: Sequence[Path], *, constructors: bool = False
) -> tuple[list[str], dict[str, list[Any]], dict[str, str]]:
    """The releases of a package that stand below folders, the newest first, with their modules and redirects."""
    by_release = {release_of(root, package).partition("+")[0]: root for root in roots}
    releases = sorted(by_release, key=release_order, reverse=True)
    modules: dict[str, list[Any]] = {}
    redirects: dict[str, str] = {}
    for release in releases:
        listing = Listing(by_release[release].resolve(), package, constructors=constructors)
        for old, new in listing.redirects().items():
            redirects.setdefault(old, new)
        for name, row in listing.modules().items():
            modules[name] = _together(modules[name], row) if name in modules else row
    return releases, modules, redirects


def _lost_names(old: dict[str, list[Any]], modules: dict[str, list[Any]]) -> dict[str, str]:
    """The names that modules had and lack now; "*" stands for the names of an open one."""
    found = {}
    for name, (classes, functions, others, may_have_more_names) in sorted(old.items()):
        now = modules.get(name, [(), (), (), 0])
        lost = {*classes, *functions, *others}.difference(*now[:3])
        words = sorted(one for one in lost if not one.startswith("_")) + ["*"] * bool(may_have_more_names)
        if words or name not in modules:
            found[name] = " ".join(words)
    return found


def _new(old: dict[str, list[Any]], modules: dict[str, list[Any]]) -> dict[str, str]:
    """The classes and functions that modules have and lacked before; nothing is listed of a new module."""
    found = {}
    for name, (classes, functions, *_) in sorted(modules.items()):
        before = old.get(name)
        added = {*classes, *functions}.difference(*before[:3]) if before is not None else set()
        if added or before is None:
            found[name] = " ".join(sorted(added))
    return found


def _together(newer: list[Any], older: list[Any]) -> list[Any]:
    functions = dict(newer[1])
    for name, texts in older[1].items():
        known = functions.get(name, texts)
        functions[name] = None if known is None or texts is None else list(dict.fromkeys((*known, *texts)))
    return [newer[0] | older[0], functions, newer[2] | older[2], newer[3] | older[3]]


def _pack_row(row: list[Any]) -> list[Any]:
    classes, functions, others, may_have_more_names = row
    others -= classes | functions.keys()
    return [" ".join(sorted(classes)), dict(sorted(functions.items())), " ".join(sorted(others)), may_have_more_names]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modellint.knowledge.list_names", description=__doc__)
    parser.add_argument("--torch", type=Path, nargs="*", default=[])
    parser.add_argument("--speechbrain", type=Path, nargs="*", default=[])
    parser.add_argument("--speechbrain-earlier", type=Path, nargs="*", default=[])
    parser.add_argument("--into", type=Path, default=Path(form.__file__).parent)
    options = parser.parse_args(arguments)
    for package in knowledge.PACKAGES:
        roots = getattr(options, package)
        if roots:
            earlier = options.speechbrain_earlier if package == "speechbrain" else ()
            names, taken = extract(package, roots, earlier)
            _write(options.into / f"{package}_names.json", names)
            if taken:
                _write(options.into / f"{package}_earlier.json", taken)


def _write(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, separators=(",", ":"), ensure_ascii=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
