"""The probe of registration: tensors reachable from a module against its `parameters()` and `state_dict()`."""

from __future__ import annotations

import inspect
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from . import placement, roles
from .beside import LAYERS, OPERATORS
from .placement import DEVICE
from .places import Spot
from .standins import described, likeliest
from .verdicts import Verdict, confirmed, quoted, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.claims.layers import NotRegistered

    from .classes import Builder
    from .session import Session

_SHOWN = 3
_MOVING = frozenset((torch.Tensor.to, torch.Tensor.cpu))
_REGISTERING = tuple(sorted(OPERATORS.methods("Module", "registers")))


def registration(session: Session, claim: NotRegistered) -> Verdict:
    """Build the module: confirmed if tensors below an attribute are neither parameters nor buffers.

    Refuted if all values assigned at the place are registered there, with all choices of assumed numbers.
    """
    spot = Spot.of(claim.place)
    reasons: list[str] = []
    kept: list[tuple[str, Builder]] = []
    is_undecided = False
    kinds = {claim.argument: claim.kind} if isinstance(claim, LAYERS.KeptAsGiven) else {}
    with placement.pretended():
        for variant in (*roles.VARIANTS, roles.EQUAL):
            for attempt in session.attempts(claim.owner, variant=variant, device=DEVICE, kinds=kinds):
                try:
                    with assignments(spot) as assigned, _Unmoved() as unmoved:
                        owner = attempt.build()
                except Exception as error:
                    if "before Module.__init__() call" in str(error) and spot.raised_on_line(error):
                        return confirmed(f"building raises {described(error)}", "fake")
                    reasons.append(f"building: {described(error)}")
                    continue
                if id(owner) not in assigned and not _is_of_class(owner, claim.attribute):
                    reasons.append(f"`{claim.attribute}` is not assigned there with these arguments")
                    continue
                fact, is_registered = _registration_of(owner, claim.attribute)
                if is_registered is False:
                    return confirmed(fact, "fake")
                if is_registered and unmoved.has_any(getattr(owner, claim.attribute)):
                    reasons.append(f"`{claim.attribute}` is moved to the CPU, where it is with these arguments")
                    is_undecided = True
                elif is_registered and all(assigned.get(id(owner), (False,))):
                    kept.append((fact, attempt.builder))
                else:
                    reasons.append(fact)
                    is_undecided = True
            if is_undecided or not kept or not kept[0][1].numbers.assumed:
                break
    if not kept or is_undecided or session.stand_ins.names:
        return unconfirmed(likeliest([*(fact for fact, _ in kept), *reasons]))
    fact, session.builder = kept[0]
    return refuted(fact, "fake")


class _Unmoved(TorchFunctionMode):
    """Records parameters whose move to the CPU was the identity: from another device the move gives a plain tensor."""

    def __init__(self) -> None:
        super().__init__()
        self._found: list[torch.Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func in _MOVING and made is args[0] and isinstance(made, nn.Parameter) and made.device.type == "cpu":
            to = (*args[1:], *(kwargs or {}).values())
            if func is torch.Tensor.cpu or any(_says_where(value) for value in to):
                self._found.append(made)
        return made

    def has_any(self, value: object) -> bool:
        """True if one of these parameters can be reached from an object."""
        known = {id(tensor) for tensor in self._found}
        return any(id(tensor) in known for _, tensor in placement.tensors(value))


def _says_where(value: object) -> bool:
    return isinstance(value, str | int | torch.device | torch.Tensor) and not isinstance(value, bool)


def _registration_of(owner: Any, attribute: str) -> tuple[str, bool | None]:
    """A sentence on the tensors below an attribute, and whether all are registered; None if that is unknown."""
    if not isinstance(owner, nn.Module):
        return f"`{type(owner).__name__}` is no `nn.Module`", None
    if not hasattr(owner, attribute):
        return f"`{type(owner).__name__}` has no `{attribute}` with these arguments", None
    value = getattr(owner, attribute)
    if isinstance(value, nn.Module) and not _is_of_class(owner, attribute):
        return f"`{attribute}` is a layer of its own", True if attribute in owner._modules else None
    found = list(placement.tensors(value, attribute))
    saved = {id(tensor) for tensor in owner.state_dict(keep_vars=True).values() if isinstance(tensor, torch.Tensor)}
    known = {id(tensor) for tensor in (*owner.parameters(), *owner.buffers())}
    lost = [path for path, tensor in found if id(tensor) not in known and id(tensor) not in saved]
    if lost:
        number = f"{len(lost)} tensors below `{attribute}` are" if len(lost) > 1 else f"1 tensor below `{attribute}` is"
        names = quoted(lost, _SHOWN)
        return f"{number} in neither `parameters()` nor `state_dict()`: {names}", False
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], nn.Module):
        return f"`{attribute}` is a tuple of one layer: `'tuple' object is not callable`", False
    return (
        (f"all tensors below `{attribute}` are registered", True)
        if found
        else (f"`{attribute}` holds no tensors", None)
    )


def _is_of_class(owner: Any, attribute: str) -> bool:
    """True if an attribute of a module is one of its class."""
    tables = (owner.__dict__, owner._modules, owner._parameters, owner._buffers) if isinstance(owner, nn.Module) else ()
    is_own = any(attribute in table for table in tables)
    return not is_own and any(attribute in vars(cls) for cls in type(owner).__mro__)


@contextmanager
def assignments(spot: Spot) -> Iterator[dict[int, list[bool]]]:
    """Record for each module, by id, whether the values assigned to attributes on the lines of `spot` get registered.

    Elsewhere, assignments before the constructor of `nn.Module` pass: they are not the claim's.
    """
    assigned: dict[int, list[bool]] = {}
    originals = {name: getattr(nn.Module, name) for name in ("__setattr__", *_REGISTERING)}

    def note(module: nn.Module, is_registered: bool) -> bool:
        frame = inspect.currentframe()
        caller = None if frame is None or frame.f_back is None else frame.f_back.f_back
        while caller is not None and caller.f_code.co_name in originals:
            caller = caller.f_back  # a subclass's own, which calls that of `nn.Module`
        is_here = caller is not None and spot.has_line(caller)
        if is_here:
            assigned.setdefault(id(module), []).append(is_registered)
        return is_here

    def assign(self: nn.Module, name: str, value: Any) -> None:
        is_buffer = name in self.__dict__.get("_buffers", ())
        is_here = note(self, is_buffer or isinstance(value, nn.Module | nn.Parameter))
        try:
            originals["__setattr__"](self, name, value)
        except AttributeError as error:
            if is_here or "before Module.__init__() call" not in str(error):
                raise

    def registering(original: Callable[..., None]) -> Callable[..., None]:
        def register(self: nn.Module, *args: Any, **kwargs: Any) -> None:
            note(self, True)
            original(self, *args, **kwargs)

        return register

    replaced = {"__setattr__": assign, **{name: registering(originals[name]) for name in _REGISTERING}}
    with ExitStack() as stack:
        for name, function in replaced.items():
            stack.enter_context(patch.object(nn.Module, name, function))
        yield assigned
