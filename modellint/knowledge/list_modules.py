"""Reads the modules of a package from its source, for `list_libraries`: their definitions, and what names stand for.

A name may be defined in several branches; those of `except` and of dummies for what is not installed count last. The
imports under `TYPE_CHECKING` are names of the module where it hands out its names lazily, as `transformers` does.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Definition = ast.ClassDef | ast.FunctionDef
#: Folders whose modules nobody names in a configuration.
_LEFT_OUT = frozenset(("tests", "test", "__pycache__", "tests_pytorch", "tests_fabric"))
_LAZY = re.compile(r"_LazyModule\(|lazy_loader|\blazy\.attach")
_DYNAMIC = re.compile(
    r"^exec\(|\bglobals\(\)(?:\.update|\[[^\]\n]*\]\s*=[^=])|\bsys\.modules\[[^\]\n]*\]\s*=[^=]|\bsetattr\(\s*sys\.modules",
    re.MULTILINE,
)
#: `sys.modules["lib.old"] = …`, `setattr(lib.module, "Name", …)`.
_PUT = re.compile(r"""\bsys\.modules\[["']([\w.]+)["']\]\s*=[^=]""")
_SETS = re.compile(r"\bsetattr\(\s*(?:getattr\()?(?!self\b|cls\b)([a-z_]\w*)\.[a-z_.]+\s*,")
_QUOTED = re.compile(r"""["']([A-Za-z_]\w*)["']""")
#: Methods whose bodies matter without `**kwargs`.
_READ_METHODS = frozenset(("__init_subclass__", "__call__", "__new__"))
#: How many imports may pass a name on.
_MAX_HOPS = 30
#: How much statements count: of what is normally run, of what replaces it, and of what only type checkers read.
_NORMAL, _REPLACING, _TYPES = range(3)


@dataclass(frozen=True)
class Import:
    """A name that a module imports: from the module `source`, or that module itself where `name` is empty."""

    source: str
    name: str


@dataclass(frozen=True, eq=False)
class Named:
    """The definition that a name stands for.

    `node` is its source, with the module that has it; `external` the full name of what lies outside of the package, or
    of a module; neither is set for a value.
    """

    module: Module | None = None
    node: Definition | None = None
    external: str = ""

    @property
    def full(self) -> str:
        """The full name of a class or function of the package."""
        return f"{self.module.name}.{self.node.name}" if self.module is not None and self.node is not None else ""


@dataclass(eq=False)
class Module:
    """One module of a package: what its names stand for, several definitions by branches."""

    name: str
    is_package: bool
    text: str = field(repr=False)
    definitions: dict[str, list[Definition]] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)
    #: Names that stand for what an expression does: `call = instantiate`.
    aliases: dict[str, ast.expr] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    stars: list[str] = field(default_factory=list)
    exported: set[str] | None = None

    @property
    def is_lazy(self) -> bool:
        return _LAZY.search(self.text) is not None

    @property
    def may_have_more_names(self) -> bool:
        """True if statements may make names that do not stand there."""
        hook = self.definitions.get("__getattr__")
        is_hooked = hook is not None and _hook_names(hook[0]) is None
        return not self.is_lazy and (is_hooked or _DYNAMIC.search(self.text) is not None)

    def public(self) -> set[str]:
        """The own names that `from module import *` imports."""
        if self.exported is not None:
            return self.exported
        return {name for name in self.own_names() if not name.startswith("_")}

    def own_names(self) -> set[str]:
        """The names that statements of the module define, without those of star imports."""
        hook = self.definitions.get("__getattr__")
        made = (hook and _hook_names(hook[0])) or ()
        return {*self.definitions, *self.imports, *self.aliases, *self.others, *made}


class Source:
    """The modules of packages in a folder that holds them unpacked."""

    def __init__(self, root: Path, *packages: str) -> None:
        self.modules: dict[str, Module] = {}
        self._packages = packages
        self._unreadable: set[str] = set()
        self._known: dict[tuple[str, str], Named | None] = {}
        self._stars: dict[str, set[str]] = {}
        #: True for decorators that add to `__all__`.
        self._adding: dict[Definition, bool] = {}
        for path in sorted(path for package in packages for path in (root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if _LEFT_OUT.isdisjoint(parts) and all(part.isidentifier() for part in parts):
                is_package = parts[-1] == "__init__"
                self._read(path, ".".join(parts[:-1] if is_package else parts), is_package)
        for module in self.modules.values():
            if module.is_lazy:  # its imports are never run, and some lack the dot
                inside = {star: f"{module.name}.{star}" for star in module.stars if star not in self.modules}
                module.stars = [
                    name if (name := inside.get(star, star)) in self.modules else star for star in module.stars
                ]
            if module.exported is not None:
                module.exported |= set(self._added_names(module))

    def _added_names(self, module: Module) -> Iterator[str]:
        """The definitions that their decorators add to `__all__`, as `timm` registers models."""
        for name, nodes in module.definitions.items():
            for decorator in nodes[0].decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                named = self.resolve_expression(module, called)
                node = None if named is None else named.node
                if node is not None and node not in self._adding:
                    self._adding[node] = "__all__" in ast.unparse(node)
                if node is not None and self._adding[node]:
                    yield name

    def _read(self, path: Path, name: str, is_package: bool) -> None:
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):  # a template, or of another Python
            self._unreadable.add(name)
            return
        module = self.modules[name] = Module(name, is_package, text)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                _shorten(node)
        _Statements(module).read(tree.body, _NORMAL)

    @cached_property
    def inside(self) -> dict[str, set[str]]:
        """The last parts of the modules right inside of each module."""
        found: dict[str, set[str]] = {}
        for name in self.modules:
            owner, _, last = name.rpartition(".")
            found.setdefault(owner, set()).add(last)
        return found

    def names(self, module: Module) -> set[str]:
        """The names that a module has, those of star imports too, without the modules inside of it."""
        found = module.own_names()
        for star in module.stars:
            found |= self._star_names(star, frozenset((module.name,)))
        return found

    def _star_names(self, name: str, seen: frozenset[str]) -> set[str]:
        """The names that `from name import *` imports; none of a module outside of the package."""
        module = self.modules.get(name)
        if module is None or name in seen:
            return set()
        if module.exported is not None:
            return module.exported
        inner = (self._star_names(star, seen | {name}) for star in module.stars)
        return module.public().union(*inner)

    def _all_star_names(self, name: str) -> set[str]:
        if name not in self._stars:
            self._stars[name] = self._star_names(name, frozenset())
        return self._stars[name]

    def patched_modules(self) -> set[str]:
        """The names under which files put modules into `sys.modules`, where no file is."""
        found = {name for module in self.modules.values() for name in _PUT.findall(module.text)}
        tops = {name.partition(".")[0] for name in self.modules}
        return {name for name in found if name.partition(".")[0] in tops} - self.modules.keys()

    def patched_names(self) -> set[str]:
        """The names that files may set on other modules of the package: the strings in files that do so."""
        return {name for one in self.modules.values() if self._sets_names(one) for name in _QUOTED.findall(one.text)}

    def _sets_names(self, module: Module) -> bool:
        roots = (self.resolve(module, root) for root in _SETS.findall(module.text))
        return any(one is not None and one.external.partition(".")[0] in self._packages for one in roots)

    def has_unread_stars(self, module: Module) -> bool:
        """True if a module imports all names of one that cannot be read; a module that is lost has none."""
        lost = (star for star in module.stars if star not in self.modules)
        return any(star in self._unreadable or star.partition(".")[0] not in self._packages for star in lost)

    def resolve(self, module: Module, name: str) -> Named | None:
        """The definition that a name of a module stands for; None if the module lacks it."""
        key = module.name, name
        if key not in self._known:
            self._known[key] = Named()  # what leads back to itself is a value
            self._known[key] = self._resolve(module, name, 0)
        return self._known[key]

    def _resolve(self, module: Module, name: str, hops: int) -> Named | None:
        if hops > _MAX_HOPS:
            return Named()
        if name in module.definitions:
            return Named(module, module.definitions[name][0])
        if name in module.imports:
            return self._follow_import(module.imports[name], hops)
        if name in module.aliases:
            return self.resolve_expression(module, module.aliases[name]) or Named()
        if name in module.others or name in module.own_names():
            return Named()
        for star in reversed(module.stars):
            source = self.modules.get(star)
            if source is not None and name in self._all_star_names(star):
                return self._resolve(source, name, hops + 1)
        inner = f"{module.name}.{name}"
        return Named(external=inner) if inner in self.modules else None

    def _follow_import(self, wanted: Import, hops: int) -> Named:
        if not wanted.name:
            return Named(external=wanted.source)
        source, inner = self.modules.get(wanted.source), f"{wanted.source}.{wanted.name}"
        if source is None:
            return Named(external=inner)
        if inner in self.modules and source.imports.get(wanted.name) == wanted:  # `from package import module`, in it
            return Named(external=inner)
        return self._resolve(source, wanted.name, hops + 1) or Named()

    def resolve_expression(self, module: Module, expression: ast.expr) -> Named | None:
        """The definition of an expression that is a name, or attributes of one."""
        if isinstance(expression, ast.Name):
            return self.resolve(module, expression.id)
        if not isinstance(expression, ast.Attribute):
            return None
        owner = self.resolve_expression(module, expression.value)
        if owner is None or not owner.external:
            return None
        inner = self.modules.get(owner.external)
        if inner is not None:
            return self.resolve(inner, expression.attr)
        return Named(external=f"{owner.external}.{expression.attr}")


class _Statements:
    """Collects the names that statements of a module define."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._weights: dict[str, int] = {}

    def read(self, body: Iterable[ast.stmt], weight: int) -> None:
        for statement in body:
            self._statement(statement, weight)

    def _statement(self, one: ast.stmt, weight: int) -> None:
        match one:
            case ast.ClassDef() | ast.FunctionDef():
                if not any(_last(decorator) == "overload" for decorator in one.decorator_list):
                    self._define(one, weight)
            case ast.AsyncFunctionDef(name=name):
                self._add_other(name, weight)
            case ast.ImportFrom():
                self._import_from(one, weight)
            case ast.Import():
                for alias in one.names:
                    imported = alias.name if alias.asname else alias.name.partition(".")[0]
                    self._import(alias.asname or imported, Import(imported, ""), weight)
            case ast.If(test=test, body=body, orelse=orelse):
                self.read(body, self._typing_weight(weight) if _last(test) == "TYPE_CHECKING" else weight)
                self.read(orelse, weight)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
                for part in (body, orelse, last):
                    self.read(part, weight)
                for handler in handlers:
                    self.read(handler.body, max(weight, _REPLACING))
            case ast.With(body=body) | ast.For(body=body) | ast.While(body=body):
                self.read(body, weight)
            case ast.Assign():
                for target in one.targets:
                    self._assign(target, one.value, weight)
            case ast.AnnAssign() if one.value is not None:
                self._assign(one.target, one.value, weight)
            case ast.AugAssign(target=ast.Name(id="__all__")):
                self._export(one.value)
            case ast.Expr(value=ast.Call() as call) if any(_last(given) == "__name__" for given in call.args):
                self._register(call, weight)

    def _typing_weight(self, weight: int) -> int:
        return weight if self._module.is_lazy else _TYPES

    def _wins(self, name: str, weight: int) -> bool:
        """True if a definition of this weight counts; what it replaces is dropped."""
        known = self._weights.get(name)
        if known is not None and weight > known:
            return False
        if known is not None and weight < known:
            for kept in (self._module.definitions, self._module.imports, self._module.aliases):
                kept.pop(name, None)
            self._module.others.discard(name)
        self._weights[name] = weight
        return True

    def _define(self, node: Definition, weight: int) -> None:
        if self._wins(node.name, weight):
            self._module.definitions.setdefault(node.name, []).append(node)

    def _import(self, name: str, target: Import, weight: int) -> None:
        if self._wins(name, weight):
            if weight == _TYPES:
                self._module.others.add(name)
            else:
                self._module.imports.setdefault(name, target)

    def _add_other(self, name: str, weight: int) -> None:
        if self._wins(name, weight) and name not in self._module.definitions:
            self._module.others.add(name)

    def _import_from(self, one: ast.ImportFrom, weight: int) -> None:
        source = one.module or ""
        if one.level:
            parts = self._module.name.split(".")
            parts = parts[: len(parts) - one.level + self._module.is_package]
            source = ".".join((*parts, source) if source else parts)
        for alias in one.names:
            if alias.name != "*":
                self._import(alias.asname or alias.name, Import(source, alias.name), weight)
            elif weight == _NORMAL:
                self._module.stars.append(source)

    def _assign(self, target: ast.expr, value: ast.expr, weight: int) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._assign(element, ast.Constant(None), weight)
        elif isinstance(target, ast.Name) and target.id == "__all__":
            self._export(value)
        elif isinstance(target, ast.Name):
            is_alias = isinstance(value, ast.Name | ast.Attribute) and target.id not in self._module.definitions
            if is_alias and self._wins(target.id, weight):
                self._module.aliases.setdefault(target.id, value)
            else:
                self._add_other(target.id, weight)

    def _register(self, call: ast.Call, weight: int) -> None:
        """`register_deprecations(__name__, {"old": "new"})` gives the module these names."""
        for table in (given for given in call.args if isinstance(given, ast.Dict)):
            for key in table.keys:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    self._add_other(key.value, weight)
                    if self._module.exported is not None:
                        self._module.exported.add(key.value)

    def _export(self, value: ast.expr) -> None:
        known = self._module.exported or set()
        if isinstance(value, ast.List | ast.Tuple) and all(isinstance(one, ast.Constant) for one in value.elts):
            self._module.exported = known | {str(one.value) for one in value.elts if isinstance(one, ast.Constant)}


def _hook_names(hook: Definition) -> set[str] | None:
    """The names that `__getattr__` of a module gives, if it compares them and refuses all others; else None."""
    if not isinstance(hook, ast.FunctionDef) or not isinstance(hook.body[-1], ast.Raise):
        return None
    names: set[str] = set()
    for one in hook.body[:-1]:
        if isinstance(one, ast.Expr | ast.Import | ast.ImportFrom):
            continue
        if not isinstance(one, ast.If) or one.orelse or not isinstance(one.test, ast.Compare):
            return None
        compared = one.test.comparators[0]
        parts = compared.elts if isinstance(compared, ast.Tuple | ast.List | ast.Set) else [compared]
        if not isinstance(one.test.ops[0], ast.In | ast.Eq) or not all(
            isinstance(part, ast.Constant) for part in parts
        ):
            return None
        names |= {str(part.value) for part in parts if isinstance(part, ast.Constant)}
    return names


def _shorten(cls: ast.ClassDef) -> None:
    """Drop the bodies of those methods of a class that nobody reads: a large package has a hundred thousand."""
    for method in methods_of(cls):
        if method.args.kwarg is None and method.name not in _READ_METHODS:
            method.body = [ast.Pass()]


def _last(expression: ast.expr) -> str:
    """The last part of a dotted name."""
    if isinstance(expression, ast.Call):
        return _last(expression.func)
    return expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")


def methods_of(cls: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The methods of a class statement, those in branches too, without overloads and setters."""
    pending: list[ast.stmt] = list(cls.body)
    for one in pending:
        if isinstance(one, ast.FunctionDef):
            if not {_last(decorator) for decorator in one.decorator_list} & {"overload", "setter", "deleter"}:
                yield one
        elif isinstance(one, ast.If):
            pending += (*one.body, *one.orelse)
