"""Extracts which attributes of a Brain come or go: `python -m modellint.knowledge.list_members PATH...`.

Each PATH is a folder that holds the unpacked package of one release. An attribute counts that the class defines, stores
or reads, or that is one of the options of a run, which its constructor sets. Those that all releases have are left out.
"""

from __future__ import annotations

import argparse
import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.knowledge import members as form
from modellint.knowledge.regenerate import release_of, release_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PACKAGE = "speechbrain"
#: The files with the class and with the options.
_FILES = ("core.py", "utils/run_opts.py")
_CLASS, _OPTIONS, _DEFAULTS = "Brain", "RunOptions", "run_opt_defaults"


def names_of(root: Path) -> set[str]:
    """The attributes of a Brain in the release below a folder."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for one in _FILES if (path := root / _PACKAGE / one).exists()]
    return {name for tree in trees for node in ast.walk(tree) for name in _names_in(node)}


def _names_in(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ClassDef) and node.name == _CLASS:
        yield from (one.name for one in node.body if isinstance(one, ast.FunctionDef))
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self":
                yield part.attr
    elif isinstance(node, ast.ClassDef) and node.name == _OPTIONS:
        fields = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
        yield from (target.id for target in fields if isinstance(target, ast.Name))
    elif (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Dict)
        and _DEFAULTS in map(ast.unparse, node.targets)
    ):
        yield from (str(key.value) for key in node.value.keys if isinstance(key, ast.Constant))


def extract(roots: Sequence[Path]) -> dict[str, object]:
    """The releases, the newest first, and the first and last that have a name, for names that not all have."""
    found = {release_of(root, _PACKAGE).partition("+")[0]: names_of(root) for root in roots}
    releases = sorted(found, key=release_order)
    rows: dict[str, str] = {}
    for name in sorted(set().union(*found.values())):
        having = [release for release in releases if name in found[release]]
        if len(having) < len(releases):
            rows[name] = f"{having[0]} {having[-1]}"
    return {"releases": releases[::-1], "members": rows}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modellint.knowledge.list_members", description=__doc__)
    parser.add_argument("roots", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--into", type=Path, default=Path(form.__file__).parent)
    options = parser.parse_args(arguments)
    text = json.dumps(extract(options.roots), separators=(",", ":"))
    (options.into / form.FILE).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
