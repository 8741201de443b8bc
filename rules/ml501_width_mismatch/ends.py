"""The arguments of constructors that say how wide the input of a layer is, and its output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import Op

if TYPE_CHECKING:
    from modellint.flow import queries
    from modellint.graph.value import Value

#: The positions and names for the input, and for the output.
_ENDS = (
    ((0, "in_features"), (1, "out_features")),
    ((0, "in_channels"), (1, "out_channels")),
    ((0, "input_size"), (1, "hidden_size")),
    ((0, "num_embeddings"), (1, "embedding_dim")),
    ((0, "num_features"), None),
    ((0, "normalized_shape"), None),
)
_OF_GROUPS = (1, "num_channels")


def input_width(made: queries.Site) -> Value | None:
    """The argument of a constructor for the width of the layer's input; None if there is none."""
    if made.value.op is not Op.CALL:
        return None
    is_grouped = made.name.rpartition(".")[2] == "GroupNorm"
    places = [_OF_GROUPS] if is_grouped else [ends[0] for ends in _ENDS]
    return next((value for place in places if (value := made.value.argument(*place)) is not None), None)


def output_width(made: queries.Site) -> Value | None:
    """The argument of a constructor for the width of the layer's output; None if there is none."""
    if made.value.op is not Op.CALL:
        return None
    places = [ends[1] for ends in _ENDS if ends[1] is not None]
    return next((value for place in places if (value := made.value.argument(*place)) is not None), None)
