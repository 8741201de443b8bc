"""The probe of attributes that nothing sets: an object is built, called once, and asked for them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .places import Spot
from .reaching import is_at, reach
from .standins import described
from .verdicts import Verdict, confirmed, refuted

if TYPE_CHECKING:
    from modellint.claims.layers import NotSet

    from .attempts import Attempt
    from .session import Session


def lacking(session: Session, claim: NotSet) -> Verdict:
    """Run the code that reads an attribute: confirmed if it is missing there, or in an object that was built.

    A run in which it is there refutes the claim only if no other value of an assumed argument leaves it unset.
    """
    spot, reasons, attribute = Spot.of(claim.place), list[str](), claim.attribute
    session.begin("importing the file")
    source = session.source()
    if not _reads(source.tree, spot, attribute):
        return refuted(f"`{attribute}` is not what is read there")
    is_caught = _is_tried(source.tree, spot)  # a lack of it is not seen from outside
    refutation: Verdict | None = None
    for error, is_reached in reach(session, spot, reasons):
        if isinstance(error, AttributeError) and is_at(error, spot) and f"'{attribute}'" in str(error):
            return confirmed(f"`{session.name}`: {described(error)}")
        if is_reached and not is_caught and (error is None or not is_at(error, spot)):
            refutation = refutation or refuted(f"`{session.name}` was run, and it was there")
            if session.builder is None or not session.builder.alternatives:
                break
    if refutation is not None:
        return refutation
    session.name = claim.owner

    def built(attempt: Attempt) -> Verdict:
        if hasattr(attempt.build(), attribute):
            return refuted(f"`{claim.owner}` has `{attribute}`")
        return confirmed(f"`{claim.owner}` has no `{attribute}` when it is built")

    return session.first_seen(claim.owner, built, reasons)


def _reads(tree: ast.AST, spot: Spot, attribute: str) -> bool:
    """True if an attribute of that name is read on the lines of a place."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == attribute and spot.line <= node.lineno <= spot.end_line
        for node in ast.walk(tree)
    )


def _is_tried(tree: ast.AST, spot: Spot) -> bool:
    """True if a place is in the body of a `try`."""
    blocks = (node.body for node in ast.walk(tree) if isinstance(node, ast.Try))
    return any(body[0].lineno <= spot.line <= (body[-1].end_lineno or body[-1].lineno) for body in blocks)
