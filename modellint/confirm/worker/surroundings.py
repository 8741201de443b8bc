"""Objects around a model that is run: published codecs, stand-ins for unknown arguments, and widened heads."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from .ranges import is_integer
from .standins import StandIn, StandInUsedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .places import Spot


class _Opaque:
    """An object that has every attribute, but refuses to be a condition, number or sequence."""

    def _refuse(self, *_: Any) -> Any:
        raise StandInUsedError(f"nothing is known of what {self} is")

    __bool__ = __iter__ = __len__ = __index__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class Helper(_Opaque):
    """A stand-in for an unknown argument: its attributes, items and results are stand-ins, too."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Helper:
        if name.startswith("__"):
            raise AttributeError(name)
        return Helper(f"{self._name}.{name}")

    def __call__(self, *_: Any, **__: Any) -> Helper:
        return Helper(f"{self._name}()")

    def __enter__(self) -> Helper:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __repr__(self) -> str:
        return f"any `{self._name}`"


class Codec(_Opaque):
    """A stand-in for a published codec, its class and its parts: a call with codes looks its codebooks up."""

    def __init__(self, name: str, rows: int) -> None:
        self._name = name
        self._codebook = torch.zeros(rows, 1)

    def __getattr__(self, name: str) -> Codec:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *given: Any, **named: Any) -> Codec:
        for part in tree_leaves((given, named)):
            if isinstance(part, torch.Tensor) and is_integer(part):
                nn.functional.embedding(part.long(), self._codebook)
        return self

    def __repr__(self) -> str:
        return f"`{self._name}` with codebooks of {self._codebook.shape[0]} rows"

    def install(self) -> None:
        """Replace the codec's class, or its stand-in, in all modules that imported it."""
        package, _, name = self._name.rpartition(".")
        original = getattr(sys.modules.get(package), name, None)
        for module in [one for one in sys.modules.values() if "site-packages" not in str(getattr(one, "__file__", ""))]:
            for key, value in list(getattr(module, "__dict__", {}).items()):
                is_replaced = (
                    isinstance(value, type) and issubclass(value, StandIn) and value.__qualname__ == self._name
                )
                if is_replaced or (value is original is not None):
                    setattr(module, key, self)


class Cuts(TorchFunctionMode):
    """Records up to which class code slices a head's scores: slices beyond the last one are silently empty."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width
        self.asked = width

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.__getitem__ and args[0].dim() and args[0].shape[-1] == self._width:
            parts = args[1] if isinstance(args[1], tuple) else (args[1],)
            is_last = len(parts) == args[0].dim() or (len(parts) > 1 and parts[0] is Ellipsis)
            stop = parts[-1].stop if is_last and isinstance(parts[-1], slice) else None
            if isinstance(stop, int):
                self.asked = max(self.asked, stop)
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def widened(spot: Spot | None, made: list[nn.Linear], classes: int | None) -> Iterator[None]:
    """Note the heads created at a place, and give them at least `classes` classes."""
    original = nn.Linear.__init__

    def init(self: nn.Linear, in_features: int, out_features: int, *args: Any, **kwargs: Any) -> None:
        if spot is not None and spot.is_running(sys._getframe(1)):
            made.append(self)
            out_features = max(out_features, classes or 0)
        original(self, in_features, out_features, *args, **kwargs)

    nn.Linear.__init__ = init
    try:
        yield
    finally:
        nn.Linear.__init__ = original
