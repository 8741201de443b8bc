"""Calls of torch functions at a place: dropout after `eval()`, softmax without `dim`, discarded results."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from .places import Spot
from .reaching import reach
from .standins import likeliest
from .tensors import tensors_in
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.claims.calls import AlwaysDrops, Copied, Lost, OverBatch

    from .session import Session


class _Asked(TorchFunctionMode):
    """Judges each function of torch that is called while the expression at a place is evaluated."""

    def __init__(self, spot: Spot, judge: Callable[[str, tuple[Any, ...], dict[str, Any], Any], Verdict | None]):
        super().__init__()
        self._spot = spot
        self._judge = judge
        self.outcome: Verdict | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.outcome is not None or not self._spot.is_running(sys._getframe(1)):
            return func(*args, **kwargs)
        before = _versions((args, kwargs))
        result = func(*args, **kwargs)
        if _versions((args, kwargs)) != before:
            self.outcome = refuted(f"`{_name(func)}` changes what it is given")
        else:
            self.outcome = self._judge(_name(func), args, kwargs, result)
        return result


def dropping(session: Session, claim: AlwaysDrops) -> Verdict:
    """Run the place after `eval()`: confirmed if dropout there still sets values to zero."""

    def judge(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Verdict | None:
        if not name.startswith("dropout"):
            return None
        if not kwargs.get("training", True):
            return refuted("after `eval()` it drops nothing")
        before, after = args[0], result
        lost = int(((before != 0) & (after == 0)).sum())
        if not lost:
            return None  # chance, or nothing there to drop
        return confirmed(f"after `eval()` it still sets {lost} of {before.numel()} values to zero")

    return _first_verdict(session, Spot.of(claim.place), judge, is_trained=False)


def softening(session: Session, claim: OverBatch) -> Verdict:
    """Run the place: confirmed if a softmax without `dim` normalises a 3-D tensor over dimension 0."""

    def judge(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], _: Any) -> Verdict | None:
        if "softm" not in name or not isinstance(args[0], torch.Tensor):
            return None
        dim = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else None))
        if dim is not None:
            return refuted(f"`{name}` is told to take dimension {dim}")
        if args[0].dim() != 3:
            return None  # of what was made up as input
        return confirmed(f"`{name}` of a tensor of sizes {tuple(args[0].shape)} takes dimension 0")

    return _first_verdict(session, Spot.of(claim.place), judge)


def losing(session: Session, claim: Lost) -> Verdict:
    """Run the statement: confirmed if it changes none of its tensors and discards the result."""
    spot = Spot.of(claim.place)
    session.begin("importing the file")
    if not _is_statement(session.source().tree, spot):
        return refuted("something takes its result")

    def judge(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Verdict | None:
        if not isinstance(result, torch.Tensor) or name.startswith("__"):
            return None
        if any(result is given for given in tree_leaves((args, kwargs))):
            return confirmed(f"`{name}` gives back the tensor that it is called on, as it was")
        return confirmed(f"`{name}` gives a new tensor, and changes none that it is given")

    return _first_verdict(session, spot, judge)


def copying(session: Session, claim: Copied) -> Verdict:
    """Run the index: confirmed if its result shares no memory with the tensor."""
    spot = Spot.of(claim.place)
    session.begin("importing the file")
    if not _is_changed_index(session.source().tree, spot):
        return refuted("no statement calls a method of the index")

    def judge(name: str, args: tuple[Any, ...], _: dict[str, Any], result: Any) -> Verdict | None:
        if name != "__getitem__" or not all(isinstance(one, torch.Tensor) for one in (args[0], result)):
            return None
        if result.untyped_storage().data_ptr() == args[0].untyped_storage().data_ptr():
            return refuted("the index gives a view of the tensor")
        return confirmed("the index gives a new tensor, which shares no memory with the one that is indexed")

    return _first_verdict(session, spot, judge)


def _first_verdict(session: Session, spot: Spot, judge: Any, *, is_trained: bool = True) -> Verdict:
    """The verdict of the first torch call that `judge` decides; unconfirmed if it decides none."""
    reasons: list[str] = []
    with _Asked(spot, judge) as asked:
        for _ in reach(session, spot, reasons, is_trained=is_trained):
            if asked.outcome is not None:
                return asked.outcome
    return unconfirmed(likeliest(reasons))


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", ""))


def _versions(given: object) -> list[int]:
    """The versions of the tensors among some arguments, which count their changes in place."""
    return [one._version for one in tensors_in(given)]


def _is_statement(tree: ast.AST, spot: Spot) -> bool:
    """True if the expression at `spot` is a statement by itself."""
    return any(isinstance(node, ast.Expr) and _is_at(node, spot) for node in ast.walk(tree))


def _is_changed_index(tree: ast.AST, spot: Spot) -> bool:
    """True if a statement calls a method of the index at `spot`: `x[mask].fill_(0)`."""
    calls = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    owners = (call.func.value for call in calls if isinstance(call.func, ast.Attribute))
    return any(isinstance(owner, ast.Subscript) and _is_at(owner, spot) for owner in owners)


def _is_at(node: ast.expr | ast.stmt, spot: Spot) -> bool:
    return (node.lineno, node.col_offset + 1, node.end_lineno) == (spot.line, spot.column, spot.end_line)
