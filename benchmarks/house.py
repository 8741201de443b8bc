"""What the source of modellint looks like, in numbers: its rooms, its import cycles, and what serves one rule alone.

It is read as text and syntax trees; nothing of it is imported.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.reading.example_folders import EXAMPLES, TITLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: A test of what the interpreter was started for, in the code that all runs share.
MODE_TEST = re.compile(
    r"(tensors|lookups|training|turns|environment) is (not )?None"
    r"|(if|and|or|not|else) (not )?self\.(_?run\.)?(is_lazy|counts|names_parts)\b"
)
PACKAGES = {"modellint": "modellint", "rules": "modellint_rules"}
ROOMS = ("modellint", "rules", "tests", "benchmarks")
SHARED = ("modellint.flow.", "modellint.link.")


@dataclass(frozen=True)
class Import:
    """A module that another one imports; `is_typing` under `if TYPE_CHECKING`, `is_late` inside of a function."""

    target: str
    is_typing: bool
    is_late: bool


@dataclass(frozen=True)
class House:
    """The modules below a checkout, with their source, and what each imports of the others."""

    root: Path
    sources: Mapping[str, str]
    imports: Mapping[str, tuple[Import, ...]]

    def lines(self, module: str) -> int:
        return len(self.sources[module].splitlines())

    def rooms(self) -> dict[str, int]:
        """Lines of Python by folder, `modellint` by its own folders; that of tests and benchmarks as one each."""
        counts: Counter[str] = Counter()
        for room in ROOMS:
            for path in modules_below(self.root / room):
                below = path.relative_to(self.root).parts[1:-1]
                name = "/".join((room, *below)) if room == "modellint" else room
                counts[name] += len(path.read_text(encoding="utf-8").splitlines())
        return dict(counts)

    def mode_tests(self) -> dict[str, int]:
        """How many lines of each module of `flow/` ask what its run was started for."""
        found = {
            name: sum(MODE_TEST.search(line) is not None for line in source.splitlines())
            for name, source in self.sources.items()
            if name.startswith("modellint.flow.")
        }
        return {name: count for name, count in found.items() if count}

    def cycle(self, *, typing: bool, late: bool = True) -> list[str]:
        """The most modules that all reach each other, by imports for typing and inside of functions too if wanted."""
        graph = {
            name: [found.target for found in imports if (typing or not found.is_typing) and (late or not found.is_late)]
            for name, imports in self.imports.items()
        }
        return max(components(graph), key=len, default=[])


def read(root: Path) -> House:
    """The modules of `modellint/` and `rules/` below `root`. Raises FileNotFoundError where there are none."""
    sources, packages = {}, set()
    for folder, package in PACKAGES.items():
        for path in modules_below(root / folder):
            parts = (package, *path.relative_to(root / folder).with_suffix("").parts)
            name = ".".join(parts).removesuffix(".__init__")
            sources[name] = path.read_text(encoding="utf-8")
            if path.name == "__init__.py":
                packages.add(name)
    if not sources:
        raise FileNotFoundError(f"{root}: expected a checkout of modellint, with the folders modellint and rules")
    imports = {
        name: tuple(_imports(name, name in packages, ast.parse(source).body, sources))
        for name, source in sources.items()
    }
    return House(root, sources, imports)


def modules_below(folder: Path) -> list[Path]:
    """The Python files below a folder but for the examples of rules, which are no code of modellint's."""
    found = []
    for where, folders, names in os.walk(folder):
        if TITLES in names:
            folders[:] = [name for name in folders if name not in EXAMPLES]
        found += [Path(where, name) for name in names if name.endswith(".py")]
    return sorted(found)


def _imports(
    name: str,
    is_package: bool,
    body: Iterable[ast.AST],
    modules: Mapping[str, str],
    *,
    is_typing: bool = False,
    is_late: bool = False,
) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = name.split(".")
            above = parts[: len(parts) - node.level + is_package] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            inner = [f"{base}.{alias.name}" for alias in node.names]
            targets = [one if one in modules else base for one in inner]
        else:
            for_typing = isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING"
            is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield from _imports(
                name,
                is_package,
                (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)),
                modules,
                is_typing=is_typing or for_typing,
                is_late=is_late or is_function,
            )
            continue
        yield from (Import(one, is_typing, is_late) for one in dict.fromkeys(targets) if one in modules and one != name)


def _name(test: ast.expr) -> str:
    """The last name of a test that is nothing but a name, also one of a module."""
    return test.id if isinstance(test, ast.Name) else test.attr if isinstance(test, ast.Attribute) else ""


def reachable(graph: Mapping[str, Iterable[str]], start: str) -> set[str]:
    """The nodes that edges lead to from `start`, itself among them."""
    seen, left = {start}, [start]
    while left:
        new = set(graph.get(left.pop(), ())) - seen
        seen |= new
        left += new
    return seen


def components(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components of a graph."""
    reach = {node: reachable(graph, node) for node in graph}
    left, found = set(graph), []
    for node in graph:
        if node in left:
            component = [other for other in reach[node] if other in left and node in reach.get(other, ())]
            left.difference_update(component)
            found.append(sorted(component))
    return found
