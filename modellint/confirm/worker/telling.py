"""Layers tell what the promised arguments of a run are: inputs are tried until one works."""

from __future__ import annotations

import contextlib
import inspect
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from .inputs import Inputs
from .promised import Promised, Promises, found_in, is_real
from .specs import BATCH, TIME
from .standins import StandInUsedError, described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .specs import Spec

#: Seconds of processor time after which no further inputs of models are tried.
_PATIENCE = 20.0


class Layers:
    """The layers that a run calls. Inside `telling`, they tell what promised arguments become."""

    def __init__(self, promises: Promises) -> None:
        self.promises = promises
        #: The layers that are being called, the outermost first; and all outermost ones.
        self.running: list[nn.Module] = []
        self.called: dict[int, nn.Module] = {}
        self._end = time.process_time() + _PATIENCE

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """Let each layer that is called with promised arguments tell what they are."""
        original: Any = nn.Module.__call__

        def call(layer: nn.Module, *args: Any, **kwargs: Any) -> Any:
            args, kwargs = tree_map(found_in, (args, kwargs))
            if not self.running:
                self.called[id(layer)] = layer
            self.running.append(layer)
            try:
                if not isinstance(layer, nn.modules.loss._Loss):
                    args, kwargs = self._arguments_of(layer, args, kwargs)
                return original(layer, *args, **kwargs)
            finally:
                self.running.pop()

        module: Any = nn.Module
        module.__call__ = call
        try:
            yield
        finally:
            module.__call__ = original

    def _arguments_of(self, layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments of a call of a layer, where those that were promised have become what it takes.

        If it gets others that are known, or several in one, its own layers tell.
        """
        leaves = tree_leaves((args, kwargs))
        if not any(isinstance(one, Promised) for one in leaves) or any(map(is_real, leaves)):
            return args, kwargs
        signature = inspect.signature(layer.forward)
        bound = signature.bind(*args, **kwargs)
        wanted = {name: one for name, one in bound.arguments.items() if isinstance(one, Promised)}
        if not wanted:
            return args, kwargs
        error: Exception | None = None
        for given, learn in self._ways(layer, wanted):
            bound.arguments.update(given)
            error = _error_of(layer, bound)
            if error is None:
                break
            learn(error.with_traceback(None))
        if error is not None:
            raise StandInUsedError(f"no inputs of `{type(layer).__name__}` were found: {described(error)[:200]}")
        for name, one in wanted.items():
            known = found_in(bound.arguments[name])
            bound.arguments[name] = one if isinstance(known, Promised) else one.become(known)
        return bound.args, bound.kwargs

    def _ways(
        self, layer: nn.Module, wanted: Mapping[str, Promised]
    ) -> Iterator[tuple[dict[str, Any], Callable[[Exception], None]]]:
        """Arguments to try, each with what learns from an error.

        Promised ones come first, of which the layers of a layer tell what they are, then those that names tell.
        """
        if isinstance(layer, nn.Linear):
            yield dict.fromkeys(wanted, torch.randn(BATCH, layer.in_features)), _forget
        elif isinstance(layer, nn.Embedding):
            ids = torch.arange(BATCH * TIME).view(BATCH, TIME) % layer.num_embeddings
            yield dict.fromkeys(wanted, ids), _forget
        elif any(layer.children()):
            yield {name: one.again() for name, one in wanted.items()}, _forget
        inputs = Inputs(layer.forward, layer, self.promises.attempt)
        for specs in inputs.combinations():
            known = {name: specs[name].make("cpu") for name in wanted if name in specs}
            if not known or time.process_time() > self._end:
                return
            yield known, partial(_learn_from, inputs, specs)


def _error_of(layer: nn.Module, bound: inspect.BoundArguments) -> Exception | None:
    """The error that a call of a layer raises; None if it works."""
    try:
        layer.forward(*bound.args, **bound.kwargs)
    except Exception as error:
        return error
    return None


def _forget(_: Exception) -> None:
    """Learn nothing from an error."""


def _learn_from(inputs: Inputs, specs: dict[str, Spec], error: Exception) -> None:
    inputs.learn(error, specs)
