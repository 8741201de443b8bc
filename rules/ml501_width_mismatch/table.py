"""Where layers of torch say how wide their input has to be, and what they give; `tests` try it on the layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

#: The position and the name of an argument of a constructor.
Argument: TypeAlias = "tuple[int, str]"
#: Dimension 1, whatever follows it: the number of dimensions has to be known to tell which one that is.
SECOND = 1


@dataclass(frozen=True)
class Sized:
    """A layer that takes so many features along a dimension, and gives so many there; other dimensions are not its own.

    `axis` counts from the end: -1 of `Linear`, -3 of `Conv2d`; or it is `SECOND`. What `gives` nothing keeps what it
    takes. `dimensions` are those of its input, if there is only one way; one less would be an input without a batch.
    """

    axis: int
    takes: Argument | None
    gives: Argument | None = None
    dimensions: int | None = None
    #: Whether it gives a tuple of its output and more.
    is_tuple: bool = False


def _convolutions() -> dict[str, Sized]:
    takes, gives = (0, "in_channels"), (1, "out_channels")
    return {
        f"{kind}{grid}d": Sized(-1 - grid, takes, gives, grid + 2)
        for kind in ("Conv", "ConvTranspose")
        for grid in (1, 2, 3)
    }


_RECURRENT = Sized(-1, (0, "input_size"), (1, "hidden_size"), is_tuple=True)
_ENCODER = Sized(-1, (0, "d_model"))
_FEATURES = (0, "num_features")
#: By the name in `torch.nn`.
SIZED: dict[str, Sized] = {
    "Linear": Sized(-1, (0, "in_features"), (1, "out_features")),
    **_convolutions(),
    "LayerNorm": Sized(-1, (0, "normalized_shape")),
    "RMSNorm": Sized(-1, (0, "normalized_shape")),
    "BatchNorm1d": Sized(SECOND, _FEATURES),
    "BatchNorm2d": Sized(-3, _FEATURES, dimensions=4),
    "BatchNorm3d": Sized(-4, _FEATURES, dimensions=5),
    "GroupNorm": Sized(SECOND, (1, "num_channels")),
    "Embedding": Sized(-1, None, (1, "embedding_dim")),
    "RNN": _RECURRENT,
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "MultiheadAttention": Sized(-1, (0, "embed_dim"), is_tuple=True),
    "TransformerEncoderLayer": _ENCODER,
    "TransformerDecoderLayer": _ENCODER,
}
#: What has to divide what, or the constructor raises an error.
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
