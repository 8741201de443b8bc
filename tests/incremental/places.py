"""The paths that a module makes of its own: `ROOT = Path(__file__).parent.parent`, and later `ROOT / "docs"`."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Calls that give the path that they are called on.
_SAME = ("resolve", "absolute")
#: Imports tell what an entry of the search path is for.
_SEARCH_PATH = ("sys.path.insert", "sys.path.append")


def constants(tree: ast.Module, file: str, imported: Mapping[str, str]) -> dict[str, str]:
    """The paths, from the root of the repository, that the names of a module stand for.

    `imported` has those of names from other modules.
    """
    found = dict(imported)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            path = _path(node.value, file, found)
            if path is not None:
                found[node.targets[0].id] = path
    return found


def used(tree: ast.Module, file: str, known: Mapping[str, str]) -> Iterator[str | None]:
    """The paths that a module uses, None for one that cannot be told; "" is the root of the repository."""
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, is_bound = pending.pop()
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _SEARCH_PATH:
            continue
        path = _path(node, file, known) if isinstance(node, ast.expr) else None
        if path is not None:
            if not is_bound:
                yield path
            continue
        if isinstance(node, ast.Name) and node.id == "__file__":
            yield None
        is_constant = isinstance(node, ast.Assign) and node in tree.body and isinstance(node.targets[0], ast.Name)
        if isinstance(node, ast.Assign) and is_constant:
            pending.append((node.value, True))
        else:
            pending += [(child, False) for child in ast.iter_child_nodes(node)]


def _path(node: ast.expr, file: str, known: Mapping[str, str]) -> str | None:
    """The path that an expression gives, None where it is none or depends on more."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return known.get(name)
        case ast.Call(func=ast.Name(id="Path"), args=[ast.Name(id="__file__")]):
            return file
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _SAME:
            return _path(inner, file, known)
        case ast.Call(func=ast.Attribute(value=inner, attr="with_name"), args=[ast.Constant(value=str(name))]):
            return _join(_above(_path(inner, file, known), 1), name)
        case ast.Call(func=ast.Attribute(attr="dirname"), args=[ast.Name(id="__file__")]):
            return _above(file, 1)
        case ast.Call(func=ast.Attribute(attr="join"), args=[inner, *parts]) if all(map(_is_text, parts)):
            return _join(_path(inner, file, known), "/".join(ast.literal_eval(part) for part in parts))
        case ast.Attribute(value=inner, attr="parent"):
            return _above(_path(inner, file, known), 1)
        case ast.Subscript(value=ast.Attribute(value=inner, attr="parents"), slice=ast.Constant(value=int(number))):
            return _above(_path(inner, file, known), number + 1)
        case ast.BinOp(left=inner, op=ast.Div(), right=ast.Constant(value=str(name))):
            return _join(_path(inner, file, known), name)
        case ast.BinOp(left=inner, op=ast.Div(), right=ast.JoinedStr(values=[ast.Constant(value=str(name)), *_])):
            return _join(_path(inner, file, known), name.rpartition("/")[0])
    return None


def _above(path: str | None, levels: int) -> str | None:
    if path is None or len(path.split("/")) < levels:
        return None
    return "/".join(path.split("/")[:-levels])


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _join(path: str | None, name: str) -> str | None:
    joined = None if path is None else os.path.normpath(os.path.join(path, name)).replace("\\", "/")
    return "" if joined == "." else joined
