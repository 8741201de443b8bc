"""Calls whose arguments their callee does not take: the callee itself is found, and asked for its signature."""

from __future__ import annotations

import ast
import copy
import inspect
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from torch import nn

from . import roles
from .observed import is_torchs
from .places import Spot, expression
from .refusals import refusal
from .signatures import VARIADIC
from .standins import StandIn, described, likeliest
from .verdicts import UNCONFIRMED, Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.claims.calls import InSlot, Refused
    from modellint.claims.claim import Claim

    from .session import Session
    from .sources import Source

_OWNER = "__modellint_owner__"


def binding(session: Session, claim: Refused) -> Verdict:
    """Bind the arguments of a call to its callee's signature; where the callee is not found, run the call."""
    call, signature, reasons = _called(session, claim)
    if call is not None and signature is not None and (known := _bind(call, signature)) is not None:
        return known
    run = refusal(session, claim)
    return run if run.status is not UNCONFIRMED else unconfirmed(likeliest(reasons))


def _is_written(argument: ast.expr, text: str) -> bool:
    """True if an argument is the expression of a text, whatever its quotes and blanks."""
    try:
        return ast.dump(argument) == ast.dump(ast.parse(f"({text})", mode="eval").body)
    except SyntaxError:
        return False


def landing(session: Session, claim: InSlot) -> Verdict:
    """Bind the arguments of a call to its callee's signature, and look which parameter gets one of them."""
    call, signature, reasons = _called(session, claim)
    if call is None or signature is None:
        return unconfirmed(likeliest(reasons))
    if claim.position >= len(call.args) or not _is_written(call.args[claim.position], claim.argument):
        return refuted(f"`{claim.argument}` is not argument {claim.position + 1}")
    try:
        bound = signature.bind_partial(*range(claim.position + 1)).arguments
    except TypeError as error:
        return unconfirmed(described(error))
    found = next((name for name, number in bound.items() if number == claim.position), None)
    if found is None:
        return unconfirmed(f"`{ast.unparse(call.func)}` takes any arguments")
    detail = f"`{ast.unparse(call.func)}` gets `{claim.argument}` as `{found}`"
    return confirmed(detail) if found == claim.taken else refuted(detail)


def _called(session: Session, claim: Claim) -> tuple[ast.Call | None, inspect.Signature | None, list[str]]:
    """The call of a claim and the signature of its callee, None if they are not found, and the reasons for that."""
    session.begin("importing the file")
    source, spot, reasons = session.source(), Spot.of(claim.place), list[str]()
    call = expression(source.tree, spot)
    if not isinstance(call, ast.Call):
        return None, None, reasons
    for names in _surroundings(session, source, reasons):
        try:
            callee = eval(compile(ast.Expression(_evaluable(call.func)), spot.path, "eval"), names)
            signature = inspect.signature(_called_function(callee), follow_wrapped=False)
        except Exception as error:
            reasons.append(f"finding `{ast.unparse(call.func)}`: {described(error)}")
            continue
        is_known = not isinstance(callee, StandIn) and not (isinstance(callee, type) and issubclass(callee, StandIn))
        return call, signature if is_known else None, reasons
    return call, None, reasons


def _bind(call: ast.Call, signature: inspect.Signature) -> Verdict | None:
    """The verdict of Python's argument binding; None if only running the call can tell.

    Stars may stand for any, and what takes any arguments can refuse them all the same.
    """
    positional = [None for arg in call.args if not isinstance(arg, ast.Starred)]
    named = {keyword.arg: None for keyword in call.keywords if keyword.arg is not None}
    is_whole = len(positional) == len(call.args) and len(named) == len(call.keywords)
    try:
        bound = (signature.bind if is_whole else signature.bind_partial)(*positional, **named)
    except TypeError as error:
        detail = f"`{ast.unparse(call.func)}` takes `{signature}`: {described(error)}"
        return confirmed(detail)
    if not is_whole or any(signature.parameters[name].kind in VARIADIC for name in bound.arguments):
        return None
    return refuted(f"`{ast.unparse(call.func)}` takes these arguments")


def _surroundings(session: Session, source: Source, reasons: list[str]) -> Iterator[dict[str, Any]]:
    """The globals of a call: the names of its file, with each way to build the object whose method the call is in."""
    names = vars(source.module)
    owner = session.name.rpartition(".")[0]
    if not owner or not isinstance(cls := source.find(owner), type):
        yield names
        return
    attempts = (attempt for variant in (0, roles.EQUAL) for attempt in session.attempts(owner, variant=variant))
    builds: Iterable[Callable[[], Any]] = chain((attempt.build for attempt in attempts), (partial(_bare, cls),))
    for build in builds:
        try:
            found = build()
        except Exception as error:
            reasons.append(f"building: {described(error)}")
            continue
        yield {**names, "self": found, _OWNER: cls}


def _bare(cls: Any) -> Any:
    """An object whose constructor was not run: it has its methods, and no layers."""
    bare = cls.__new__(cls)
    if isinstance(bare, nn.Module):
        nn.Module.__init__(bare)
    return bare


def _called_function(callee: Any) -> Any:
    """The function that a call of `callee` runs: a layer's `forward`; pass-through wrappers of torch are removed."""
    is_layer = isinstance(callee, nn.Module) and type(callee).__call__ is nn.Module.__call__
    callee = callee.forward if is_layer else callee
    while hasattr(callee, "__wrapped__") and hasattr(callee, "__code__") and is_torchs(callee.__code__):
        wrapped = callee.__wrapped__
        callee = wrapped.__get__(callee.__self__) if hasattr(callee, "__self__") else wrapped
    return callee


def _evaluable(callee: ast.expr) -> ast.expr:
    """A callee with `super()` written out, as it can be evaluated elsewhere."""
    return ast.fix_missing_locations(_Super().visit(copy.deepcopy(callee)))


class _Super(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [ast.Name(_OWNER, ast.Load()), ast.Name("self", ast.Load())]
        return node
