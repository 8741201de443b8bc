"""Writes down what torch's functions, methods and constructors take: `python -m modellint.knowledge.list_signatures`.

The stubs in the installed package tell what its native functions take, as they are made from the same table as torch's
parser of arguments. Its schemas tell that of modules without a stub, and `inspect` that of Python functions. A name
that only a docstring has counts as taken.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.utils.rnn
import torch.optim.swa_utils
from torch import _jit_internal

from modellint.knowledge.signatures import FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_FOLDER = Path(torch.__file__).parent
#: Modules of functions; the stub of each, or the beginning of its names in schemas.
_MODULES = {
    "torch": "_C/_VariableFunctions.pyi",
    "torch.nn.functional": "_C/_nn.pyi",
    "torch.linalg": "linalg_",
    "torch.fft": "fft_",
    "torch.special": "special_",
    "torch.nn.init": "",
    "torch.nn.utils": "",
    "torch.nn.utils.rnn": "",
    "torch.autograd": "",
}
#: Modules of classes, which are all written in Python.
_CLASSES = ("torch.optim", "torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.utils.data")
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
    "EllipsisType": "N",
    "torch.SymInt": "i",
    "torch.SymFloat": "f",
}
_ORDER = "TLiIfbsdvN"
_SIGNATURE = re.compile(
    r"^\s*(?:\.\. \w+:: )?(?:[\w.]+\.)?(\w+)\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)\s*(?:->|$)", re.MULTILINE
)
_MARKS = {
    inspect.Parameter.POSITIONAL_ONLY: ("", ""),
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ("", ""),
    inspect.Parameter.VAR_POSITIONAL: ("*", ""),
    inspect.Parameter.KEYWORD_ONLY: ("", ":"),
    inspect.Parameter.VAR_KEYWORD: ("**", ""),
}
#: Settings that lists of parameters no longer have, but had in releases that are still in use.
_HAD = {"torch.optim.lr_scheduler": "verbose"}


def _word(name: str, before: str, after: str, kinds: str, *, has_default: bool) -> str:
    name = "input" if name == "self" else name
    return f"{before}{name}{after}{'=' if has_default else ''}{f'/{kinds}' if kinds else ''}"


def _kinds(annotation: ast.expr | None) -> str:
    """The letters of what a type of a stub takes, in order; empty for one that takes anything."""
    found: set[str] = set()
    pending = [annotation]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.BinOp):
            pending += [node.left, node.right]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("Sequence", "tuple", "list"):
            inner = _kinds(node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice)
            if inner not in ("T", "i"):
                return ""
            found.add("L" if inner == "T" else "I")
        else:
            kind = "" if node is None else _TAKEN.get(ast.unparse(node), "")
            if not kind:
                return ""
            found.add(kind)
    return "".join(sorted(found, key=_ORDER.index))


def _of_stub(node: ast.FunctionDef, *, is_method: bool) -> str:
    """One overload of a stub as a line."""
    taken, words = node.args, []
    plain = [*taken.posonlyargs, *taken.args]
    first_default = len(plain) - len(taken.defaults)
    for number, one in enumerate(plain):
        if not (is_method and number == 0):
            kinds = _kinds(one.annotation)
            words.append(_word(one.arg, "", "", kinds, has_default=number >= first_default))
    if taken.vararg is not None:
        words.append(_word(taken.vararg.arg, "*", "", _kinds(taken.vararg.annotation), has_default=False))
    for one, default in zip(taken.kwonlyargs, taken.kw_defaults, strict=True):
        words.append(_word(one.arg, "", ":", _kinds(one.annotation), has_default=default is not None))
    if taken.kwarg is not None:
        words.append(f"**{taken.kwarg.arg}")
    return " ".join(words)


@cache
def _stub(path: str, cls: str = "") -> dict[str, list[str]]:
    """The overloads of the functions of a stub, or of the methods of a class in it."""
    body: Sequence[ast.stmt] = ast.parse((_FOLDER / path).read_text(encoding="utf-8")).body
    if cls:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == cls).body
    found: dict[str, list[str]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and not any(ast.unparse(one) == "property" for one in node.decorator_list):
            found.setdefault(node.name, []).append(_of_stub(node, is_method=bool(cls)))
    return found


@cache
def _old_overloads() -> dict[str, list[str]]:
    """The deprecated overloads of functions, as methods take them: those whose tensor is still called `self`."""
    found: dict[str, list[str]] = {}
    for node in ast.parse((_FOLDER / _MODULES["torch"]).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and not any(one.arg == "out" for one in node.args.kwonlyargs):
            plain = [*node.args.posonlyargs, *node.args.args]
            if any(one.arg == "self" for one in plain):
                words = (_word(one.arg, "", "", _kinds(one.annotation), has_default=False) for one in plain)
                line = " ".join(word for word in words if not word.startswith("input"))
                found.setdefault(node.name, []).append(line)
    return found


def _type_of_schema(argument: Any) -> str:
    """The letters of what an argument of a schema takes."""
    text = str(argument.type)
    optional = re.fullmatch(r"Optional\[(.*)\]", text)
    none = "N" if optional else ""
    plain = optional[1] if optional else text
    if argument.name == "dtype":
        return f"d{none}"
    if argument.name in ("layout", "device", "pin_memory"):
        return ""
    found = {"Tensor": "T", "List[Tensor]": "L", "int": "i", "SymInt": "i", "number": "f", "float": "f", "bool": "b"}
    kinds = found.get(plain, {"str": "s", "List[int]": "I", "List[SymInt]": "I"}.get(plain, ""))
    if kinds == "I":
        kinds = "iI"
    return kinds and kinds + none


@cache
def _schemas() -> dict[str, list[str]]:
    """The overloads of torch's operators by name, as they are called from Python."""
    found: dict[str, list[str]] = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace != "aten" or any(one.is_out for one in schema.arguments):
            continue
        words = [
            _word(one.name, "", ":" * one.kwarg_only, _type_of_schema(one), has_default=one.has_default_value())
            for one in schema.arguments
        ]
        words.append("out:=")
        if any(one.name == "pin_memory" for one in schema.arguments):
            words.append("requires_grad:=")
        found.setdefault(name, []).append(" ".join(words))
    return found


def _of_python(function: Any, *, is_method: bool = False) -> list[str]:
    """The parameters of a Python function; none where it passes on what it is given."""
    dispatched = _jit_internal.boolean_dispatched.get(function) if inspect.isfunction(function) else None
    if dispatched is not None:
        return _of_python(dispatched["if_false"])
    try:
        parameters = list(inspect.signature(function).parameters.values())[is_method:]
    except (TypeError, ValueError):
        return []
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters) and len(parameters) <= 2:
        return []
    words = (
        _word(one.name, *_MARKS[one.kind], "", has_default=one.default is not inspect.Parameter.empty)
        for one in parameters
    )
    return [" ".join(("def", *words))]


def _docstring_names(function: Any) -> set[str]:
    """The names of the parameters in the first lines of a docstring: of the function, or of overloads of it."""
    found: set[str] = set()
    name = getattr(function, "__name__", "")
    for match in _SIGNATURE.finditer(getattr(function, "__doc__", None) or ""):
        if match[1] == name:
            found.update(re.findall(r"(?:^|[,(*])\s*\*{0,2}([A-Za-z_]\w*)(?=\s*(?:[=,:)]|$))", match[2]))
    return found


def _line(overloads: Iterable[str], function: Any) -> str:
    """The overloads of one function as a line, each once, and the names that only its docstring has."""
    overloads = list(dict.fromkeys(overloads))
    known = {re.split(r"[:=/]", word.lstrip("*"))[0] for one in overloads for word in one.split()}
    more = _docstring_names(function) - known if not overloads[0].startswith("def") else ()
    return " | ".join(overloads) + (f" + {' '.join(sorted(more))}" if more else "")


def _functions(module: str, source: str) -> Iterator[tuple[str, str]]:
    home = inspect.getmodule(torch) if module == "torch" else _module(module)
    for name in sorted(dir(home)):
        function = getattr(home, name)
        if name.startswith("_") or not callable(function) or isinstance(function, type):
            continue
        if getattr(function, "__module__", "torch") not in (None, "torch") and not str(
            getattr(function, "__module__", "")
        ).startswith("torch"):
            continue
        overloads = _of_python(function)
        if not overloads and not inspect.isfunction(function):
            overloads = _native(name, function, source)
        if name.startswith("sparse_"):  # lists of numbers stand for tensors, too
            overloads = [re.sub(r"/\w+", "", one) for one in overloads]
        if any(overloads):
            yield f"{module}.{name}", _line(overloads, function)


def _native(name: str, function: Any, source: str) -> list[str]:
    """The overloads of a function that is not written in Python."""
    if source.endswith("_"):
        return _schemas().get(source + name, [])
    if source.endswith("_nn.pyi"):
        own = _stub(source).get(name)
        return own or (_stub(_MODULES["torch"]).get(name, []) if function is getattr(torch, name, None) else [])
    return _stub(source).get(name, []) if source else []


def _module(name: str) -> Any:
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def _methods() -> Iterator[tuple[str, str]]:
    native = _stub("_C/__init__.pyi", "TensorBase")
    for name in sorted(dir(torch.Tensor)):
        function = getattr(torch.Tensor, name)
        if name.startswith("__") or not callable(function) or isinstance(function, type):
            continue
        overloads = _of_python(function, is_method=True) if inspect.isfunction(function) else native.get(name, [])
        if overloads:
            if not inspect.isfunction(function):
                overloads = [*overloads, *_old_overloads().get(name.removesuffix("_"), ())]
            yield f"Tensor.{name}", _line(overloads, function)


def _constructors() -> Iterator[tuple[str, str]]:
    for module in _CLASSES:
        home = _module(module)
        for name in sorted(dir(home)):
            cls = getattr(home, name)
            if isinstance(cls, type) and name[0] != "_" and cls.__module__.startswith(module):
                overloads = _of_python(cls)
                if overloads and type(cls) is type and "**" not in overloads[0]:
                    had = _HAD.get(module)
                    yield f"{module}.{name}", " ".join((*overloads, *((f"{had}=",) if had else ())))


def signatures() -> dict[str, Any]:
    """The signatures of the installed torch, in the form of `torch_signatures.json`."""
    found = {name: line for module, source in _MODULES.items() for name, line in _functions(module, source)}
    found.update(_methods())
    found.update(_constructors())
    return {"release": torch.__version__.partition("+")[0], **found}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modellint.knowledge.list_signatures", description=__doc__)
    parser.add_argument("--into", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    options.into.write_text(json.dumps(signatures(), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
