"""What is imported, by other names and on other ways."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers as m

from rewriting.code import is_import, start_of, statements, with_imports
from rewriting.rewriting import Kind, Rewriting, changed, each_module, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rewriting.marks import Files

_MODULES = ("torch", "torch.nn", "torch.nn.functional", "torch.nn.utils.rnn", "torch.distributions", "torch.optim")


@dataclass(frozen=True)
class Binding:
    """A name that an import at the top of a module binds, and to what."""

    name: str
    path: str

    @property
    def is_torch(self) -> bool:
        return self.path.partition(".")[0] == "torch"

    def line(self, name: str) -> str:
        """The import that binds another name to the same."""
        package, _, last = self.path.rpartition(".")
        if not package:
            return f"import {last}" + (f" as {name}" if name != last else "")
        return f"from {package} import {last}" + (f" as {name}" if name != last else "")


def bindings(module: cst.Module) -> list[Binding]:
    """What the imports at the top of a module bind."""
    found = []
    for node in ast.parse(module.code).body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found.append(Binding(alias.asname or whole, whole))
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module != "__future__":
            found += [Binding(alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names]
    return [binding for binding in found if binding.name != "*"]


def _bound_otherwise(module: cst.Module) -> set[str]:
    """Names that a module binds without importing them."""
    names = set()
    for node in ast.walk(ast.parse(module.code)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
    return names


class Renamed(cst.CSTTransformer):
    """Names of a module by others, or by expressions; imports are left alone."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._new = {name: cst.parse_expression(code) for name, code in names.items()}

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def leave_Attribute(self, original: cst.Attribute, node: cst.Attribute) -> cst.Attribute:
        return node.with_changes(attr=original.attr)

    def leave_Arg(self, original: cst.Arg, node: cst.Arg) -> cst.Arg:
        return node.with_changes(keyword=original.keyword)

    def leave_Name(self, original: cst.Name, node: cst.Name) -> cst.BaseExpression:
        new = self._new.get(node.value)
        return node if new is None else new.with_changes(lpar=node.lpar, rpar=node.rpar)


def without_imports(module: cst.Module, names: Iterable[str]) -> cst.Module:
    """A module whose imports do not bind these names."""
    unwanted = set(names)
    body = []
    for statement in module.body:
        if not is_import(statement):
            body.append(statement)
            continue
        for line in ast.parse(module.code_for_node(statement)).body:
            kept = [alias for alias in line.names if _bound(line, alias) not in unwanted]  # type: ignore[attr-defined]
            if len(kept) == len(line.names):  # type: ignore[attr-defined]
                body.append(statement)
            elif kept:
                line.names = kept  # type: ignore[attr-defined]
                body += statements(ast.unparse(line))
    return module.with_changes(body=body)


def _bound(line: ast.stmt, alias: ast.alias) -> str:
    return alias.asname or (alias.name.partition(".")[0] if isinstance(line, ast.Import) else alias.name)


def _replaced(module: cst.Module, old: Iterable[Binding], lines: list[str], names: Mapping[str, str]) -> cst.Module:
    """Other imports in the place of some, and other names for what they bound."""
    result = without_imports(module.visit(Renamed(names)), [binding.name for binding in old])
    position = next((number for number, part in enumerate(module.body) if is_import(part)), start_of(module))
    position = min(position, len(result.body))
    body = [*result.body[:position], *statements("\n".join(dict.fromkeys(lines))), *result.body[position:]]
    return result.with_changes(body=body)


def _chosen(module: cst.Module, choose: Callable[[Binding], bool]) -> list[Binding]:
    otherwise = _bound_otherwise(module)
    return [binding for binding in bindings(module) if choose(binding) and binding.name not in otherwise]


def _under_other_names(choose: Callable[[Binding], bool]) -> Callable[[cst.Module], cst.Module]:
    def change(module: cst.Module) -> cst.Module:
        chosen = _chosen(module, choose)
        if not chosen:
            return module
        short = {"torch": "th", "nn": "tn", "F": "tf"}
        names = {each.name: short.get(each.name, f"other{number}") for number, each in enumerate(chosen)}
        return _replaced(module, chosen, [each.line(names[each.name]) for each in chosen], names)

    return change


def _as_modules(module: cst.Module) -> cst.Module:
    """`import torch.nn as nn` for `from torch import nn`, and the other way round."""
    chosen = _chosen(module, lambda binding: binding.path in _MODULES[1:])
    if not chosen:
        return module
    lines = []
    for each in chosen:
        line = f"import {each.path} as {each.name}"
        lines.append(each.line(each.name) if line in module.code else line)
    return _replaced(module, chosen, lines, {})


def _as_modules_with_other_names(module: cst.Module) -> cst.Module:
    """`import torch.nn as c`."""
    chosen = _chosen(module, lambda binding: binding.path in _MODULES)
    names = {each.name: f"c{number}" for number, each in enumerate(chosen)}
    return _replaced(module, chosen, [f"import {each.path} as {names[each.name]}" for each in chosen], names)


def _in_full(module: cst.Module) -> cst.Module:
    """`torch.nn.Linear`, and so on."""
    chosen = _chosen(module, lambda binding: binding.is_torch)
    if not chosen or all(each.path == "torch" for each in chosen):
        return module
    packages = [each.path for each in chosen if each.path in _MODULES]
    lines = [f"import {path}" for path in dict.fromkeys(["torch", *packages])]
    return _replaced(module, chosen, lines, {each.name: each.path for each in chosen})


class _Direct(cst.CSTTransformer):
    """Attributes of modules by names of their own."""

    def __init__(self, modules: Mapping[str, str], taken: set[str], rename: Callable[[str], str]) -> None:
        self._modules = modules
        self._taken = taken
        self._rename = rename
        self.lines: dict[str, None] = {}

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def leave_Attribute(self, original: cst.Attribute, node: cst.Attribute) -> cst.BaseExpression:
        if not isinstance(node.value, cst.Name) or node.value.value not in self._modules:
            return node
        path = f"{self._modules[node.value.value]}.{node.attr.value}"
        name = self._rename(node.attr.value)
        if path in _MODULES or name in self._taken:
            return node
        self.lines[Binding(name, path).line(name)] = None
        return cst.Name(name, lpar=node.lpar, rpar=node.rpar)


def _directly(rename: Callable[[str], str]) -> Callable[[cst.Module], cst.Module]:
    def change(module: cst.Module) -> cst.Module:
        modules = {each.name: each.path for each in _chosen(module, lambda binding: binding.path in _MODULES)}
        taken = _bound_otherwise(module) | {binding.name for binding in bindings(module)} | set(dir(builtins))
        direct = _Direct(modules, taken, rename)
        result = with_imports(module.visit(direct), list(direct.lines))
        read = {node.value for node in m.findall(result, m.Name()) if isinstance(node, cst.Name)}
        used = {node.id for node in ast.walk(ast.parse(result.code)) if isinstance(node, ast.Name)} & read
        return without_imports(result, set(modules) - used)

    return change


def _by_assignment(module: cst.Module) -> cst.Module:
    """`import torch` and `nn = torch.nn`."""
    chosen = _chosen(module, lambda binding: binding.path in _MODULES[1:])
    if not chosen:
        return module
    lines = ["import torch", *(f"import {each.path}" for each in chosen if each.path.count(".") > 1)]
    result = _replaced(module, chosen, [line for line in lines if f"{line}\n" not in module.code], {})
    position = start_of(result)
    made = statements("\n".join(f"{each.name} = {each.path}" for each in chosen))
    return result.with_changes(body=[*result.body[:position], *made, *result.body[position:]])


def _in_try(module: cst.Module) -> cst.Module:
    chosen = _chosen(module, lambda binding: binding.is_torch)
    if not chosen:
        return module
    lines = "\n".join(f"    {each.line(each.name)}" for each in chosen)
    nothing = " = ".join(each.name for each in chosen)
    return _replaced(module, chosen, [f"try:\n{lines}\nexcept ImportError:\n    {nothing} = None"], {})


def _by_project(star: bool) -> Callable[[Files], dict[str, str] | None]:
    """A file of the project imports torch, and all others import from that file."""

    def rewrite(files: Files) -> dict[str, str] | None:
        if any("/" in path for path in files if path.endswith(".py")):
            return None
        result, lines = dict(files), dict[str, None]()
        for path, text in files.items():
            module = parsed(text) if path.endswith(".py") else None
            chosen = _chosen(module, lambda binding: binding.is_torch) if module else []
            if module and chosen:
                names = ", ".join(sorted({each.name for each in chosen}))
                result[path] = _replaced(module, chosen, [f"from common import {'*' if star else names}"], {}).code
                lines.update(dict.fromkeys(each.line(each.name) for each in chosen))
        if lines:
            result["common.py"] = "\n".join([*sorted(lines), ""])
        return changed(files, result)

    return rewrite


def _syntax(name: str, change: Callable[[cst.Module], cst.Module]) -> Rewriting:
    return Rewriting(name, Kind.SYNTAX, each_module(change))


REWRITINGS = (
    _syntax("torch, nn and F imported under other names", _under_other_names(lambda binding: binding.is_torch)),
    _syntax("all imports under other names", _under_other_names(lambda binding: True)),
    _syntax("`import torch.nn as nn` or `from torch import nn`", _as_modules),
    _syntax("`import torch.nn as c`", _as_modules_with_other_names),
    _syntax("`torch.nn.Linear` in full", _in_full),
    _syntax("`from torch.nn import Linear`", _directly(lambda name: name)),
    _syntax("`from torch.nn import Linear as L`", _directly(lambda name: f"the{len(name)}{name[0]}{name[-1]}")),
    _syntax("`nn = torch.nn`", _by_assignment),
    _syntax("torch imported inside of try", _in_try),
    Rewriting("torch imported from a file of the project", Kind.SYNTAX, _by_project(star=False)),
    Rewriting("a star import of a file of the project", Kind.SYNTAX, _by_project(star=True)),
)
