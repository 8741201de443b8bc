"""Layers that a call creates: whether their parameters outlive it, and whether the next call has the same ones."""

from __future__ import annotations

import gc
import inspect
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from .inputs import Inputs
from .places import Spot
from .standins import described
from .verdicts import Verdict, confirmed, refuted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.claims.layers import MadeAnew

    from .attempts import Attempt
    from .session import Session
    from .specs import Spec


def creation(session: Session, claim: MadeAnew) -> Verdict:
    """Call twice: confirmed if the layer created at a place is gone after the call, with other weights each time."""
    owner, method = session.source().split(session.name)
    reasons: list[str] = []
    spot = Spot.of(claim.place)
    return session.first_seen(owner, lambda attempt: _called_twice(attempt, method, spot, reasons), reasons)


class _Made:
    """The parameters that one call made at a place, and the weights with which their layers were called first."""

    def __init__(self, spot: Spot) -> None:
        self._spot = spot
        self.parameters: list[weakref.ref[nn.Parameter]] = []
        self.weights: list[torch.Tensor] = []
        self._layers: weakref.WeakSet[nn.Module] = weakref.WeakSet()

    def alive(self) -> list[nn.Parameter]:
        gc.collect()
        return [parameter for made in self.parameters if (parameter := made()) is not None]

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note the parameters that are made meanwhile."""
        original = nn.Module.register_parameter

        def register(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
            original(module, name, parameter)
            if parameter is not None and self._spot.is_running(inspect.currentframe()):
                self.parameters.append(weakref.ref(parameter))
                self._layers.add(module)

        def called(module: nn.Module, arguments: Any) -> None:
            if module in self._layers:
                self._layers.discard(module)
                self.weights.extend(p.detach().clone() for p in module.parameters(recurse=False))

        hook = nn.modules.module.register_module_forward_pre_hook(called)
        nn.Module.register_parameter = register
        try:
            yield
        finally:
            nn.Module.register_parameter = original
            hook.remove()


def _called_twice(attempt: Attempt, method: str, spot: Spot, reasons: list[str]) -> Verdict | None:
    """The verdict of two calls of one object; None if they decide nothing. Raises the errors of building."""
    owner = attempt.build()
    function = getattr(owner, method) if method else owner
    inputs = Inputs(function, owner, attempt)
    for specs in inputs.combinations():
        first, second = _Made(spot), _Made(spot)
        error = _error(function, specs, first) or _error(function, specs, second)
        if error is not None:
            reasons.append(f"calling it: {described(error)[:200]}")
            inputs.learn(error, specs)
        elif not first.parameters:
            reasons.append("a call made no layer there")
        elif alive := first.alive():
            detail = "the layer is kept after the first call"
            reasons.append(detail)
            known = {id(p) for p in owner.parameters()} if isinstance(owner, nn.Module) else set()
            is_proof = attempt.is_certain and all(id(parameter) in known for parameter in alive)
            return refuted(detail) if is_proof else None
        else:
            if not second.parameters:
                other = attempt.build()
                _error(getattr(other, method) if method else other, specs, second)
            if not first.weights:
                reasons.append("a call made a layer there, but did not call it")
                continue
            if not _are_fresh(first.weights, second.weights):
                reasons.append("the layer has the same weights each time")
                return None
            attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})
            number = len(first.parameters)
            made = f"{number} parameters which are" if number > 1 else "1 parameter which is"
            detail = f"a call made {made} gone after it: neither `parameters()` nor the next call has what it made"
            return confirmed(detail)
    return None


def _are_fresh(first: list[torch.Tensor], second: list[torch.Tensor]) -> bool:
    """True if weights look freshly initialised: different in both calls, or all ones or zeros."""
    if not first or [w.shape for w in first] != [w.shape for w in second]:
        return False
    return all(
        not torch.equal(a, b) or bool((a == 0).all() or (a == 1).all()) for a, b in zip(first, second, strict=True)
    )


def _error(function: Callable[..., Any], specs: dict[str, Spec], made: _Made) -> Exception | None:
    arguments = {name: spec.make("cpu") for name, spec in specs.items()}
    try:
        with made.noted(), torch.no_grad():
            function(**arguments)
    except Exception as error:
        return error.with_traceback(None)
    return None
