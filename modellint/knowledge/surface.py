"""Names of torch: methods of tensors, functions of modules, members and parameters of layers.

One JSON file, which `python -m modellint.knowledge.list_surface` writes from the installed torch.

    release        of torch
    tensor         the attributes and methods of tensors; `removed` those of earlier releases
    modules        the names of each module
    takes tensors  the functions of a module whose first argument is a tensor and nothing else
    complete       all names of a module, with those of modules inside of it, imported or not; `gone` what it no longer
                   has, or only has to raise an error
    private modules  those in `torch` whose names begin with `_`, and other objects there that are no functions
    optimizer      the members of all optimizers, `scheduler` those of all that change their learning rate
    layer          what each layer has; `layers` by class: the parameters of `forward`, and what else it has
    wrappers       what wrappers of a layer have besides, by the full name of the class
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.knowledge import signatures

if TYPE_CHECKING:
    from modellint.graph.value import Parameter

FILE = Path(__file__).with_name("torch_surface.json")
_NN = "torch.nn."


@cache
def _data() -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@cache
def tensor_names() -> frozenset[str]:
    """The attributes and methods of tensors."""
    return frozenset(_data()["tensor"].split())


@cache
def removed_tensor_names() -> frozenset[str]:
    """The attributes and methods that tensors had in earlier releases."""
    return frozenset(_data()["removed"].split()) | signatures.removed("Tensor")


@cache
def module_names(module: str) -> frozenset[str] | None:
    """The names of a module of torch (of `torch.nn` its layers), None for one that is not described."""
    if module == "torch.nn":
        return frozenset(("Module", "Parameter", "Buffer", *_data()["layers"]))
    text = _data()["modules"].get(module)
    return None if text is None else frozenset(text.split())


@cache
def all_names(module: str) -> frozenset[str] | None:
    """All public names of a module of torch, modules inside of it too; None for a module that is not described."""
    text = _data()["complete"].get(module)
    return None if text is None else frozenset(text.split())


@cache
def has_module(name: str) -> bool:
    """True if `torch` may have a module, or an object with attributes, of this name, as `_C` or `nn`."""
    return name in _data()["private modules"].split() or name in (all_names("torch") or ()) or name[:2] == "__"


@cache
def gone_names(module: str) -> frozenset[str]:
    """The names that a module of torch had in earlier releases."""
    return frozenset(_data()["gone"].get(module, "").split()) | signatures.removed(module)


@cache
def optimizer_names(module: str) -> frozenset[str]:
    """The members of objects of `torch.optim`, or of `torch.optim.lr_scheduler`; those of all classes together."""
    return frozenset(_data()["scheduler" if module.endswith("lr_scheduler") else "optimizer"].split())


@cache
def takes_tensor(name: str) -> bool:
    """True if the function with a full name takes a tensor as its first argument, and nothing else."""
    module, _, function = name.rpartition(".")
    return function in _data()["takes tensors"].get(module, "").split()


@cache
def layer_members(name: str) -> frozenset[str] | None:
    """The members of the objects of a layer class, by its full name; None for one that is not described."""
    common = frozenset(_data()["layer"].split())
    if name == f"{_NN}Module":
        return common
    row = _data()["layers"].get(name.removeprefix(_NN)) if name.startswith(_NN) else None
    return None if row is None else common | frozenset(row[1].split())


@cache
def wrapper_members(name: str) -> frozenset[str] | None:
    """The members of a wrapper of layers (`DataParallel`), by its full name; None for one that is not described."""
    home, _, last = name.rpartition(".")
    row = _data()["wrappers"].get(f"{_NN}parallel.{last}") if f"{home}.".startswith(_NN) else None
    return None if row is None else frozenset(_data()["layer"].split()) | frozenset(row.split())


@cache
def forward_parameters(name: str) -> tuple[Parameter, ...] | None:
    """The parameters of `forward` of a layer class, the receiver left out; None if they are not known."""
    from modellint.knowledge.catalogue import read_parameters

    row = _data()["layers"].get(name.removeprefix(_NN)) if name.startswith(_NN) else None
    return None if row is None or row[0] is None else read_parameters(row[0])
