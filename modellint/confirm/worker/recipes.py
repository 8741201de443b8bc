"""Building a recipe's objects with HyperPyYAML itself, without its side effects."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from .standins import described, stand_in, unwrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .standins import StandIns

#: The functions of HyperPyYAML that make objects, by tag.
_CONSTRUCTORS = ("_construct_object", "_construct_name", "_construct_module", "_apply_function")
_PLACEHOLDER = re.compile(r"^(\w+):\s*!PLACEHOLDER", re.MULTILINE)
#: What a placeholder is filled with, so that what is built from it can be built.
_FILLER = "placeholder"


class Recipe:
    """The objects of a recipe, and what could not be built as it is written."""

    def __init__(self, path: str, overrides: Mapping[str, Any], stand_ins: StandIns) -> None:
        self.path = path
        #: What could not be built and is no layer, with the reason.
        self.replaced: dict[str, str] = {}
        self.filled: list[str] = []
        self._overrides = dict(overrides)
        self._stand_ins = stand_ins

    def build(self) -> dict[str, Any]:
        """The recipe as a dict of objects. Raises what building a layer raises."""
        core: Any = self._stand_ins.module("hyperpyyaml.core")
        original = {name: getattr(core, name) for name in _CONSTRUCTORS}
        for name, construct in original.items():
            setattr(core, name, self._careful(construct))
        folder = os.getcwd()
        os.chdir(os.path.dirname(os.path.abspath(self.path)))
        try:
            with open(self.path, encoding="utf-8") as stream:
                source = stream.read()
            objects: dict[str, Any] = core.load_hyperpyyaml(source, {**self._fillers(source), **self._overrides})
            return objects
        finally:
            os.chdir(folder)
            for name, construct in original.items():
                setattr(core, name, construct)

    def _fillers(self, source: str) -> dict[str, str]:
        """A value for each placeholder that no override fills."""
        self.filled = [key for key in _PLACEHOLDER.findall(source) if key not in self._overrides]
        return dict.fromkeys(self.filled, _FILLER)

    def _careful(self, construct: Callable[..., Any]) -> Callable[..., Any]:
        """What builds an object, with a stand-in for what cannot be built and is no layer."""

        def constructed(loader: Any, suffix: str, node: Any) -> Any:
            try:
                return self._stand_ins.importing(lambda: construct(loader, suffix, node))
            except Exception as error:
                if self._is_layer(suffix):
                    raise
                return self._replace(suffix, error)

        return constructed

    def _replace(self, suffix: str, error: Exception) -> Any:
        self.replaced[suffix] = described(unwrapped(error))
        return stand_in(suffix)()

    def _is_layer(self, name: str) -> bool:
        module, _, attribute = name.rpartition(".")
        try:
            found = getattr(self._stand_ins.module(module), attribute)
        except Exception:
            return False
        return isinstance(found, type) and issubclass(found, nn.Module)


def place(objects: Mapping[str, Any], device: str) -> None:
    """What a `Brain` does with the `modules` of its recipe: move them to the device."""
    modules = objects.get("modules") or {}
    if not hasattr(modules, "items"):
        raise TypeError(f"`modules` is {type(modules).__name__}; expected a mapping from names to layers")
    nn.ModuleDict({name: module for name, module in modules.items() if isinstance(module, nn.Module)}).to(device)


def example_input(layer: nn.Module, device: str) -> torch.Tensor | None:
    """What a layer's first part that says how wide its input is can be given; None if no part says so."""
    for part in layer.modules():
        width = getattr(part, "in_features", None) or getattr(part, "input_size", None)
        if isinstance(width, int):
            return torch.empty(2, 5, width, device=device)
        if isinstance(part, nn.Embedding):
            return torch.zeros(2, 5, dtype=torch.long, device=device)
        if isinstance(part, nn.Conv1d | nn.Conv2d):
            return torch.empty(2, part.in_channels, *([32] * (len(part.kernel_size))), device=device)
    return None
