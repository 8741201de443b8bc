"""Mistakes about ids: heads with more classes than the table that takes their ids, and guards that let one by (ML103).

Mature libraries draw ids far from the table that takes them, in generation code of their own. A correct method that
draws an id and looks it up is therefore added first, to the class that holds the head.
"""

from __future__ import annotations

import ast
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

from planting.catalogue import Mutant, operator
from planting.source import Class, Edit, Source, Store, argument
from planting.tables import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How an id is drawn from `scores`.
_DRAWN = (
    "scores.argmax(dim=-1)",
    "torch.multinomial(scores.softmax(dim=-1), 1).squeeze(-1)",
    "torch.argmax(scores, dim=-1)",
    "scores.topk(1, dim=-1).indices.squeeze(-1)",
    "torch.distributions.Categorical(logits=scores).sample()",
    "scores.max(dim=-1)[1]",
)
_WIDER = " + 8"


class Pair(NamedTuple):
    """A head with as many classes as a table has rows, and how the head's class reaches both."""

    cls: Class
    head: Store
    classes: ast.expr
    table: str
    rows: str | None


def pairs(source: Source) -> Iterator[Pair]:
    """Heads of tables: `nn.Linear(…, rows)` beside `nn.Embedding(rows, …)`, or beside an object of its class."""
    for table in tables(source):
        rows = source.text(table.rows)
        for cls in source.classes.values():
            owner = "self" if cls is table.cls else _holder(cls, table.cls)
            if owner is None or source.imports.get("torch") != "torch":
                continue
            for head in cls.constructed():
                if source.called(head.value) != "Linear":
                    continue
                assert isinstance(head.value, ast.Call)
                classes = argument(head.value, 1, "out_features")
                if classes is not None and source.text(classes) == rows:
                    known = cls.in_method(classes)
                    yield Pair(cls, head, classes, f"{owner}.{table.store.name}", known)


def _holder(cls: Class, part: Class) -> str | None:
    """`self.model`, where the constructor stores `Model(…)` of a class of the file."""
    for store in cls.constructed():
        value = store.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == part.name:
            return f"self.{store.name}"
    return None


def _method(cls: Class, head: str, drawn: str, table: str, cut: str = "", kept: str = "") -> Edit:
    """A method behind the last of a class that draws an id from a head and looks it up."""
    source, last = cls.source, cls.node.body[-1]
    body = [f"scores = self.{head}(hidden){cut}", f"token = {drawn}", *([kept] if kept else [])]
    lines = ["", "def draw_and_embed(self, hidden):", *(f"    {line}" for line in body), f"    return {table}(token)"]
    indent = " " * last.col_offset
    return source.after(last, "\n" + "\n".join(f"{indent}{line}" if line else "" for line in lines))


def _place(method: Edit, table: str) -> tuple[Edit, str]:
    return method, f"return {table}(token)"


@operator("ML103", b"Embedding(", b"Linear(", also=("ML105",))
def widen_a_head(source: Source) -> Iterator[Mutant]:
    """A head from which ids of a table are drawn gets 8 classes more."""
    drawn = cycle(_DRAWN)
    for pair in pairs(source):
        method = _method(pair.cls, pair.head.name, next(drawn), pair.table)
        edits = (source.after(pair.classes, _WIDER), method)
        yield Mutant(edits, (_place(method, pair.table),), (method,))


@operator("ML103", b"Embedding(", b"Linear(", also=("ML105",))
def drop_a_logits_slice(source: Source) -> Iterator[Mutant]:
    """A head has 8 classes more than the table has rows; the slice that cuts them off goes."""
    drawn = cycle(_DRAWN)
    for pair in pairs(source):
        if pair.rows is not None:
            way, wider = next(drawn), source.after(pair.classes, _WIDER)
            correct = _method(pair.cls, pair.head.name, way, pair.table, cut=f"[..., :{pair.rows}]")
            mistaken = _method(pair.cls, pair.head.name, way, pair.table)
            yield Mutant((wider, mistaken), (_place(mistaken, pair.table),), (wider, correct))


@operator("ML103", b"Embedding(", b"Linear(", also=("ML105",))
def drop_a_clamp_of_ids(source: Source) -> Iterator[Mutant]:
    """A head has 8 classes more than the table has rows; the clamp of the ids goes."""
    drawn = cycle(_DRAWN)
    for pair in pairs(source):
        if pair.rows is not None:
            way, wider = next(drawn), source.after(pair.classes, _WIDER)
            kept = f"token = token.clamp(max={pair.rows} - 1)"
            correct = _method(pair.cls, pair.head.name, way, pair.table, kept=kept)
            mistaken = _method(pair.cls, pair.head.name, way, pair.table)
            yield Mutant((wider, mistaken), (_place(mistaken, pair.table),), (wider, correct))


@operator("ML103", b"Embedding(")
def let_one_id_too_many_through(source: Source) -> Iterator[Mutant]:
    """Ids are clamped to the number of rows, and not to one less, where a table is called with them."""
    for table in tables(source):
        for _, call in table.calls[:1]:
            rows = table.cls.in_method(table.rows)
            if rows is not None and isinstance(call.args[0], ast.Name):
                correct = source.after(call.args[0], f".clamp(0, {rows} - 1)")
                yield Mutant((source.after(call.args[0], f".clamp(0, {rows})"),), (call,), (correct,))
