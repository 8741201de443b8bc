"""Resolution of dotted names across files: to definitions of the project or of installed packages, or neither.

Modules are looked for where Python would find them when the importing file is run (`search_path.py`), and read as text;
nothing is imported.
"""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.graph.definitions import DefinedClass as DefinedClass
from modellint.graph.definitions import DefinedConstant as DefinedConstant
from modellint.graph.definitions import DefinedFunction as DefinedFunction
from modellint.graph.definitions import DefinedModule as DefinedModule
from modellint.graph.definitions import Definition as Definition
from modellint.graph.definitions import External as External
from modellint.graph.definitions import Missing as Missing
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, dotted
from modellint.link.search_path import SearchPath
from modellint.link.stated_names import all_names, lazy_table, makes_names, redirects, sets_computed_names
from modellint.reading.mentioning import found_below

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.linked import Linked

_BUILTINS = frozenset(dir(builtins))
#: Through how many re-exports a name is followed.
_MAX_HOPS = 40
#: Words in modules that may define names at run time.
_MAKING = ("__getattr__", "exec", "modules", "LazyModule", "globals")


class Names:
    """Resolves names. Reached as `project.names`."""

    def __init__(self, project: Linked) -> None:
        self._project = project
        self._externals: dict[str, External] = {}
        self.path = SearchPath(project)

    def resolve(self, module: ModuleFacts, name: str) -> Definition | None:
        """The definition of `name` (`nn.Embedding`, `Encoder`, `cfg.Config.vocab`), as written in `module`.

        None if it is not defined there, or in a way that cannot be followed.
        """
        head, _, rest = name.partition(".")
        target = module.imports.get(head)
        if target is not None and (target == "torch" or target.startswith("torch.")) and head not in module.classes:
            return self._external(f"{target}.{rest}" if rest else target)
        return self._project.once(("name", module.path, name), lambda: self._resolve(module, name, _Trail()))

    def definition(self, module: ModuleFacts, value: Value) -> Definition | None:
        """The definition of a value that is a name or a chain of attributes on one, else None; see `resolve`."""
        root = value
        while root.op is Op.ATTR:
            root = root.args[0]
        name = dotted(value) if root.op is Op.GLOBAL else None
        return None if name is None else self.resolve(module, name)

    def absolute(self, name: str, near: Path) -> Definition | None:
        """The definition of the absolute dotted `name`, as the file `near` would import it."""
        if name == "torch" or name.startswith("torch."):
            return self._external(name)
        # Files that find the package in the same folders get the same answer.
        key = ("absolute", self.path.holding(name.partition(".")[0], near), name)
        return self._project.once(key, lambda: self._absolute(name, near, _Trail()))

    def find_module(self, name: str, near: Path) -> ModuleFacts | None:
        """The module with the absolute dotted `name`, as the file `near` would import it."""
        if name.partition(".")[0] in sys.stdlib_module_names:
            return None
        parts = name.split(".")
        for base in self.path.holding(parts[0], near):
            found = self.path.locate(base, parts)
            if found is not None and found[1] == len(parts):
                return self._project.python(found[0])
        return None

    # -- names in modules --------------------------------------------------------------------------------------

    def _external(self, name: str) -> External:
        external = self._externals.get(name)
        if external is None:
            external = self._externals[name] = External(knowledge.canonical(name))
        return external

    def _resolve(self, module: ModuleFacts, name: str, trail: _Trail) -> Definition | None:
        head, _, rest = name.partition(".")
        found = self._lookup(module, head, trail)
        if found is None:
            if head in _BUILTINS:
                return self._external(f"builtins.{name}")
            if self._is_defined(module, head):
                return None
            # The frontend writes imports inside of functions out in full.
            found = self._absolute(name, module.file, trail)
            return found if rest or not isinstance(found, External) or head in sys.stdlib_module_names else None
        return self._members(found, rest, trail)

    def _is_defined(self, module: ModuleFacts, name: str) -> bool:
        return any(name in names for names in (module.imports, module.constants, module.functions, module.classes))

    def _lookup(self, module: ModuleFacts, name: str, trail: _Trail) -> Definition | None:
        """The definition of `name` in the namespace of `module`."""
        if not trail.enter(module, name):
            return None
        own = self._own(module, name)
        target = module.imports.get(name)
        # A definition inside of `if` or `try` is the fallback if the import fails.
        if target is not None and (own is None or own.offset > 0):
            imported = self._absolute(target, module.file, trail)
            if imported is not None and not (isinstance(imported, External) and own is not None):
                return imported
        if own is not None:
            return own.definition
        if name in module.constants:
            return self._constant(module, name, trail)
        for star in reversed(module.star_imports):
            found = self._from_star(module, star, name, trail)
            if found is not None:
                return found
        return self._submodule(module, name) or self._lazy(module, name, trail)

    def _own(self, module: ModuleFacts, name: str) -> _Own | None:
        cls = module.classes.get(name)
        if cls is not None:
            return _Own(DefinedClass(cls), cls.offset)
        function = module.functions.get(name)
        if function is not None:
            return _Own(DefinedFunction(function), function.offset)
        return None

    def _constant(self, module: ModuleFacts, name: str, trail: _Trail) -> Definition | None:
        """A module-level assignment, or the definition that it is an alias of."""
        value = module.constants[name]
        alias = dotted(value) if value.op in (Op.GLOBAL, Op.ATTR) else None
        if alias is not None:
            target = self._resolve(module, alias, trail)
            if target is not None and not isinstance(target, DefinedConstant):
                return target
        return DefinedConstant(module, name, value)

    def _from_star(self, module: ModuleFacts, star: str, name: str, trail: _Trail) -> Definition | None:
        if star == "torch" or star.startswith("torch."):
            full = f"{star}.{name}"
            return self._external(full) if knowledge.knows(full) else None
        # A package may have hundreds of star imports, none of which need be read at the end of the trail.
        source = None if trail.is_at_end else self.find_module(star, module.file)
        if source is None or source is module:
            return None
        exported = self.exported(source)
        if name not in exported if exported is not None else name.startswith("_"):
            return None
        return self._lookup(source, name, trail)

    def exported(self, module: ModuleFacts) -> frozenset[str] | None:
        """The names in `__all__`; None if there is none, or it cannot be read."""
        if "__all__" not in module.constants:
            return None
        return self._project.once(("__all__", module.path), lambda: all_names(module))

    def _submodule(self, module: ModuleFacts, name: str) -> Definition | None:
        if not module.is_package:
            return None
        found = self.path.locate(module.file.parent, [name])
        facts = self._project.python(found[0]) if found is not None else None
        return DefinedModule(facts) if facts is not None else None

    def _lazy(self, module: ModuleFacts, name: str, trail: _Trail) -> Definition | None:
        """The definition of a name that a package imports on first use, by a table from modules to names."""
        if name not in module.text:
            return None
        table = self._project.once(("lazy", module.path), lambda: lazy_table(module))
        target = table.get(name)
        return self._absolute(target, module.file, trail) if target is not None else None

    def redirects(self, package: ModuleFacts) -> dict[str, str]:
        """The moved modules of a package, old to new, by the tables and calls of its `__init__`."""
        return self._project.once(("redirects", package.path), lambda: redirects(package))

    # -- members -----------------------------------------------------------------------------------------------

    def _members(self, definition: Definition, rest: str, trail: _Trail) -> Definition | None:
        found: Definition | None = definition
        while rest and found is not None:
            if isinstance(found, External):
                return self._external(f"{found.name}.{rest}")
            head, _, rest = rest.partition(".")
            if isinstance(found, DefinedModule):
                module = found.module
                found = self._lookup(module, head, trail)
                if found is None:
                    return self._beyond(module, f"{head}.{rest}" if rest else head, trail)
            elif isinstance(found, DefinedClass):
                found = self._class_member(found.cls, head, trail)
            else:
                found = None
        return found

    def _beyond(self, module: ModuleFacts, rest: str, trail: _Trail) -> Definition | None:
        """The definition of a name that a module lacks: it moved, or an installed package makes it at run time."""
        depth = module.name.count(".") + (1 if module.is_package else 0)
        base = module.file.parents[min(depth, len(module.file.parents) - 1)]
        name = f"{module.name}.{rest}"
        moved = self._moved_name(base, name)
        if moved is not None:
            return self._absolute(moved, module.file, trail)
        return self._external(name) if base in self.path.site_packages else None

    def _class_member(self, cls: Class, name: str, trail: _Trail) -> Definition | None:
        if not trail.enter(cls.module, f"{cls.qualname}.{name}"):
            return None
        method = cls.methods.get(name)
        if method is not None:
            return DefinedFunction(method)
        if name in cls.attributes:
            return DefinedConstant(cls.module, f"{cls.qualname}.{name}", cls.attributes[name])
        nested = cls.module.classes.get(f"{cls.qualname}.{name}")
        if nested is not None:
            return DefinedClass(nested)
        for base in cls.bases:
            written = dotted(base)
            parent = self._resolve(cls.module, written, trail.fork()) if written else None
            if not isinstance(parent, DefinedClass):
                return None
            found = self._class_member(parent.cls, name, trail)
            if found is not None:
                return found
        return None

    # -- modules in folders ------------------------------------------------------------------------------------

    def _absolute(self, name: str, near: Path, trail: _Trail) -> Definition | None:
        parts = name.split(".")
        top = parts[0]
        if top in sys.stdlib_module_names or top == "torch":
            return self._external(name)
        if not trail.step():
            return None
        for base in self.path.holding(top, near):
            located = self.path.locate(base, parts)
            if located is None:
                continue
            path, consumed = located
            found = self._in_file(path, parts, consumed, trail)
            if found is not None:
                return found
            moved = self._moved_name(base, name)
            if moved is not None:
                return self._absolute(moved, near, trail)
            if base not in self.path.site_packages:
                return None
            break
        return self._external(name)

    def _moved_name(self, base: Path, name: str) -> str | None:
        """The current name of a definition that a package used to have under `name`; None if it did not move."""
        package = self._project.python(base / name.partition(".")[0] / "__init__.py")
        if package is None or "redirect" not in package.text:
            return None
        table = self.redirects(package)
        prefix = name
        while prefix and prefix not in table:
            prefix = prefix.rpartition(".")[0]
        return table[prefix] + name[len(prefix) :] if prefix else None

    def _in_file(self, path: Path, parts: list[str], consumed: int, trail: _Trail) -> Definition | None:
        """The definition `parts` in the module at `path`, whose own name is the first `consumed` parts."""
        if consumed == len(parts) > 1:
            package = (path.parent.parent if path.stem == "__init__" else path.parent) / "__init__.py"
            shadow = self._shadow(package, parts[-1], trail)
            if shadow is not None:
                return shadow
            if self._sets_computed_names(package):
                return None
        module = self._project.python(path)
        if module is None:
            return None
        return self._members(DefinedModule(module), ".".join(parts[consumed:]), trail)

    def _shadow(self, package: Path, name: str, trail: _Trail) -> Definition | None:
        """A definition of the package itself that hides its submodule of this name: `from .layer import layer`."""
        text = self._project.files.read(package)
        if text is None or name.encode() not in text:
            return None
        module = self._project.python(package)
        if module is None or not (self._is_defined(module, name) or module.star_imports):
            return None
        found = self._lookup(module, name, trail.fork())
        return found if isinstance(found, DefinedClass | DefinedFunction | DefinedConstant) else None

    def _sets_computed_names(self, package: Path) -> bool:
        """True if a package gives itself attributes by computed names, which may hide its submodules."""
        text = self._project.files.read(package)
        if text is None or b"setattr" not in text or b"sys.modules" not in text:
            return False
        module = self._project.python(package)
        if module is None:
            return False
        functions = (*module.all_functions(), module.body)
        return self._project.once(("sets names", module.path), lambda: any(map(sets_computed_names, functions)))

    def missing(self, name: str, near: Path) -> Missing | None:
        """The part at which the absolute `name`, imported by the file `near`, fails; None if it may resolve.

        Modules that cannot be read, or that define names at run time, may have any name.
        """
        parts = name.split(".")
        found = [self._missing_below(base, parts, near) for base in self.path.holding(parts[0], near)]
        return found[0] if found and all(found) else None

    def _missing_below(self, base: Path, parts: list[str], near: Path) -> Missing | None:
        located = self.path.locate(base, parts)
        is_sure = base in (near.parent, self._project.options.root, *self.path.site_packages)
        if located is None:
            return self._missing_folder(base, parts) if is_sure else None
        path, consumed = located
        module = self._project.python(path)
        if module is None or consumed == len(parts):
            return None
        moved = self._moved_name(base, ".".join(parts))
        if moved is not None:
            return self.missing(moved, near)
        part = parts[consumed]
        beside = self.path.stems(path.parent) if module.is_package else frozenset()
        if part in beside:
            return self._missing_folder(path.parent, parts, consumed)
        if self._may_define(module, part, 0):
            return None
        defined = {*module.classes, *module.functions, *module.constants, *module.imports}
        return Missing(".".join(parts[:consumed]), part, beside | {n for n in defined if "." not in n}, is_sure)

    def _missing_folder(self, folder: Path, parts: list[str], known: int = 0) -> Missing | None:
        """The first part that is missing below `folder`, a package without `__init__` that `known` parts name.

        Other places may add to such a folder, unless it lies in a package or in another such folder of the project.
        A folder without any code is no package.
        """
        if not known and not self._has_code(folder / parts[0]):
            return None
        for number, part in enumerate(parts[known:], known):
            stems = self.path.stems(folder)
            if part not in stems:
                is_sure = known > 0 or number > 1
                return Missing(".".join(parts[:number]), part, stems, is_sure) if number > known else None
            folder = folder / part
            if not self.path.stems(folder):
                return None
        return None

    def _has_code(self, folder: Path) -> bool:
        """True if a folder has Python files, at any depth, or more files than are searched."""
        found = self._project.once(("code below", folder), lambda: found_below(self._project.files, folder, (".py",)))
        return bool(found)

    def _may_define(self, module: ModuleFacts, name: str, depth: int) -> bool:
        if depth > _MAX_HOPS or self._is_defined(module, name) or self._makes_names(module):
            return True
        if name in self._project.once(("lazy", module.path), lambda: lazy_table(module)):
            return True
        for star in module.star_imports:
            source = self.find_module(star, module.file)
            if source is module:  # `from . import *` gives a package the modules that lie in it
                continue
            if source is None or self._may_define(source, name, depth + 1):
                return True
        return False

    def _makes_names(self, module: ModuleFacts) -> bool:
        """True if a module may define names at run time, without statements."""
        if not any(word in module.text for word in _MAKING):
            return False
        if "__getattr__" in module.functions:
            return True
        functions = (*module.all_functions(), module.body)
        return self._project.once(("makes names", module.path), lambda: any(map(makes_names, functions)))


@dataclass(frozen=True, slots=True)
class _Own:
    definition: Definition
    offset: int


class _Trail:
    """The names that a resolution has passed, so that cycles end."""

    __slots__ = ("_hops", "_seen")

    def __init__(self, hops: int = 0, seen: frozenset[tuple[str, str]] = frozenset()) -> None:
        self._hops = hops
        self._seen = set(seen)

    def enter(self, module: ModuleFacts, name: str) -> bool:
        step = (module.path, name)
        if step in self._seen or not self.step():
            return False
        self._seen.add(step)
        return True

    @property
    def is_at_end(self) -> bool:
        return self._hops >= _MAX_HOPS

    def step(self) -> bool:
        self._hops += 1
        return self._hops <= _MAX_HOPS

    def fork(self) -> _Trail:
        """A copy for a side question: it knows the names passed so far and adds none here."""
        return _Trail(self._hops, frozenset(self._seen))
