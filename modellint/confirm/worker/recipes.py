"""Building a recipe's objects with HyperPyYAML itself: those that a claim is about, without side effects of others."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from .standins import StandIn, StandInUsedError, described, stand_in, unwrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from .standins import StandIns

#: The functions of HyperPyYAML that make objects, by tag.
_CONSTRUCTORS = ("_construct_object", "_construct_name", "_construct_module", "_apply_function")
_PLACEHOLDER = re.compile(r"^(\w+):\s*!PLACEHOLDER", re.MULTILINE)
#: The key of the layers that a Brain keeps and moves.
MODULES = "modules"
#: The value of filled placeholders, so that nodes that refer to them can be built.
_FILLER = "placeholder"


class Unbuilt(nn.Module):
    """A stand-in for a layer that could not be built: it has no parameters, and cannot be called."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__()
        self.name = name
        self.reason = reason

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise StandInUsedError(f"`{self.name}` is needed, but could not be built: {self.reason}")


class Recipe:
    """The objects of a recipe, and the names that could not be built."""

    def __init__(self, path: str, overrides: Mapping[str, Any], stand_ins: StandIns) -> None:
        self.path = path
        #: The names that could not be built, with the reasons.
        self.replaced: dict[str, str] = {}
        self.filled: list[str] = []
        self._overrides = dict(overrides)
        self._stand_ins = stand_ins
        #: The names that could not be built with their nodes, and the nodes of the wanted keys.
        self._unbuilt: list[tuple[str, Any]] = []
        self._roots: dict[str, Any] = {}
        #: The objects built from nodes, by the node's identity.
        self._made: dict[int, tuple[Any, Any]] = {}
        #: The arguments of objects that could not be built, by the identity of their stand-ins.
        self._given: dict[int, tuple[Any, tuple[list[Any], dict[str, Any]]]] = {}

    def build(self, keys: Collection[str] | None) -> dict[str, Any]:
        """The objects below some keys (None: all), by top-level key; nodes that these do not refer to are not built."""
        keys = None if keys is None else list(dict.fromkeys(names(key)[0] for key in keys))
        core: Any = self._stand_ins.module("hyperpyyaml.core")
        original = {name: getattr(core, name) for name in _CONSTRUCTORS}
        for name, construct in original.items():
            setattr(core, name, self._careful(construct))
        folder = os.getcwd()
        os.chdir(os.path.dirname(os.path.abspath(self.path)))
        try:
            with open(self.path, encoding="utf-8") as stream:
                source = stream.read()
            values = {**self._fillers(source), **self._overrides}
            objects: dict[str, Any] = core.load_hyperpyyaml(source, values, loader=self._loader(core.yaml, keys))
            return objects
        finally:
            os.chdir(folder)
            for name, construct in original.items():
                setattr(core, name, construct)

    def _loader(self, yaml: Any, keys: Collection[str] | None) -> Any:
        """A loader that keeps some keys of the document only, after references were resolved to their nodes."""
        recipe = self

        class Partial(yaml.Loader):
            def get_single_node(self) -> Any:
                root = super().get_single_node()
                root.value = [(key, value) for key, value in root.value if keys is None or key.value in keys]
                recipe._roots = {key.value: value for key, value in root.value}
                return root

        return Partial

    def _fillers(self, source: str) -> dict[str, str]:
        """A value for each placeholder that no override fills."""
        self.filled = [key for key in _PLACEHOLDER.findall(source) if key not in self._overrides]
        return dict.fromkeys(self.filled, _FILLER)

    def _careful(self, construct: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a constructor of HyperPyYAML to give a stand-in where it fails."""

        def constructed(loader: Any, suffix: str, node: Any) -> Any:
            try:
                made = self._stand_ins.importing(lambda: construct(loader, suffix, node))
                self._made[id(node)] = (node, made)
                return made
            except Exception as error:
                top = suffix.partition(".")[0]
                is_there = top not in self._stand_ins.names
                reason = described(unwrapped(error)) if is_there else f"`{top}` could not be imported"
                self.replaced[suffix] = reason
                self._unbuilt.append((suffix, node))
                made = Unbuilt(suffix, reason) if self._is_layer(suffix) else stand_in(suffix)()
                core: Any = self._stand_ins.module("hyperpyyaml.core")
                self._given[id(made)] = (made, core._load_node(loader, node))
                return made

        return constructed

    def unbuilt_holder(self, key: str) -> str | None:
        """The name of an unbuilt object that takes the node at `key`, and so may hold it; None if there is none."""
        wanted = self._node(key)
        return next((name for name, node in self._unbuilt if any(part is wanted for part in _below(node))), None)

    def object_at(self, objects: Mapping[str, Any], key: str) -> Any:
        """The object at a path such as `models[head]`, also among objects' arguments. Raises KeyError without one."""
        try:
            return object_in(objects, key)
        except KeyError:
            node = self._node(key)
            if id(node) not in self._made:
                raise
            return self._made[id(node)][1]

    def _node(self, key: str) -> Any:
        """The YAML node at a path of keys; None if there is none."""
        root, *path = names(key)
        wanted = self._roots.get(root)
        for name in path:
            below = getattr(wanted, "value", ())
            if below and not isinstance(below[0], tuple):
                wanted = below[int(name)] if name.isdigit() and int(name) < len(below) else None
            else:
                wanted = next((value for part, value in below if part.value == name), None)
        return wanted

    def arguments_of(self, made: object) -> tuple[list[Any], dict[str, Any]] | None:
        """The positional and named arguments of an object that could not be built; None for others."""
        known = self._given.get(id(made))
        return None if known is None else known[1]

    def reason(self, made: object) -> str:
        """Why something could not be built."""
        if isinstance(made, Unbuilt):
            return made.reason
        name = type(made).__qualname__
        return self.replaced.get(name, "the recipe has no such object" if made is None else f"it is a `{name}`")

    def _is_layer(self, name: str) -> bool:
        module, _, attribute = name.rpartition(".")
        try:
            found = getattr(self._stand_ins.module(module), attribute)
        except Exception:
            return False
        return isinstance(found, type) and issubclass(found, nn.Module)


def _below(node: Any) -> Iterable[Any]:
    """A node of a YAML document, and all nodes below it, each once."""
    seen: set[int] = set()
    pending = [node]
    while pending:
        found = pending.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        for part in found.value if isinstance(found.value, list) else ():
            pending.extend(part if isinstance(part, tuple) else (part,))


def names(path: str) -> list[str]:
    """The keys that lead to an object of a recipe: `models` and `head` for `models[head]`."""
    return [name for name in re.split(r"[\[\]]+", path) if name]


def object_in(objects: Mapping[str, Any], path: str) -> Any:
    """The object that a path such as `models[head]` leads to. Raises KeyError if there is none."""
    value: Any = objects
    for name in names(path):
        if isinstance(value, list | tuple) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        elif hasattr(value, "keys") and name in value:
            value = value[name]
        else:
            raise KeyError(path)
    return value


def lookup(objects: Mapping[str, Any], path: str) -> Any:
    """The object that a path leads to; None if there is none."""
    try:
        return object_in(objects, path)
    except KeyError:
        return None


def is_unbuilt(found: object) -> bool:
    """True for None and for stand-ins of objects that could not be built."""
    return found is None or isinstance(found, StandIn | Unbuilt)


def place(objects: Mapping[str, Any], device: str) -> nn.ModuleDict:
    """The recipe's `modules` as a `Brain` has them: in a `ModuleDict`, moved to its device."""
    modules = objects.get(MODULES) or {}
    if not hasattr(modules, "items"):
        raise TypeError(f"`modules` is {type(modules).__name__}; expected a mapping from names to layers")
    layers = {name: module for name, module in modules.items() if isinstance(module, nn.Module)}
    return nn.ModuleDict(layers).to(device)


def example_input(layer: nn.Module, device: str) -> torch.Tensor | None:
    """An input for a layer's first part that tells its input's width; None if no part does."""
    for part in layer.modules():
        width = getattr(part, "in_features", None) or getattr(part, "input_size", None)
        if isinstance(width, int):
            return torch.empty(2, 5, width, device=device)
        if isinstance(part, nn.Embedding):
            return torch.zeros(2, 5, dtype=torch.long, device=device)
        if isinstance(part, nn.Conv1d | nn.Conv2d):
            return torch.empty(2, part.in_channels, *([32] * (len(part.kernel_size))), device=device)
    return None
