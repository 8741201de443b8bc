"""The order of a table's two sizes: by the names in its call, and by the layers that take its output."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torch import nn

from . import roles
from .places import expression

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .places import Spot

#: Attributes of layers with the number of features that they take.
_TAKES = ("in_features", "in_channels", "num_channels", "num_features", "input_size", "embed_dim")
#: A table with no more rows than this is not sized by features.
_FEW = 2


class Sizes:
    """The expressions of the two sizes of the table created at a place; None stands for an unknown one."""

    def __init__(self, tree: ast.AST, spot: Spot) -> None:
        call = expression(tree, spot)
        given = dict[str, ast.expr]()
        if isinstance(call, ast.Call):
            given = dict(zip(("num_embeddings", "embedding_dim"), call.args, strict=False))
            given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        self.rows = given.get("num_embeddings")
        self._columns = given.get("embedding_dim")

    @property
    def rows_are_ids(self) -> bool:
        """True if the rows cannot be features: a name unlike a width's, a length, or a number too small for one."""
        match self.rows:
            case ast.Name(name) | ast.Attribute(attr=name):
                return not roles.is_width(name)
            case ast.Constant(int(number)):
                return number <= _FEW
        return self.rows_are_counted

    @property
    def rows_are_counted(self) -> bool:
        """True if the number of rows is a `len(…)`."""
        return isinstance(self.rows, ast.Call) and isinstance(self.rows.func, ast.Name) and self.rows.func.id == "len"

    @property
    def columns_are_features(self) -> bool:
        """True if the number of columns is named like a width."""
        name = getattr(self._columns, "attr", getattr(self._columns, "id", None))
        return name is not None and roles.is_width(name)


def takes_columns(model: object, tables: Iterable[nn.Embedding]) -> str | None:
    """The first layer that takes as many features as each table has columns, if none takes as many as its rows.

    None if there is no such layer, or one that takes as many as there are rows.
    """
    widths = {
        width: type(part).__name__
        for part in (model.modules() if isinstance(model, nn.Module) else ())
        for width in _feature_counts(part)
    }
    columns = {table.embedding_dim for table in tables}
    rows = {table.num_embeddings for table in tables}
    if not columns or not columns <= widths.keys() or rows & widths.keys():
        return None
    return widths[min(columns)]


def _feature_counts(layer: nn.Module) -> Iterable[int]:
    """The numbers of features that a layer takes."""
    found = [getattr(layer, name, None) for name in _TAKES]
    shape = getattr(layer, "normalized_shape", None)
    return [width for width in (*found, shape[-1] if isinstance(shape, tuple) else None) if isinstance(width, int)]
