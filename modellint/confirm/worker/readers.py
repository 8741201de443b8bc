"""Find out whether any code reads an attribute: its class and subclasses, or other code of the package."""

from __future__ import annotations

import ast
import inspect
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Functions and attributes that read attributes without naming them.
_READS_ANY = frozenset(
    ("getattr", "vars", "children", "named_children", "modules", "named_modules", "__dict__", "_modules", "_parameters")
)
#: The most bytes of code around a class that are read; beyond that, any attribute may be read.
_MOST_CODE = 20_000_000


def is_read(owner: object, attribute: str) -> bool:
    """True if an attribute may be read outside of constructors, or if not all code can be read."""
    classes = [cls for cls in type(owner).__mro__ if not cls.__module__.startswith(("torch.", "builtins"))]
    try:
        files = {os.path.realpath(inspect.getfile(cls)) for cls in classes}
        names = {cls.__name__ for cls in classes}
        if any(_reads_own(ast.parse(_text(path)), names, attribute) for path in files):
            return True
        name = re.escape(attribute)
        elsewhere = re.compile(rf"\.{name}\b(?!\s*=[^=])|[\"']{name}[\"'.]")
        return any(elsewhere.search(_text(path)) for path in _around(next(iter(files))) if path not in files)
    except (OSError, TypeError, SyntaxError, StopIteration, UnicodeDecodeError):
        return True


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def _around(path: str) -> Iterator[str]:
    """The files of the package that a file lies in, or of its folder. Raises OSError if these are too many to read."""
    folder, left = os.path.dirname(path), _MOST_CODE
    while os.path.isfile(os.path.join(os.path.dirname(folder), "__init__.py")):
        folder = os.path.dirname(folder)
    for above, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".py", ".ipynb")):
                found = os.path.realpath(os.path.join(above, name))
                left -= os.path.getsize(found)
                if left < 0:
                    raise OSError("too much code")
                yield found


def _reads_own(tree: ast.Module, names: set[str], attribute: str) -> bool:
    """True if code of a file reads an attribute, by name or dynamically; those of unrelated classes do not count."""
    strangers = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name not in names]
    derived = {one for one in strangers if _derives(one, names, strangers)}
    theirs = {id(part) for one in strangers if one not in derived for part in ast.walk(one)}
    made = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value == attribute and id(node) not in made:
            return True
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in made:
            is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
            is_it = node.attr == attribute or (node.attr in _READS_ANY and is_own)
            if is_it and not (is_own and id(node) in theirs):
                return True
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _READS_ANY
        if is_call and id(node) not in theirs and id(node) not in made and not _names_another(node, attribute):
            return True
    return False


def _names_another(node: ast.AST, attribute: str) -> bool:
    """True if a `getattr` reads another attribute."""
    given = node.args[1] if isinstance(node, ast.Call) and len(node.args) > 1 else None
    return isinstance(given, ast.Constant) and given.value != attribute


def _derives(node: ast.ClassDef, names: set[str], classes: list[ast.ClassDef]) -> bool:
    """True if a class derives from one of `names`, as far as the file tells."""
    pending, seen = [node], set[str]()
    while pending:
        one = pending.pop()
        bases = {getattr(base, "attr", getattr(base, "id", "")) for base in one.bases}
        if bases & names:
            return True
        pending += [other for other in classes if other.name in bases - seen]
        seen |= bases
    return False
