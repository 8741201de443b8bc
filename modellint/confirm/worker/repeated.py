"""The probe of containers that have one layer more than once."""

from __future__ import annotations

import inspect
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from torch import nn

from .places import Spot
from .reaching import reach
from .standins import likeliest
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.claims.layers import Repeated

    from .session import Session


def repetition(session: Session, claim: Repeated) -> Verdict:
    """Reach a container by importing, building or calling: confirmed if one of its layers has two names or more."""
    spot, reasons, most = Spot.of(claim.place), list[str](), 0
    with _containers(spot) as made:
        for _ in reach(session, spot, reasons):
            for container in made:
                layers = list(container._modules.values())
                times = max((sum(one is other for other in layers) for one in layers), default=0)
                if times > 1:
                    kind = type(container).__name__
                    return confirmed(f"{times} of the {len(layers)} layers of the `{kind}` are the same object")
                most = max(most, len(layers))
            made.clear()
    return refuted("each layer is there once") if most > 1 else unconfirmed(likeliest(reasons))


@contextmanager
def _containers(spot: Spot) -> Iterator[list[nn.Module]]:
    """The containers of layers that are made on the lines of `spot` meanwhile."""
    made: list[nn.Module] = []

    def noting(original: Callable[..., None]) -> Callable[..., None]:
        def init(self: nn.Module, *args: Any, **kwargs: Any) -> None:
            frame = inspect.currentframe()
            if frame is not None and frame.f_back is not None and spot.has_line(frame.f_back):
                made.append(self)
            original(self, *args, **kwargs)

        return init

    with ExitStack() as stack:
        for kind in (nn.ModuleList, nn.Sequential):
            stack.enter_context(patch.object(kind, "__init__", noting(kind.__init__)))
        yield made
