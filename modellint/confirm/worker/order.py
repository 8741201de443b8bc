"""Whether the two sizes of a table stand in the right order: what its rows are written as, and what others take."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torch import nn

from . import roles
from .places import expression

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .places import Spot

#: Where layers say how many features they take.
_TAKES = ("in_features", "in_channels", "num_channels", "num_features", "input_size", "embed_dim")
#: A table with no more rows than this is not sized by features.
_FEW = 2


class Sizes:
    """What the two sizes of a table that is made at a place are written as. None stands for what is not known."""

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
        """Whether the rows can be no features: a name not like a width's, a length, or a number too small for one."""
        match self.rows:
            case ast.Name(name) | ast.Attribute(attr=name):
                return not roles.is_width(name)
            case ast.Constant(int(number)):
                return number <= _FEW
        return self.rows_are_counted

    @property
    def rows_are_counted(self) -> bool:
        """Whether there are as many rows as members of a collection."""
        return isinstance(self.rows, ast.Call) and isinstance(self.rows.func, ast.Name) and self.rows.func.id == "len"

    @property
    def columns_are_features(self) -> bool:
        """Whether the columns are called like a width."""
        name = getattr(self._columns, "attr", getattr(self._columns, "id", None))
        return name is not None and roles.is_width(name)


def takes_columns(model: object, tables: Iterable[nn.Embedding]) -> str | None:
    """The layer of a model that takes as many features as each table has columns, while none takes as many as its rows.

    None if there is no such layer, or one that takes as many as there are rows.
    """
    widths = {
        width: type(part).__name__
        for part in (model.modules() if isinstance(model, nn.Module) else ())
        for width in _taken(part)
    }
    columns = {table.embedding_dim for table in tables}
    rows = {table.num_embeddings for table in tables}
    if not columns or not columns <= widths.keys() or rows & widths.keys():
        return None
    return widths[min(columns)]


def _taken(layer: nn.Module) -> Iterable[int]:
    """The numbers of features that a layer takes."""
    found = [getattr(layer, name, None) for name in _TAKES]
    shape = getattr(layer, "normalized_shape", None)
    return [width for width in (*found, shape[-1] if isinstance(shape, tuple) else None) if isinstance(width, int)]
