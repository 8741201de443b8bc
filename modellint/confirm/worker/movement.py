"""Probes of tensors that are no buffers, on a simulated GPU: they stay on the CPU, and meet tensors that moved."""

from __future__ import annotations

import ast
import inspect
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from . import roles
from .beside import CLAIMS
from .inputs import Inputs
from .labelled import labelled
from .placement import DEVICE
from .places import Spot, definitions
from .registration import assignments
from .standins import described, likeliest
from .tensors import moved, tensors_in
from .verdicts import CONFIRMED, UNCONFIRMED, Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from modellint.claims.layers import LeftBehind, MadeAside

    from .attempts import Attempt
    from .classes import Builder
    from .session import Session


#: Methods by which a tensor is put on a device.
_MOVES = frozenset((torch.Tensor.to, torch.Tensor.cuda, torch.Tensor.cpu))


def movement(session: Session, claim: LeftBehind) -> Verdict:
    """Move the module: confirmed if an attribute stays on the CPU and `forward` mixes devices where it is used.

    Refuted if it is registered at the place, with all choices of what was assumed. Code that tensors without data do
    not get through is run on the CPU, with tensors that claim another device: that can only confirm.
    """
    return _also_labelled(session, lambda machine: _movement(session, claim, machine))


def _also_labelled(session: Session, judge: Callable[[AbstractContextManager[Any]], Verdict]) -> Verdict:
    """The verdict on the present machine, or, if it decides nothing, with tensors that claim another device."""
    outcome = judge(session.machine())
    if outcome.status is UNCONFIRMED and not session.is_on_gpu:
        again = judge(labelled())
        outcome = again if again.status is CONFIRMED else outcome
    return outcome


def _movement(session: Session, claim: LeftBehind, machine: AbstractContextManager[Any]) -> Verdict:
    reasons: list[str] = []
    refuting: list[Builder] = []
    is_undecided = False
    kinds = dict.fromkeys(_kept_under(claim.attribute, claim.owner, session.source().tree), "tensor")
    detail = f"`{claim.attribute}` moves to {DEVICE} with its module"
    with machine:
        for variant in (0, roles.EQUAL):
            for attempt in session.attempts(claim.owner, variant=variant, device=DEVICE, kinds=kinds):
                try:
                    with assignments(Spot.of(claim.place)) as assigned:
                        owner = attempt.build()
                        if isinstance(owner, nn.Module) and not tensors_in(getattr(owner, claim.attribute, None)):
                            first_call(attempt, owner, reasons)
                    outcome = _verdict_of_move(attempt, owner, claim, reasons)
                except Exception as error:
                    reasons.append(f"building: {described(error)}")
                    continue
                if outcome is not None:
                    return outcome
                is_kept = attempt.is_certain or all(assigned.get(id(owner), [False]))
                if is_kept and _left_by(owner, claim.attribute) == "":
                    refuting.append(attempt.builder)
                elif id(owner) in assigned:
                    is_undecided = True
    if not refuting or is_undecided or session.stand_ins.names:
        return unconfirmed(likeliest(reasons))
    session.builder = refuting[0]
    return refuted(detail, "fake")


def first_call(attempt: Attempt, owner: nn.Module, reasons: list[str]) -> None:
    """Call a layer before it moves, so that it has the state that it keeps for its next call."""
    inputs = Inputs(owner.eval().forward, owner, attempt)
    for specs in inputs.combinations():
        error = _error(owner, {name: spec.make("cpu") for name, spec in specs.items()})
        if error is None:
            return
        reasons.append(f"calling `forward` before it moves: {described(error)[:200]}")
        inputs.learn(error, specs)


class _Met(TorchFunctionMode):
    """Watches two places: whether they are reached, and whether the second passes torch a tensor on another device."""

    def __init__(self, made: Spot, use: Spot) -> None:
        super().__init__()
        self._made, self._use = made, use
        self.is_made = self.is_reached = self.is_mixed = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.is_made = self.is_made or is_at(self._made)
        if is_at(self._use):
            self.is_reached = True
            given = tensors_in((args, kwargs))
            self.is_mixed = self.is_mixed or any(str(tensor.device) != DEVICE for tensor in given)
        return func(*args, **(kwargs or {}))


@contextmanager
def _kept_as_it_is(owner: nn.Module) -> Iterator[None]:
    """Restore the attributes and buffers of a layer after a call."""
    attributes, buffers = dict(vars(owner)), dict(owner._buffers)
    yield
    vars(owner).update(attributes)
    owner._buffers.clear()
    owner._buffers.update(buffers)


def is_at(spot: Spot) -> bool:
    """True if the running code was called from a place."""
    frame = inspect.currentframe()
    while frame is not None and not spot.has_line(frame):
        frame = frame.f_back
    return frame is not None


def making(session: Session, claim: MadeAside) -> Verdict:
    """Move the module: confirmed if `forward` mixes devices where it uses a tensor made on the default device.

    Refuted if all tensors are on the device there. Tensors on the CPU that claim another device can only confirm.
    """
    reasons: list[str] = []

    def making_on(machine: AbstractContextManager[Any]) -> Verdict:
        reasons.clear()
        with machine:
            return session.first_seen(
                claim.owner,
                lambda attempt: _verdict_of_making(attempt, attempt.build(), claim, reasons),
                reasons,
                device="cpu" if claim.is_kept else DEVICE,
            )

    return _also_labelled(session, making_on)


def _verdict_of_making(attempt: Attempt, owner: Any, claim: MadeAside, reasons: list[str]) -> Verdict | None:
    """The verdict of one object that creates tensors in a call; None if it decides nothing."""
    made, use = Spot.of(claim.place), Spot.of(claim.use)
    if not isinstance(owner, nn.Module):
        reasons.append(f"`{type(owner).__name__}` is no `nn.Module`")
        return None
    owner.eval().to(DEVICE)
    if (call := _call_of(owner, claim)) is None:
        reasons.append(f"`{type(owner).__name__}` has no `forward`, and the method is not its own")
        return None
    _move_attributes(owner, DEVICE)
    inputs, name = Inputs(call, owner, attempt), call.__name__
    for specs in inputs.combinations():
        given = {name: spec.make(DEVICE) for name, spec in specs.items()}
        met = _Met(made, use)
        with _kept_as_it_is(owner), met:
            error = _error(call, given)
        if error is None and met.is_made and met.is_reached and not met.is_mixed:
            return refuted(f"`{name}` uses only what is on {DEVICE} there", "fake")
        if error is None:
            reasons.append(f"`{name}` works" if met.is_made else f"the tensor is not made by `{name}` as it was called")
            return None
        if mixes(error) and not use.raised_on_line(error):
            # Another tensor is not to be the first to fail.
            with _kept_as_it_is(owner), _Placed(made, is_repaired=False):
                error = _error(call, given) or error
        if not mixes(error) or not use.raised_on_line(error):
            reasons.append(f"calling `{name}`: {described(error)[:200]}")
            inputs.learn(error, specs)
            continue
        with _kept_as_it_is(owner), _Placed(made, is_repaired=True):
            again = _error(call, given)
        if again is not None and mixes(again) and use.raised_on_line(again):
            continue  # something else is on another device there
        attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})
        detail = f"the module moved to {DEVICE}; `{name}` raises {_error_text(error)}"
        return confirmed(detail, "fake")
    return None


class _Placed(TorchFunctionMode):
    """Makes on the device what is made on the default device, but for one place.

    If the place `is_repaired`, what is made or put anywhere there is on the device, too.
    """

    def __init__(self, made: Spot, *, is_repaired: bool) -> None:
        super().__init__()
        self._made = made
        self._is_repaired = is_repaired

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, is_here = dict(kwargs or {}), is_at(self._made)
        if func in _device_constructors() and kwargs.get("device") is None and (self._is_repaired or not is_here):
            kwargs["device"] = DEVICE
        made = func(*args, **kwargs)
        is_put = isinstance(made, torch.Tensor) and (func in _MOVES or not tensors_in((args, kwargs)))
        return moved(made, DEVICE) if is_put and is_here and self._is_repaired else made


def _call_of(owner: nn.Module, claim: LeftBehind | MadeAside) -> Callable[..., Any] | None:
    """The `forward` of a layer, or, if it has none, its method around the use; None if that is of another class."""
    if type(owner).forward is not nn.Module.forward:
        return owner.forward
    return _method(owner, CLAIMS.name_at(claim, claim.use))


def _move_attributes(owner: object, device: str, but: str = "") -> None:
    """Move the tensors in the attributes of an object that are no parameters or buffers, so that none fails first."""
    for name, value in vars(owner).items():
        if name != but and not name.startswith("_") and tensors_in(value):
            setattr(owner, name, moved(value, device))


def _kept_under(attribute: str, owner: str, tree: ast.AST) -> Iterator[str]:
    """The constructor's parameters that a class stores unchanged in an attribute."""
    for node in (part for cls in definitions(tree, owner) for part in ast.walk(cls)):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Attribute) and target.attr == attribute for target in node.targets
        ):
            yield from (node.value.id,) if isinstance(node.value, ast.Name) else ()


def _verdict_of_move(attempt: Attempt, owner: Any, claim: LeftBehind, reasons: list[str]) -> Verdict | None:
    """The verdict of one object; None if it decides nothing."""
    attribute, use, is_layer = claim.attribute, Spot.of(claim.use), isinstance(owner, nn.Module)
    call = _call_of(owner.eval(), claim) if is_layer else _method(owner, CLAIMS.name_at(claim, claim.use))
    away = _left_by(owner, attribute) if is_layer else _not_moved(owner, attribute)
    if call is None or not away:
        said = f"`{attribute}` moves to {DEVICE} with its module" if away == "" else f"`{attribute}` is no tensor"
        lacking = "has no `forward`, and the method is not its own" if is_layer else "is no `nn.Module`"
        reasons.append(said if call is not None else f"`{type(owner).__name__}` {lacking}")
        return None
    value = getattr(owner, attribute)
    where = next(tensor.device for tensor in tensors_in(value) if tensor.device.type != torch.device(away).type)
    stayed, name = f"`{attribute}` stayed on `{where}`", call.__name__
    _move_attributes(owner, away, attribute)
    inputs = Inputs(call, owner, attempt)
    for specs in inputs.combinations():
        given = {name: spec.make(away) for name, spec in specs.items()}
        error = _error(call, given)
        if error is None:
            reasons.append(f"{stayed}, but `{name}` works")
            return None
        if not mixes(error) or not use.raised_on_line(error):
            reasons.append(f"calling `{name}`: {described(error)[:200]}")
            inputs.learn(error, specs)
            continue
        setattr(owner, attribute, moved(value, away))
        again = _error(call, given)
        setattr(owner, attribute, value)
        if again is not None and mixes(again) and use.raised_on_line(again):
            continue  # something else is on another device there
        attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})
        when = f"when the module moved to {away}" if is_layer else "as no model moves what is no layer"
        return confirmed(f"{stayed} {when}; `{name}` raises {_error_text(error)}", "fake")
    return None


def _method(owner: Any, name: str) -> Callable[..., Any] | None:
    """The method with the last part of a dotted name, if the object has it."""
    last = name.rpartition(".")[2]
    is_it = isinstance(function := getattr(type(owner), last, None), FunctionType) and function.__qualname__ == name
    return cast("Callable[..., Any]", getattr(owner, last)) if is_it else None


def _not_moved(owner: Any, attribute: str) -> str | None:
    """The GPU if an object that is no layer keeps a CPU tensor; "" if its tensors are elsewhere; None without one."""
    tensors = [] if hasattr(owner, "to") else tensors_in(getattr(owner, attribute, None))
    return DEVICE if any(tensor.device.type == "cpu" for tensor in tensors) else "" if tensors else None


def _left_by(owner: Any, attribute: str) -> str | None:
    """The device that a layer moved to without its tensor; "" if the tensor follows to the GPU and back.

    None if there is no layer, or no tensor.
    """
    for device in (DEVICE, "cpu") if isinstance(owner, nn.Module) else ():
        owner.to(device)
        tensors = tensors_in(getattr(owner, attribute, None))
        if not tensors:
            return None
        if any(tensor.device.type != torch.device(device).type for tensor in tensors):
            return device
    return "" if isinstance(owner, nn.Module) else None


def _error(call: Callable[..., Any], given: dict[str, Any]) -> Exception | None:
    try:
        call(**given)
    except Exception as error:
        return error
    return None


def mixes(error: Exception) -> bool:
    """True if torch complains about tensors on different devices."""
    text = str(error)
    return "same device" in text or "indices should be either on" in text or "FakeTensorDevice" in type(error).__name__


def _error_text(error: Exception) -> str:
    return described(error)[:200]
