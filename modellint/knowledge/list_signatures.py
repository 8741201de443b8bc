"""Writes down what torch's functions, methods and constructors take: `python -m modellint.knowledge.list_signatures`.

The stubs in the installed package tell what its native functions take, as they are made from the same table as torch's
parser of arguments. Its schemas tell that of modules without a stub, and `inspect` that of Python functions. A name
that only a docstring has counts as taken. `--earlier` compares them with those of earlier releases.
"""

from __future__ import annotations

import argparse
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

from modellint.knowledge import list_earlier, stubs
from modellint.knowledge.regenerate import release_of, release_order
from modellint.knowledge.signatures import FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_FOLDER = Path(torch.__file__).parent
#: Modules of functions; the stub of each, or the beginning of its names in schemas.
_MODULES = {
    "torch": stubs.FUNCTIONS,
    "torch.nn.functional": stubs.NN_FUNCTIONS,
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
_MARKS = {
    inspect.Parameter.POSITIONAL_ONLY: ("", ""),
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ("", ""),
    inspect.Parameter.VAR_POSITIONAL: ("*", ""),
    inspect.Parameter.KEYWORD_ONLY: ("", ":"),
    inspect.Parameter.VAR_KEYWORD: ("**", ""),
}


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
            stubs.word(one.name, "", ":" * one.kwarg_only, _type_of_schema(one), has_default=one.has_default_value())
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
        stubs.word(one.name, *_MARKS[one.kind], "", has_default=one.default is not inspect.Parameter.empty)
        for one in parameters
    )
    return [" ".join(("def", *words))]


def _line(overloads: Iterable[str], function: Any) -> str:
    """The overloads of one function as a line, and the names that only its docstring has."""
    text, name = getattr(function, "__doc__", None) or "", getattr(function, "__name__", "")
    return stubs.joined(overloads, stubs.docstring_names(text, name))


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
            overloads = stubs.plain_overloads(overloads)
        if any(overloads):
            yield f"{module}.{name}", _line(overloads, function)


def _native(name: str, function: Any, source: str) -> list[str]:
    """The overloads of a function that is not written in Python."""
    if source.endswith("_"):
        return _schemas().get(source + name, [])
    if source.endswith("_nn.pyi"):
        own = stubs.overloads(_FOLDER / source).get(name)
        return own or (
            stubs.overloads(_FOLDER / stubs.FUNCTIONS).get(name, []) if function is getattr(torch, name, None) else []
        )
    return stubs.overloads(_FOLDER / source).get(name, []) if source else []


def _module(name: str) -> Any:
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def _methods() -> Iterator[tuple[str, str]]:
    native = stubs.overloads(_FOLDER / "_C/__init__.pyi", "TensorBase")
    for name in sorted(dir(torch.Tensor)):
        function = getattr(torch.Tensor, name)
        if name.startswith("__") or not callable(function) or isinstance(function, type):
            continue
        overloads = _of_python(function, is_method=True) if inspect.isfunction(function) else native.get(name, [])
        if overloads:
            if not inspect.isfunction(function):
                overloads = [
                    *overloads,
                    *stubs.old_overloads(_FOLDER / stubs.FUNCTIONS).get(name.removesuffix("_"), ()),
                ]
            yield f"Tensor.{name}", _line(overloads, function)


def _constructors() -> Iterator[tuple[str, str]]:
    for module in _CLASSES:
        home = _module(module)
        for name in sorted(dir(home)):
            cls = getattr(home, name)
            if isinstance(cls, type) and name[0] != "_" and cls.__module__.startswith(module):
                overloads = _of_python(cls)
                if overloads and type(cls) is type and "**" not in overloads[0]:
                    yield f"{module}.{name}", " ".join(overloads)


def signatures() -> dict[str, Any]:
    """The signatures of the installed torch, in the form of `torch_signatures.json`."""
    found = {name: line for module, source in _MODULES.items() for name, line in _functions(module, source)}
    found.update(_methods())
    found.update(_constructors())
    return {"release": torch.__version__.partition("+")[0], **found}


def earlier(folders: Iterable[Path], shipped: Mapping[str, str]) -> dict[str, dict[str, str | None]]:
    """The lines of earlier releases that differ from those of the next one, by release, the newest first.

    Each is in a folder that holds the unpacked wheel.
    """
    releases = {release_of(folder, "torch"): folder / "torch" for folder in folders}
    found, newer = {}, list_earlier.signatures_of(_FOLDER)
    for release in sorted(releases, key=release_order, reverse=True):
        lines = list_earlier.signatures_of(releases[release])
        found[release] = list_earlier.differing(lines, newer, shipped)
        newer = lines
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modellint.knowledge.list_signatures", description=__doc__)
    parser.add_argument("--earlier", type=Path, nargs="+", help="folders with unpacked wheels of earlier releases")
    parser.add_argument("--into", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    found, known = signatures(), json.loads(FILE.read_text(encoding="utf-8"))
    if options.earlier is None and found["release"] != known["release"]:
        parser.error("earlier releases are compared with the installed one, which is another one now: use --earlier")
    found["earlier"] = known["earlier"] if options.earlier is None else earlier(options.earlier, found)
    options.into.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
