"""The signatures of earlier releases of torch, for `list_signatures`, which compares them with the installed one.

A release is an unpacked wheel, for whatever system: `pip download --no-deps --only-binary=:all: torch==2.0.1`. Its
stubs, docstrings and definitions are read as text. Functions without a stub, such as those of `torch.linalg`, are left
out, and so are constructors of layers.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from modellint.knowledge import stubs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

#: The files with the functions of modules.
_FUNCTIONS = {
    "torch": "functional.py",
    "torch.nn.functional": "nn/functional.py",
    "torch.nn.init": "nn/init.py",
    "torch.nn.utils.rnn": "nn/utils/rnn.py",
}
#: The files with the classes of modules.
_CLASSES = {
    "torch.optim": "optim/*.py",
    "torch.optim.lr_scheduler": "optim/lr_scheduler.py",
    "torch.optim.swa_utils": "optim/swa_utils.py",
}
#: What a dimension was, too: its name, or `...`.
_NAMED = "sN"


def signatures_of(folder: Path) -> dict[str, str]:
    """The lines of the functions, methods and classes of the torch in a folder, by their full names."""
    native = stubs.overloads(folder / stubs.FUNCTIONS)
    found: dict[str, str | None] = {}
    found.update((f"torch.{name}", _native(folder, f"torch.{name}", lines)) for name, lines in native.items())
    for module, file in _FUNCTIONS.items():
        found.update(_functions(folder, module, file))
    found.update(_methods(folder))
    for module, pattern in _CLASSES.items():
        for path in sorted(folder.glob(pattern)):
            found.update(_constructors(module, path))
    return {name: line for name, line in found.items() if line is not None and name.rpartition(".")[2][0] != "_"}


def _native(folder: Path, name: str, lines: Sequence[str]) -> str | None:
    """The line of a function with these overloads; None if there are none."""
    owner, _, short = name.rpartition(".")
    if short.startswith("sparse_"):
        lines = stubs.plain_overloads(lines)
    if owner == "Tensor":
        lines = [*lines, *stubs.old_overloads(folder / stubs.FUNCTIONS).get(short.removesuffix("_"), ())]
    if not lines:
        return None
    texts = _docstrings(folder).get(f"{owner.partition('.')[0]}.{short}", ())
    return stubs.joined(lines, {one for text in texts for one in stubs.docstring_names(text, short)})


def _functions(folder: Path, module: str, file: str) -> Iterator[tuple[str, str | None]]:
    """The functions of a Python file, and those that it gives another name or docstring."""
    native, nn_native = (stubs.overloads(folder / one) for one in (stubs.FUNCTIONS, stubs.NN_FUNCTIONS))
    own: dict[str, str | None] = {}
    for node in stubs.tree(folder / file):
        if isinstance(node, ast.FunctionDef):
            own[node.name] = _of_python(node, is_method=False)
            yield f"{module}.{node.name}", own[node.name]
        elif (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name)
        ):
            name, call = node.targets[0].id, node.value
            other = next((one.value for one in call.keywords if one.arg == "if_false"), None)
            source, _, given = (ast.unparse(call.args[0]) if call.args else "").rpartition(".")
            if isinstance(other, ast.Name):
                yield f"{module}.{name}", own.get(other.id)
            elif source in ("torch", "torch._C._nn"):
                lines = (native if source == "torch" else nn_native).get(given, [])
                yield f"{module}.{name}", _native(folder, f"{module}.{name}", lines)


def _methods(folder: Path) -> Iterator[tuple[str, str | None]]:
    for name, lines in stubs.overloads(folder / "_C/__init__.pyi", "TensorBase", "_TensorBase").items():
        yield f"Tensor.{name}", _native(folder, f"Tensor.{name}", lines)
    classes = (one for one in stubs.tree(folder / "_tensor.py") if isinstance(one, ast.ClassDef))
    for cls in classes:
        for node in cls.body if cls.name == "Tensor" else ():
            if isinstance(node, ast.FunctionDef) and not _is_marked(node, "property"):
                yield f"Tensor.{node.name}", _of_python(node, is_method=True)


def _constructors(module: str, path: Path) -> Iterator[tuple[str, str | None]]:
    for cls in (one for one in stubs.tree(path) if isinstance(one, ast.ClassDef)):
        for node in cls.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__" and not _is_marked(node, "overload"):
                line = _of_python(node, is_method=True)
                yield f"{module}.{cls.name}", None if line is None or "*" in line else line


def _is_marked(node: ast.FunctionDef, word: str) -> bool:
    return any(word in ast.unparse(one) for one in node.decorator_list)


def _of_python(node: ast.FunctionDef, *, is_method: bool) -> str | None:
    """The parameters of a Python function; None where it passes on what it is given."""
    taken, words = node.args, ["def"]
    plain = [*taken.posonlyargs, *taken.args]
    needed = len(plain) - len(taken.defaults)
    for number, one in enumerate(plain[is_method:], is_method):
        words.append(stubs.word(one.arg, "", "", "", has_default=number >= needed))
    words += [f"*{taken.vararg.arg}"] if taken.vararg is not None else []
    for one, default in zip(taken.kwonlyargs, taken.kw_defaults, strict=True):
        words.append(stubs.word(one.arg, "", ":", "", has_default=default is not None))
    if taken.kwarg is not None and len(words) <= 2:
        return None
    return " ".join([*words, f"**{taken.kwarg.arg}"] if taken.kwarg is not None else words)


@cache
def _docstrings(folder: Path) -> dict[str, list[str]]:
    """The docstrings that torch gives its native functions and methods: `torch.cat`, `Tensor.view`."""
    found: dict[str, list[str]] = {}
    for file, owner in (("_torch_docs.py", "torch"), ("_tensor_docs.py", "Tensor")):
        for node in stubs.tree(folder / file):
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call) and call.args:
                first = call.args[0]
                name = str(first.value) if isinstance(first, ast.Constant) else ast.unparse(first).rpartition(".")[2]
                constants = (part.value for part in ast.walk(call) if isinstance(part, ast.Constant))
                found.setdefault(f"{owner}.{name}", []).extend(one for one in constants if isinstance(one, str))
    return found


# -- what differs ----------------------------------------------------------------------------------------------------


def differing(
    earlier: Mapping[str, str], installed: Mapping[str, str], shipped: Mapping[str, str]
) -> dict[str, str | None]:
    """The lines of an earlier release that take other parameters than the installed one; None for what it lacks.

    `installed` are the lines that the same reading finds there. Kinds are kept that the shipped lines have, too, for
    earlier stubs were less exact.
    """
    found: dict[str, str | None] = {}
    for name in sorted({*installed, *earlier}):
        old, new = earlier.get(name), installed.get(name)
        if name not in shipped and new is not None:
            continue
        if old is None:
            found[name] = None
        elif new is None or _parameters(old) != _parameters(new):
            found[name] = _with_known_kinds(old, new or "")
    return found


def _parameters(line: str) -> list[str]:
    """The overloads of a line, without kinds, in alphabetical order; those that differ in kinds count each."""
    return sorted(stubs.plain_overloads(line.partition(" + ")[0].split(" | ")))


def _with_known_kinds(old: str, new: str) -> str:
    known = {_core(word): word.partition("/")[2] for word in new.split()}
    parts, plus, more = old.partition(" + ")
    words = []
    for word in parts.split(" "):
        name, _, kinds = word.partition("/")
        kinds = _NAMED if "dim" in name and kinds == _NAMED else known.get(_core(word), "")
        words.append(f"{name}/{kinds}" if kinds else name)
    return " ".join(words) + plus + more


def _core(word: str) -> tuple[str, str]:
    """The name and kinds of a parameter, without None, which many stubs leave out."""
    name, _, kinds = word.partition("/")
    return name.rstrip(":="), kinds.replace("N", "")
