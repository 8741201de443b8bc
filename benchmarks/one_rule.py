"""The functions, methods and classes of `flow/` and `link/` that one rule alone reaches, whatever module they are in.

They are told by name, so that what shares its name with something else counts as reached from there, too.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from house import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from house import House

RULES = "modellint_rules."
#: What rules share with the rooms of the engine; they may reach through it.
BELOW = ("modellint.graph.", "modellint.operators.", "modellint.knowledge.", *SHARED)


@dataclass(frozen=True, eq=False)
class Definition:
    """A function, class or constant; methods (`.name`) apart from their class. `mentions` are the names in it."""

    module: str
    name: str
    lines: int
    mentions: frozenset[str]


def one_rule_lines(found: House) -> dict[str, int]:
    """By rule, the lines of definitions that nothing but the rule reaches."""
    everything = [one for module, source in found.sources.items() for one in _definitions(module, ast.parse(source))]
    by_name: defaultdict[str, list[Definition]] = defaultdict(list)
    for one in everything:
        by_name[one.name].append(one)
        if not one.name.startswith("."):
            by_name[f".{one.name}"].append(one)  # as an attribute of its module
    starts: defaultdict[str, list[Definition]] = defaultdict(list)
    for one in everything:
        if not one.module.startswith(BELOW):
            starts[_owner(one.module)].append(one)
    reached_by: defaultdict[Definition, set[str]] = defaultdict(set)
    for owner, begin in starts.items():
        for one in _reached(begin, by_name, owner):
            if one.module.startswith(SHARED):
                reached_by[one].add(owner)
    alone: defaultdict[str, int] = defaultdict(int)
    for one, owners in reached_by.items():
        if len(owners) == 1 and (owner := next(iter(owners))):
            alone[owner] += one.lines
    return dict(alone)


def _owner(module: str) -> str:
    """The rule that a module belongs to; empty for all else."""
    return module.removeprefix(RULES).partition(".")[0] if module.startswith(RULES) else ""


def _reached(begin: Iterable[Definition], by_name: Mapping[str, list[Definition]], owner: str) -> set[Definition]:
    """What some definitions lead to, without other rules; a rule gets to the rest of modellint through no name."""
    seen, left = set(begin), list(begin)
    while left:
        for name in left.pop().mentions:
            for other in by_name.get(name, ()):
                is_near = other.module.startswith(BELOW) or _owner(other.module) == owner
                if other not in seen and is_near:
                    seen.add(other)
                    left.append(other)
    return seen


def _definitions(module: str, tree: ast.Module) -> Iterator[Definition]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield Definition(module, node.name, _lines(node), _names(node))
        elif isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("__")]
            rest = [one for one in node.body if one not in methods]
            heads = [*node.bases, *node.decorator_list, *rest]
            lines = 1 + sum(map(_lines, rest))
            yield Definition(module, node.name, lines, frozenset().union(*map(_names, heads)))
            yield from (Definition(module, f".{one.name}", _lines(one), _names(one)) for one in methods)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield Definition(module, target.id, _lines(node), _names(node))


def _lines(node: ast.stmt) -> int:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return (node.end_lineno or node.lineno) - first + 1


def _names(node: ast.AST) -> frozenset[str]:
    """The names in a piece of code, those of attributes with a dot before them."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(f".{part.attr}")
        elif isinstance(part, ast.ImportFrom):
            found.update(alias.name for alias in part.names)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
            found.add(f".{part.value}")
    return frozenset(found)
