"""ML302: a rotary table that is sized by the current input and indexed by positions from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.value import EventKind, Op
from modellint.link.rotary import LengthKind, length_kind, number_sources
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.rotary import SizedTable, TableIndex


class RotaryLengthNotCovering(Rule):
    """A rotary table is sized by the current input, but positions come from outside

    ## What it does
    Finds calls `rotary(seq_len=n)` whose table is then indexed by position ids that the caller passes in, where `n` is
    the length of the current input alone although the same function continues a cached sequence.

    ## Why is this bad
    When a sequence is continued, the input is one token long while its position is as large as the cache: the table
    has one row, and `cos[position_ids]` is out of bounds.

    ## How to fix
    Size the table by `position_ids.max() + 1`, or by the length of the keys once the cache is added.

    ## References
    - [RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864)
    """

    code = "ML302"
    name = "rotary-length-not-covering"
    severity = Severity.WARNING
    triggers = ("import torch|from torch", "otary|cos|_rope|rope_")

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function in module.all_functions():
            if function.name == "__init__":
                continue
            for table in project.rotary.sized_tables(function):
                if table.event.kind is not EventKind.CALL or not _is_current_length(table, project):
                    continue
                if not _continues(function):
                    continue
                for index in project.rotary.indices(table):
                    if _is_given(index, table, project):
                        yield self._report(table, index)
                        break

    def _report(self, table: SizedTable, index: TableIndex) -> Finding:
        module = table.frame.module
        ids = index.ids.value.data
        length = table.length.frame.module.text_of(table.length.value)
        return self.finding(
            module.place(table.event.value),
            f"the table has `{length}` rows, which do not cover the positions `{ids}`",
            symbol=module.text_of(table.event.value.callee),
            confidence=Confidence.MEDIUM,
            evidence=(
                f"`{length}` is the length of the current input",
                f"`{ids}` is passed in, and the sequence may continue a cached one",
            ),
            related=(Related(index.frame.module.place(index.event.value), "the table is indexed here"),),
            help=f"size the table by `{ids}.max() + 1`",
        )


def _is_current_length(table: SizedTable, project: Project) -> bool:
    """Whether a length is a dimension of the input and nothing else: no past is added, no position looked at."""
    sources = list(number_sources(table.length, project.evaluator))
    return bool(sources) and all(
        source.frame is table.frame
        and length_kind(source.value) == LengthKind.COUNT
        and not _grew(source.value)
        for source in sources
    )


def _grew(value: Value) -> bool:
    """Whether a dimension is that of a tensor to which a cache was added, or a cache's own length."""
    return any(
        (part.op is Op.CALL and part.callee.data in ("cat", "concat", "concatenate", "update"))
        or (part.op is Op.CALL and "length" in str(part.callee.data))
        for part in value.walk()
    )


def _continues(function: Function) -> bool:
    """Whether a function joins what it computes to something kept from earlier calls."""
    for event in function.flow.of(EventKind.CALL):
        call = event.value
        if call.callee.op is not Op.ATTR:
            continue
        if call.callee.data in ("cat", "concat") and call.positional and call.positional[0].op in (Op.LIST, Op.TUPLE):
            first, *rest = call.positional[0].args
            if rest and _is_kept(first):
                return True
        if call.callee.data == "update" and call.callee.args[0].op is Op.PARAM and len(call.positional) >= 2:
            return True
    return False


def _is_kept(value: Value) -> bool:
    """Whether a value is (part of) a parameter or attribute as it was given: a past."""
    while value.op in (Op.INDEX, Op.UNPACK) or (value.op is Op.ATTR and value.args[0].op is not Op.PARAM):
        value = value.args[0]
    return value.op is Op.PARAM or (value.op is Op.ATTR and len(value.args) == 1)


def _is_given(index: TableIndex, table: SizedTable, project: Project) -> bool:
    """Whether the ids are a parameter of the function that sizes the table, and no comparison guards them."""
    ids = index.ids
    if ids.value.op is not Op.PARAM or ids.frame is not table.frame:
        return False
    if any(arg.op is Op.PARAM and arg.data == ids.value.data for arg in table.event.value.args[1:]):
        return False
    return not any(
        part is ids.value
        for event in table.frame.function.flow.of(EventKind.COMPARE)
        for part in event.value.walk()
        if event.value.data not in ("is", "is not")
    )
