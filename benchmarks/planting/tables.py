"""Mistakes about tables: their sizes, and what looks them up (ML101, ML102, ML104, ML105)."""

from __future__ import annotations

import ast
import re
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

from planting.catalogue import Mutant, operator
from planting.source import CONTINUOUS, Class, Edit, Function, Source, Store, argument, is_name, parameters

if TYPE_CHECKING:
    from collections.abc import Iterator


class Table(NamedTuple):
    """`self.name = nn.Embedding(rows, columns)` in a class, and where the class calls it."""

    cls: Class
    store: Store
    rows: ast.expr
    columns: ast.expr
    calls: list[tuple[Function, ast.Call]]


def tables(source: Source) -> Iterator[Table]:
    """The embeddings that layers of a file store, and that their other methods call (not only read `.weight` of)."""
    for cls in source.classes.values():
        for store in cls.constructed():
            value = store.value
            if source.called(value) != "Embedding":
                continue
            assert isinstance(value, ast.Call)
            rows, columns = argument(value, 0, "num_embeddings"), argument(value, 1, "embedding_dim")
            calls = [(method, call) for method, call in cls.calls(store.name) if len(call.args) == 1]
            if rows is not None and columns is not None and calls:
                yield Table(cls, store, rows, columns, calls)


def made_by_layer(table: Table, method: Function, before: ast.AST) -> list[str]:
    """Local names of a method that hold, up to a line, what a layer of torch gave: real numbers, assigned once."""
    found = []
    for name in sorted({node.id for node in ast.walk(method) if isinstance(node, ast.Name)} - set(parameters(method))):
        values = table.cls.source.assigned(method, name)
        value = values[0] if len(values) == 1 else None
        if value is not None and gives_numbers(table.cls, value) and value.lineno < before.lineno:  # type: ignore[attr-defined]
            statement = table.cls.source.statement_of(value)
            if statement in method.body:
                found.append(name)
    return found


def gives_numbers(cls: Class, value: ast.expr) -> bool:
    """Whether an expression is `self.layer(…)` of a layer of torch that gives real numbers."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    if not is_name(value.func.value, "self"):
        return False
    store = cls.only_store(value.func.attr)
    return store is not None and cls.source.called(store.value) in CONTINUOUS


# -- ML101 -------------------------------------------------------------------------------------------------------------


@operator("ML101", b"Embedding(")
def swap_embedding_arguments(source: Source) -> Iterator[Mutant]:
    """Rows and columns of a table change places; they differ, and the table is called."""
    for table in tables(source):
        rows, columns = source.text(table.rows), source.text(table.columns)
        if rows != columns:
            edits = (source.replace(table.rows, columns), source.replace(table.columns, rows))
            yield Mutant(edits, (table.store.statement,))


@operator("ML101", b"Embedding(")
def size_by_width(source: Source) -> Iterator[Mutant]:
    """A table of ids gets as many rows as columns.

    The ids are a parameter of the method that is not called a position, and a linear or normalisation layer of the
    file takes the same number as its width.
    """
    for table in tables(source):
        columns = source.text(table.columns)
        if source.text(table.rows) == columns or isinstance(table.rows, ast.Constant):
            continue
        is_fed_ids = any(
            isinstance(call.args[0], ast.Name)
            and call.args[0].id in parameters(method)
            and "pos" not in call.args[0].id
            and "arange" not in source.text(method)
            for method, call in table.calls
        )
        if is_fed_ids and columns in _widths(source):
            yield Mutant((source.replace(table.rows, columns),), (table.store.statement,))


def _widths(source: Source) -> set[str]:
    """The texts of first arguments of linear and normalisation layers."""
    return {
        source.text(node.args[0])
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and node.args and source.called(node) in ("Linear", "LayerNorm")
    }


# -- ML102 -------------------------------------------------------------------------------------------------------------


@operator("ML102", b"Linear(", also=("ML101",))
def linear_made_an_embedding(source: Source) -> Iterator[Mutant]:
    """`nn.Linear(a, b)` becomes `nn.Embedding(a, b)`; a method calls it with what another layer of torch gave."""
    for cls in source.classes.values():
        for store in cls.constructed():
            if source.called(store.value) != "Linear":
                continue
            assert isinstance(store.value, ast.Call)
            calls = cls.calls(store.name)
            width, size = argument(store.value, 0, "in_features"), argument(store.value, 1, "out_features")
            if width is None or size is None or len(calls) != len(cls.reads(store.name)):
                continue
            table = Table(cls, store, width, size, calls)
            fed = [call for method, call in calls if len(call.args) == 1 and _is_fed_numbers(table, method, call)]
            if fed:
                head = source.text(store.value.func).replace("Linear", "Embedding")
                built = f"{head}({source.text(width)}, {source.text(size)})"
                yield Mutant((source.replace(store.value, built),), (store.statement, *fed))


def _is_fed_numbers(table: Table, method: Function, call: ast.Call) -> bool:
    given = call.args[0]
    if isinstance(given, ast.Name):
        return given.id in made_by_layer(table, method, call)
    return gives_numbers(table.cls, given)


@operator("ML102", b"Embedding(", also=("ML101",))
def feed_layer_output(source: Source) -> Iterator[Mutant]:
    """A table is called with what a layer of torch gave, earlier in the method."""
    for table in tables(source):
        for method, call in table.calls:
            for name in made_by_layer(table, method, call)[:1]:
                if not is_name(call.args[0], name):
                    yield Mutant((source.replace(call.args[0], name),), (source.statement_of(call),))


@operator("ML102", b"Embedding(")
def feed_real_numbers(source: Source) -> Iterator[Mutant]:
    """Ids are cast to float, divided or averaged on their way into a table."""
    endings = cycle((".float()", " / 2", ".softmax(dim=-1)"))
    for table in tables(source):
        for _, call in table.calls[:1]:
            if isinstance(call.args[0], (ast.Name, ast.Attribute)):
                yield Mutant((source.after(call.args[0], next(endings)),), (call,))


@operator("ML102", b"Embedding(", b"argmax(")
def drop_the_argmax(source: Source) -> Iterator[Mutant]:
    """`scores.argmax(…)`, which a table is called with in the same method, becomes the softmax of the scores."""
    for table in tables(source):
        for method, call in table.calls:
            given = call.args[0]
            values = source.assigned(method, given.id) if isinstance(given, ast.Name) else [given]
            for value in values:
                found = None if value is None else _argmax(source, value)
                if found is not None:
                    yield Mutant((found,), (call,))


def _argmax(source: Source, value: ast.expr) -> Edit | None:
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr != "argmax":
        return None
    dim = argument(value, 1 if source.called(value, "torch") else 0, "dim")
    if dim is None:
        return None
    scores = source.text(value.args[0]) if source.called(value, "torch") else source.text(value.func.value)
    return source.replace(value, f"{scores}.softmax(dim={source.text(dim)})")


# -- ML104 -------------------------------------------------------------------------------------------------------------


@operator("ML104", b"Embedding(")
def padding_index_of_no_row(source: Source) -> Iterator[Mutant]:
    """`padding_idx` is the number of rows."""
    for table in tables(source):
        call = table.store.value
        assert isinstance(call, ast.Call)
        if any(isinstance(arg, ast.Starred) for arg in call.args) or any(word.arg is None for word in call.keywords):
            continue
        rows, given = source.text(table.rows), argument(call, 2, "padding_idx")
        if given is not None:
            edit = source.replace(given, rows)
        else:
            last = max((*call.args, *(word.value for word in call.keywords)), key=source.end)
            edit = source.after(last, f", padding_idx={rows}")
        yield Mutant((edit,), (table.store.statement,))


@operator("ML104", b"Embedding(", b"torch")
def pad_with_no_row(source: Source) -> Iterator[Mutant]:
    """Ids are padded with -1, or with the number of rows, where a table is called with them."""
    is_negative = cycle((True, False))
    for table in tables(source):
        for _, call in table.calls[:1]:
            given = call.args[0]
            if not isinstance(given, ast.Name) or source.imports.get("torch") != "torch":
                continue
            rows = table.cls.in_method(table.rows)
            value = "-1" if rows is None or next(is_negative) else rows
            padded = f"torch.nn.functional.pad({given.id}, (0, 1), value={value})"
            yield Mutant((source.replace(given, padded),), (table.store.statement,))


@operator("ML104", b"Embedding(", b"torch.zeros(")
def fill_with_no_row(source: Source) -> Iterator[Mutant]:
    """Ids that a method makes with `torch.zeros` for a table are full of the number of rows instead, or of -1.

    The method always makes them, or does so where the caller gives none (`if ids is None`).
    """
    for table in tables(source):
        for method, call in table.calls:
            given = call.args[0]
            values = source.assigned(method, given.id) if isinstance(given, ast.Name) else [given]
            for value in values:
                if value is None or source.called(value, "torch") != "zeros":
                    continue
                assert isinstance(value, ast.Call)
                if len(value.args) != 1 or isinstance(value.args[0], ast.Starred) or "long" not in source.text(value):
                    continue
                if not _is_reached(source, method, value):
                    continue
                rows = table.cls.in_method(table.rows) or "-1"
                edits = (
                    source.replace(value.func, source.text(value.func).replace("zeros", "full")),
                    source.after(value.args[0], f", {rows}"),
                )
                yield Mutant(edits, (table.store.statement,))


def _is_reached(source: Source, method: Function, value: ast.expr) -> bool:
    """Whether no condition but `parameter is None` stands between a method and an expression."""
    node = source.parents[value]
    while node is not method:
        if isinstance(node, (ast.If, ast.IfExp, ast.For, ast.While, ast.Try)):
            test = getattr(node, "test", None)
            if not isinstance(test, ast.Compare) or not source.text(test).endswith(" is None"):
                return False
            if not isinstance(test.left, ast.Name) or test.left.id not in parameters(method):
                return False
            if any(value is part for other in getattr(node, "orelse", []) for part in ast.walk(other)):
                return False
        node = source.parents[node]
    return True


# -- ML105 -------------------------------------------------------------------------------------------------------------


@operator("ML105", b"Embedding(", b"_tied_weights_keys", also=("ML103",))
def widen_a_tied_head(source: Source) -> Iterator[Mutant]:
    """A head that `_tied_weights_keys` ties gets 8 classes more than the file's one table of as many rows."""
    found = [table for table in tables(source) if "vocab" in source.text(table.rows)]
    for cls in source.classes.values():
        tied = next((s.value for s in _class_level(cls, "_tied_weights_keys")), None)
        if tied is None:
            continue
        for store in cls.constructed():
            if source.called(store.value) != "Linear" or f"{store.name}.weight" not in source.text(tied):
                continue
            assert isinstance(store.value, ast.Call)
            classes = argument(store.value, 1, "out_features")
            if classes is None:
                continue
            same = [table for table in found if source.text(table.rows) == source.text(classes)]
            if len(same) == 1:
                places = (store.statement, same[0].store.statement)
                yield Mutant((source.after(classes, " + 8"),), places)


@operator("ML105", b"Embedding(", b".weight = self.", also=("ML103",))
def widen_a_head_that_shares_its_weight(source: Source) -> Iterator[Mutant]:
    """A head gets 8 classes more than the table whose weight the constructor gives it."""
    for table in tables(source):
        for head in table.cls.constructed():
            if source.called(head.value) != "Linear":
                continue
            assert isinstance(head.value, ast.Call)
            a, b = rf"self\.{head.name}\.weight", rf"self\.{table.store.name}\.weight"
            classes = argument(head.value, 1, "out_features")
            if classes is not None and re.search(f"{a} = {b}|{b} = {a}", table.cls.text):
                yield Mutant((source.after(classes, " + 8"),), (head.statement, table.store.statement))


def _class_level(cls: Class, name: str) -> Iterator[ast.Assign]:
    for node in cls.node.body:
        if isinstance(node, ast.Assign) and is_name(node.targets[0], name):
            yield node
