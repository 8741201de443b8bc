"""Parameters of torch's functions as its stubs, docstrings and sources write them: nothing of it is imported.

A line is as `modellint.knowledge.signatures` reads it. `list_signatures` reads the installed torch with this, and
`list_earlier` the wheel of an earlier release.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: The stub of torch's functions, and that of the functions behind `torch.nn.functional`.
FUNCTIONS, NN_FUNCTIONS = "_C/_VariableFunctions.pyi", "_C/_nn.pyi"
#: What types of stubs take: a tensor, a list of them, an int, ints, a number, a bool, a text, a dtype, a device.
_TAKEN = {
    "Tensor": "T",
    "_int": "i",
    "SymInt": "i",
    "IntLikeType": "i",
    "_size": "I",
    "_float": "f",
    "Number": "f",
    "_complex": "f",
    "SymFloat": "f",
    "FloatLikeType": "f",
    "_bool": "b",
    "str": "s",
    "_dtype": "d",
    "None": "N",
    "DeviceLikeType": "v",
    "_device": "v",
    "EllipsisType": "N",
    "ellipsis": "N",
    "torch.SymInt": "i",
    "torch.SymFloat": "f",
}
_ORDER = "TLiIfbsdvN"
_SIGNATURE = re.compile(
    r"^\s*(?:\.\. \w+:: )?(?:[\w.]+\.)?(\w+)\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)\s*(?:->|$)", re.MULTILINE
)
_PARAMETER = re.compile(r"(?:^|[,(*])\s*\*{0,2}([A-Za-z_]\w*)(?=\s*(?:[=,:)]|$))")


def word(name: str, before: str, after: str, kinds: str, *, has_default: bool) -> str:
    name = "input" if name == "self" else name
    return f"{before}{name}{after}{'=' if has_default else ''}{f'/{kinds}' if kinds else ''}"


def kinds_of(annotation: ast.expr | None) -> str:
    """The letters of what a type of a stub takes, in order; empty for one that takes anything."""
    found: set[str] = set()
    pending = [annotation]
    while pending:
        node = pending.pop()
        owner = ast.unparse(node.value) if isinstance(node, ast.Subscript) else ""
        if isinstance(node, ast.BinOp):
            pending += [node.left, node.right]
        elif isinstance(node, ast.Subscript) and owner in ("Optional", "Union"):  # as earlier releases write it
            pending += node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            found.update("N" if owner == "Optional" else "")
        elif isinstance(node, ast.Subscript) and owner in ("Sequence", "tuple", "list", "Tuple", "List"):
            inner = kinds_of(node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice)
            if inner not in ("T", "i"):
                return ""
            found.add("L" if inner == "T" else "I")
        else:
            kind = "" if node is None else _TAKEN.get(ast.unparse(node), "")
            if not kind:
                return ""
            found.add(kind)
    if "v" in found:  # a device may be a text
        found.discard("s")
    return "".join(sorted(found, key=_ORDER.index))


def of_stub(node: ast.FunctionDef, *, is_method: bool) -> str:
    """One overload of a stub as a line."""
    taken, words = node.args, []
    plain = [*taken.posonlyargs, *taken.args]
    first_default = len(plain) - len(taken.defaults)
    for number, one in enumerate(plain):
        if not (is_method and number == 0):
            kinds = kinds_of(one.annotation)
            words.append(word(one.arg, "", "", kinds, has_default=number >= first_default))
    if taken.vararg is not None:
        words.append(word(taken.vararg.arg, "*", "", kinds_of(taken.vararg.annotation), has_default=False))
    for one, default in zip(taken.kwonlyargs, taken.kw_defaults, strict=True):
        words.append(word(one.arg, "", ":", kinds_of(one.annotation), has_default=default is not None))
    if taken.kwarg is not None:
        words.append(f"**{taken.kwarg.arg}")
    return " ".join(words)


@cache
def tree(path: Path) -> list[ast.stmt]:
    """The statements of a file; none if it is not there."""
    return ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []


@cache
def overloads(path: Path, *classes: str) -> dict[str, list[str]]:
    """The overloads of the functions of a stub, or of the methods of the class in it that has one of some names."""
    body = tree(path)
    if classes:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name in classes).body
    found: dict[str, list[str]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and not any(ast.unparse(one) == "property" for one in node.decorator_list):
            found.setdefault(node.name, []).append(of_stub(node, is_method=bool(classes)))
    return found


@cache
def old_overloads(path: Path) -> dict[str, list[str]]:
    """The deprecated overloads of functions, as methods take them: those whose tensor is still called `self`."""
    found: dict[str, list[str]] = {}
    for node in tree(path):
        if isinstance(node, ast.FunctionDef) and not any(one.arg == "out" for one in node.args.kwonlyargs):
            plain = [*node.args.posonlyargs, *node.args.args]
            if any(one.arg == "self" for one in plain):
                words = (word(one.arg, "", "", kinds_of(one.annotation), has_default=False) for one in plain)
                line = " ".join(word for word in words if not word.startswith("input"))
                found.setdefault(node.name, []).append(line)
    return found


def docstring_names(text: str, name: str) -> set[str]:
    """The names of the parameters in the first lines of the docstring of a function, or of overloads of it."""
    found: set[str] = set()
    for match in _SIGNATURE.finditer(text):
        if match[1] == name:
            found.update(_PARAMETER.findall(match[2]))
    return found


def joined(found: Iterable[str], more: set[str]) -> str:
    """The overloads of one function as a line, each once, and the names that only its docstring has."""
    lines = list(dict.fromkeys(found))
    known = {re.split(r"[:=/]", one.lstrip("*"))[0] for line in lines for one in line.split()}
    extra = sorted(more - known) if not lines[0].startswith("def") else ()
    return " | ".join(lines) + (f" + {' '.join(extra)}" if extra else "")


def plain_overloads(found: Iterable[str]) -> list[str]:
    """Overloads without kinds, of functions where lists of numbers stand for tensors, too."""
    return [re.sub(r"/\w+", "", one) for one in found]
