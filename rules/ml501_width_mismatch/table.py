"""The widths that layers of torch take and return: by the rows of operators, and in a table of their own.

Where a row states the width or the channels of a layer, it holds here. Only layers that have no row stand here, and
the dimension that each width is of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from modellint import operators
from modellint.graph.immutable import dataclass

#: The position and the name of an argument of a constructor.
Argument: TypeAlias = "tuple[int, str]"
#: Dimension 1, whatever follows it: the number of dimensions has to be known to tell which one that is.
SECOND = 1


@dataclass(frozen=True)
class Sized:
    """A layer that takes so many features along a dimension, and returns so many there; other dimensions are kept.

    `axis` counts from the end: -1 of `Linear`, -3 of `Conv2d`; or it is `SECOND`. Where `gives` is None, the width is
    kept. `dimensions` are those of its input, if there is only one way; one less would be an input without a batch.
    """

    axis: int
    takes: Argument | None
    gives: Argument | None = None
    dimensions: int | None = None
    #: True if it returns a tuple of its output and more.
    is_tuple: bool = False


def _by_row(name: str, *facets: str, axis: int = -1) -> Sized:
    """A layer as its row describes it."""
    row = operators.row(f"torch.nn.{name}")
    found = [None if row is None else row.argument(facet) for facet in facets]
    return Sized(axis, found[0], found[1] if len(found) > 1 else None)


def _convolutions() -> dict[str, Sized]:
    found: dict[str, Sized] = {}
    for grid in (1, 2, 3):
        plain = _by_row(f"Conv{grid}d", "channels", "makes-channels", axis=-1 - grid)
        # A transposed one has the same arguments for both.
        found |= dict.fromkeys((f"Conv{grid}d", f"ConvTranspose{grid}d"), replace(plain, dimensions=grid + 2))
    return found


_ENCODER = Sized(-1, (0, "d_model"))
_FEATURES = (0, "num_features")
#: By the name in `torch.nn`.
SIZED: dict[str, Sized] = {
    "Linear": _by_row("Linear", "width", "makes-width"),
    **_convolutions(),
    **{name: _by_row(name, "own-width") for name in ("LayerNorm", "RMSNorm")},
    "BatchNorm1d": Sized(SECOND, _FEATURES),
    "BatchNorm2d": Sized(-3, _FEATURES, dimensions=4),
    "BatchNorm3d": Sized(-4, _FEATURES, dimensions=5),
    "GroupNorm": Sized(SECOND, (1, "num_channels")),
    "Embedding": Sized(-1, None, (1, "embedding_dim")),
    **{name: replace(_by_row(name, "width", "state-width"), is_tuple=True) for name in ("RNN", "LSTM", "GRU")},
    "MultiheadAttention": Sized(-1, (0, "embed_dim"), is_tuple=True),
    "TransformerEncoderLayer": _ENCODER,
    "TransformerDecoderLayer": _ENCODER,
}
#: The pairs of arguments of which the second has to divide the first, or the constructor raises an error.
DIVIDED: dict[str, tuple[tuple[Argument, Argument], ...]] = {
    "MultiheadAttention": (((0, "embed_dim"), (1, "num_heads")),),
    "TransformerEncoderLayer": (((0, "d_model"), (1, "nhead")),),
    "TransformerDecoderLayer": (((0, "d_model"), (1, "nhead")),),
    "GroupNorm": (((1, "num_channels"), (0, "num_groups")),),
    **{
        f"{kind}{grid}d": (((0, "in_channels"), (6, "groups")), ((1, "out_channels"), (6, "groups")))
        for kind in ("Conv", "ConvTranspose")
        for grid in (1, 2, 3)
    },
}
#: Layers that change the sizes of an image, a volume or a sequence, but not how many channels it has: by how many
#: dimensions follow those.
POOLS: dict[str, int] = {
    f"{kind}{grid}d": grid
    for kind in ("MaxPool", "AvgPool", "LPPool", "AdaptiveAvgPool", "AdaptiveMaxPool", "ZeroPad", "ReflectionPad")
    for grid in (1, 2, 3)
}
