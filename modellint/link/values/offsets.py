"""Whole numbers that are added to the lengths of position tables, and whether what indexes the table moves along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import Op
from modellint.link.values.evaluator import Located
from modellint.link.values.rotary import (
    LARGEST,
    LengthKind,
    has_length_beside,
    is_element,
    is_last,
    length_kind,
    number_sources,
)

if TYPE_CHECKING:
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.values.rotary import SizedTable


def offset_of(part: Located, project: Project) -> int | None:
    """The whole number that a sum adds to something that is none."""
    left, right = part.value.args
    sizes = [project.evaluator.size(arg, part.frame) for arg in (left, right)]
    numbers = [None if size is None else size.constant for size in sizes]
    if numbers[1] is not None and numbers[0] is None:
        return -numbers[1] if part.value.data == "-" else numbers[1]
    if numbers[0] is not None and numbers[1] is None and part.value.data == "+":
        return numbers[0]
    return None


def is_number(value: Value, part: Located, project: Project) -> bool:
    """Whether an operand of a sum is a whole number that is known."""
    size = project.evaluator.size(value, part.frame)
    return size is not None and size.constant is not None


def is_run_time(part: Located, project: Project) -> bool:
    """Whether what the offset is added to is known only at run time: a dimension, a position, an argument."""
    for source in number_sources(part, project.evaluator):
        value = source.value
        if value.op is Op.CONST:
            continue
        if length_kind(value) != LengthKind.UNKNOWN:
            return True
        if is_element(value) or (value.op is Op.PARAM and value.data != "self"):
            return True
        if value.op is Op.BIN and value.data == "//" and length_kind(value.args[0]) == LengthKind.COUNT:
            return True
    return False


def index_moves_too(table: SizedTable, part: Located, offset: int, project: Project) -> bool:
    """Whether positions are moved by the same number, so that table and index agree (OPT and BART add 2)."""
    functions = [table.frame.function, *([table.callee.function] if table.callee is not None else [])]
    for function in functions:
        frame = project.evaluator.root(function)
        for event in function.flow.events:
            for value in event.value.walk():
                if value.op is not Op.BIN or value is part.value or value.data not in ("+", "-"):
                    continue
                if value.line == part.value.line and value.offset == part.value.offset:
                    continue
                other = offset_of(Located(value, frame), project)
                if other is not None and abs(other) == abs(offset):
                    return True
    return False


def takes_last(part: Located, table: SizedTable, project: Project) -> bool:
    """Whether a length is the last element of the very ids that index the table, plus 1."""
    if has_length_beside(part, table):
        return False
    indices = project.rotary.indices(table)
    for source in number_sources(part, project.evaluator):
        value = source.value
        if value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in LARGEST:
            value = value.callee.args[0]
        if not is_last(value) or value.args[1].op is not Op.TUPLE:
            continue
        ids = project.rotary.follow(Located(value.args[0], source.frame))
        if any(index.ids.value is ids.value for index in indices):
            return True
    return False
