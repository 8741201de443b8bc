"""Lists the names that packages register: `python -m modellint.knowledge.list_registered FOLDER...`.

Each FOLDER holds one unpacked package and its `.dist-info`. A name counts if `register_module` gives it, or decorates a
class or function of that name; names that a loop registers are not seen.
"""

from __future__ import annotations

import argparse
import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_REGISTER = "register_module"


def names_in(tree: ast.Module) -> Iterator[str]:
    """The names that a file registers."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    bound = {part.id for loop in loops for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            for decorator in node.decorator_list:
                if _is_registering(decorator):
                    given = list(_given_names(decorator))
                    yield from given or [node.name]
        elif isinstance(node, ast.Call) and _is_registering(node):
            targets = [keyword.value for keyword in node.keywords if keyword.arg == "module"]
            given = list(_given_names(node))
            yield from given
            if not given:
                names = (ast.unparse(target).rpartition(".")[2] for target in targets)
                yield from (name for name in names if name not in bound)


def _is_registering(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else node
    return isinstance(function, ast.Attribute) and function.attr == _REGISTER


def _given_names(node: ast.expr) -> Iterator[str]:
    """The names that a call gives."""
    if not isinstance(node, ast.Call):
        return
    values = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "name")]
    for value in values:
        for part in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


def list_names(folders: Sequence[Path]) -> dict[str, object]:
    """The packages' releases, and the names by the packages that register them."""
    packages: dict[str, set[str]] = {}
    releases: dict[str, set[str]] = {}
    for folder in folders:
        for info in sorted(folder.glob("*.dist-info")):
            name, version = info.name.removesuffix(".dist-info").split("-")[:2]
            releases.setdefault(name, set()).add(version)
        for path in sorted(folder.rglob("*.py")):
            package = path.relative_to(folder).parts[0]
            for name in names_in(ast.parse(path.read_text(encoding="utf-8"))):
                if name.isidentifier():
                    packages.setdefault(name, set()).add(package)
    names: dict[str, list[str]] = {}
    for name in sorted(packages):
        names.setdefault(" ".join(sorted(packages[name])), []).append(name)
    return {"releases": {name: sorted(found) for name, found in sorted(releases.items())}, "names": names}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description="List the names that packages register.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("registered.json"))
    options = parser.parse_args(arguments)
    text = json.dumps(list_names(options.folders), separators=(",", ":"), sort_keys=True)
    options.output.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
