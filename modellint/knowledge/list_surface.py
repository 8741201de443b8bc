"""Writes down what the installed torch offers: `python -m modellint.knowledge.list_surface`.

Unlike the other facts these come from the running package, as most methods of tensors stand in no Python source. What
an earlier release offered, by the file that is there, and this one no longer does, is kept as removed.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import pkgutil
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from modellint.knowledge.surface import FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MODULES = ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")
#: Modules whose names are all written down: those of `dir`, and the modules inside of them.
_COMPLETE = (
    *("torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.utils.rnn"),
    *("torch.optim", "torch.optim.lr_scheduler", "torch.utils.data", "torch.linalg", "torch.fft", "torch.special"),
)
#: What earlier releases had, by their notes.
_GONE = {
    "torch": (
        "gesv btrifact btrifact_with_info btrisolve btriunpack potrf potri potrs pstrf trtrs rfft irfft ifft "
        "eig lstsq matrix_rank solve symeig"
    ),
}
_ATTRIBUTE = re.compile(r"\bself\.(\w+)")
_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: ("", ""),
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ("", ""),
    inspect.Parameter.VAR_POSITIONAL: ("*", ""),
    inspect.Parameter.KEYWORD_ONLY: ("", ":"),
    inspect.Parameter.VAR_KEYWORD: ("**", ""),
}


def _layers() -> Iterator[tuple[str, type[nn.Module]]]:
    for name in sorted(dir(nn)):
        found = getattr(nn, name)
        if isinstance(found, type) and issubclass(found, nn.Module):
            yield name, found


def _members(cls: type) -> set[str]:
    """The members of a class's objects: its attributes, and those of `self` in the sources of its bases."""
    names = set(dir(cls))
    for base in cls.__mro__:
        names.update(getattr(base, "__annotations__", ()))
        if base.__module__.startswith("torch."):
            names.update(_ATTRIBUTE.findall(_source(base)))
    return {name for name in names if name not in dir(object)}


def _source(cls: type) -> str:
    try:
        return inspect.getsource(cls)
    except OSError:  # made at run time
        return ""


def _parameters(function: Any) -> str | None:
    """The parameters of `forward`, as `modellint.knowledge.catalogue` reads them, the receiver left out."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[1:]
    except (TypeError, ValueError):
        return None
    words = []
    for one in parameters:
        before, after = _KINDS[one.kind]
        words.append(f"{before}{one.name}{after}{'' if one.default is inspect.Parameter.empty else '='}")
    return " ".join(words)


def _tensor_first() -> dict[str, list[str]]:
    """By module, the functions whose first argument is a tensor in each of their overloads, by torch's own stubs."""
    folder = Path(torch.__file__).parent
    found: dict[str, list[str]] = {}
    for module, stub in (("torch", "_C/_VariableFunctions.pyi"), ("torch.nn.functional", "nn/functional.pyi")):
        firsts: dict[str, set[str]] = {}
        path = folder / stub
        if not path.exists():
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                arguments = [*node.args.posonlyargs, *node.args.args]
                annotation = arguments[0].annotation if arguments else None
                firsts.setdefault(node.name, set()).add("" if annotation is None else ast.unparse(annotation))
        found[module] = sorted(name for name, kinds in firsts.items() if kinds == {"Tensor"})
    functional = found.setdefault("torch.nn.functional", [])
    for name, function in inspect.getmembers(torch.nn.functional, inspect.isfunction):
        first = next(iter(inspect.signature(function).parameters.values()), None)
        if first is not None and first.annotation in (torch.Tensor, "Tensor") and name not in functional:
            functional.append(name)
    homes = {"torch": torch, "torch.nn.functional": torch.nn.functional}
    return {
        module: sorted(name for name in set(names) if name[0] != "_" and _refuses(getattr(homes[module], name, None)))
        for module, names in found.items()
    }


def _refuses(function: Any) -> bool:
    """True if a function takes no number for its tensor: some wrap it (`torch.multiply(2, x)`), whatever stubs say."""
    one = torch.ones(2)
    for arguments in ((2.0,), (2.0, one), (2.0, one, one), (2.0, 2.0)):
        try:
            function(*arguments)
        except Exception:
            continue
        return False
    return function is not None


def surface() -> dict[str, Any]:
    """The public names of the installed torch, in the form of `torch_surface.json`."""
    module = _members(nn.Module)
    return {
        "release": torch.__version__.partition("+")[0],
        "tensor": " ".join(sorted(name for name in dir(torch.Tensor) if not name.startswith("__"))),
        "removed": "",
        "modules": {name: " ".join(sorted(_public_names(name))) for name in _MODULES},
        "takes tensors": {name: " ".join(names) for name, names in _tensor_first().items()},
        "complete": {name: " ".join(sorted(_all_names(name))) for name in _COMPLETE},
        "gone": {name: " ".join(sorted(_gone_names(name))) for name in _COMPLETE},
        "private modules": " ".join(sorted(_private_modules())),
        "optimizer": " ".join(sorted(_of_all(torch.optim, torch.optim.Optimizer))),
        "scheduler": " ".join(sorted(_of_all(torch.optim.lr_scheduler, torch.optim.lr_scheduler.LRScheduler))),
        "layer": " ".join(sorted(module)),
        "layers": {
            name: [_parameters(cls.forward), " ".join(sorted(_members(cls) - module))] for name, cls in _layers()
        },
        "wrappers": {
            f"torch.nn.parallel.{cls.__name__}": " ".join(sorted(_members(cls) - module))
            for cls in (nn.parallel.DataParallel, nn.parallel.DistributedDataParallel)
        },
    }


def _public_names(name: str) -> set[str]:
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return {one for one in dir(found) if not one.startswith("_")}


def _module(name: str) -> Any:
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def _all_names(name: str) -> set[str]:
    """The public names of a module, with those of the modules inside of it, imported or not."""
    found = _module(name)
    inner = {one.name for one in pkgutil.iter_modules(getattr(found, "__path__", ()))}
    return {one for one in {*dir(found), *inner} if not one.startswith("_")} - _gone_names(name)


def _private_modules() -> set[str]:
    """The modules and other objects in `torch` whose names begin with `_`, but for functions; imported or not."""
    imported = {name.split(".")[1] for name in sys.modules if name.startswith("torch.")}
    names = imported | {one.name for one in pkgutil.iter_modules(torch.__path__)}
    names |= {name for name, _ in inspect.getmembers(torch, lambda one: not inspect.isroutine(one))}
    return {name for name in names if name[0] == "_" and name[:2] != "__"}


def _gone_names(name: str) -> set[str]:
    """The names that a module no longer has, or only has to raise an error."""
    found = _module(name)
    return {one for one in _GONE.get(name, "").split() if not hasattr(found, one) or _only_raises(getattr(found, one))}


def _only_raises(function: Any) -> bool:
    try:
        body = ast.parse(inspect.getsource(function).strip()).body[0]
    except (OSError, TypeError, SyntaxError):
        return False
    return isinstance(body, ast.FunctionDef) and all(isinstance(one, ast.Raise | ast.Expr) for one in body.body)


def _of_all(module: Any, base: type) -> set[str]:
    """The members of objects of all classes of a module that derive from a base."""
    classes = (one for one in vars(module).values() if isinstance(one, type) and issubclass(one, base))
    return {name for cls in classes for name in _members(cls)}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modellint.knowledge.list_surface", description=__doc__)
    parser.add_argument("--into", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    data = surface()
    if options.into.exists():
        old = json.loads(options.into.read_text(encoding="utf-8"))
        gone = {*old["tensor"].split(), *old["removed"].split()} - set(data["tensor"].split())
        data["removed"] = " ".join(sorted(gone))
    options.into.write_text(json.dumps(data, separators=(",", ":"), ensure_ascii=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
