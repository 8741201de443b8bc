"""A Brain of a recipe's script, as far as its methods need it: with the objects of the recipe, and no training."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from torch import nn

from . import placement, recipes
from .sources import Source
from .standins import StandIn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modellint.claims.recipes import NotTrained, NotWrapped, OptimizerNotSaved

    from .session import Session


class Checkpointer:
    """Notes what a Brain adds to it, and does nothing else."""

    def __init__(self) -> None:
        self.added: list[Any] = []

    def add_recoverable(self, name: str, obj: Any, *_: Any, **__: Any) -> None:
        self.added.append(obj)

    def add_recoverables(self, recoverables: Mapping[str, Any]) -> None:
        self.added.extend(recoverables.values())


def brain_of(
    session: Session,
    claim: NotTrained | OptimizerNotSaved | NotWrapped,
    objects: dict[str, Any],
    checkpointer: Checkpointer,
) -> Any:
    """A Brain as far as its methods need it: its own constructor has run, the framework's has not."""
    cls = Source(claim.script, session.stand_ins).find(claim.brain)
    entries = objects.get(recipes.MODULES) or {}
    modules = nn.ModuleDict({name: layer for name, layer in entries.items() if isinstance(layer, nn.Module)})
    kept = {
        "modules": modules,
        "mods": modules,
        "hparams": SimpleNamespace(**objects),
        "opt_class": objects.get("opt_class"),
        "checkpointer": checkpointer,
        "device": placement.DEVICE,
    }
    brain = _construct(cls, kept)
    if brain is None:
        brain = object.__new__(cls)
        vars(brain).update(kept)
    return brain


def _construct(cls: type, kept: dict[str, Any]) -> Any:
    """An object whose constructors ran, the framework's left out; None where there are none, or they need more."""
    framework = next((one for one in cls.__mro__[1:] if _is_framework(one)), None)
    if framework is None or cls.__init__ is framework.__init__:  # type: ignore[misc]
        return None
    original = vars(framework).get("__init__")

    def init(self: Any, *_: Any, **__: Any) -> None:
        vars(self).update(kept)

    type.__setattr__(framework, "__init__", init)
    try:
        return cls(kept["modules"], kept["opt_class"], vars(kept["hparams"]), {}, kept["checkpointer"])
    except Exception:
        return None
    finally:
        if original is None:
            type.__delattr__(framework, "__init__")
        else:
            type.__setattr__(framework, "__init__", original)


def _is_framework(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "speechbrain" or issubclass(cls, StandIn)
