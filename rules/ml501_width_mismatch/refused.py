"""Layers that refuse the shape they are given: where the width comes from, and the number that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Applicability, Edit, Fix, Related
from modellint.graph.value import Op

from .ends import input_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow import queries
    from modellint.graph.value import Value


def made_related(refused: queries.RefusedOperation) -> Iterator[Related]:
    """The expressions that decide the width that the layer gets."""
    given = str(refused.given)
    deciding = [one for one in refused.made if given in one.sizes]
    for made in (deciding or refused.made)[:2]:
        is_alone = made in deciding
        words = f"`{given}` comes from here" if is_alone else "this decides the shape of the input"
        words = f"{made.trunk} makes {given}" if made.trunk and is_alone else words
        yield Related(made.site.place, words)


def beside_related(refused: queries.RefusedOperation, before: queries.Site) -> Iterator[Related]:
    """The call of the layer that takes another width of the same tensor, and where that layer is made."""
    given = refused.given
    assert given is not None
    yield Related(before.place, f"`{before.name}` is called with the same tensor")
    for made in refused.made[:1]:
        yield Related(made.site.place, f"expects {given.described} {refused.kind}")


def fitting(refused: queries.RefusedOperation) -> tuple[Fix | None, str]:
    """The fix that writes the number which fits, and the constructor with it; nothing where no literal decides."""
    made, given = refused.layer, refused.given
    number = None if given is None else given.constant
    width = None if made is None else _written_width(made, refused)
    if made is None or number is None or width is None or width.op is Op.STARRED or _is_repeated(made):
        return None, ""
    place, whole = made.module.place(width), made.place
    fix = None
    if made.module is refused.site.module:
        fix = Fix(f"Write the width that fits: {number}", Applicability.UNSAFE, (Edit(place, str(number)),))
    if not whole.span.line == whole.span.end_line == place.span.line:
        return fix, ""
    text, start = made.module.text_of(made.value), place.span.column - whole.span.column
    end = start + place.span.end_column - place.span.column
    return fix, f"{text[:start]}{number}{text[end:]}"


def _written_width(made: queries.Site, refused: queries.RefusedOperation) -> Value | None:
    """The literal, or the product of literals, by which a constructor says how wide its input is."""
    taken = refused.taken
    if made.value.op is not Op.CALL or made.value.has_unpacking or taken is None or taken.constant is None:
        return None
    value = input_width(made)
    is_written = value is not None and all(part.op is Op.BIN or type(part.data) is int for part in value.walk())
    return value if value is not None and is_written and _is_of(value, made) else None


def _is_repeated(made: queries.Site) -> bool:
    """True if a loop or a comprehension makes layers of the same widths, one behind the other."""
    event = None if made.function is None else made.function.flow.circumstances(made.value)
    return event is None or event.loops > 0


def _is_of(value: Value, made: queries.Site) -> bool:
    """True if a value is written within the call, and not in a variable."""
    whole, part = made.place.span, made.module.place(value).span
    begins = (whole.line, whole.column) <= (part.line, part.column)
    return begins and (part.end_line, part.end_column) <= (whole.end_line, whole.end_column)


def claim_of(refused: queries.RefusedOperation) -> claims.Refused | None:
    """The claim that the call of a layer is refused; None if no call is in sight, or symbols decide.

    None, too, if networks of other packages are involved: these may not be there, and load what others publish.
    """
    call = refused.call
    if refused.has_trunk or call is None or call.value.op is not Op.CALL or refused.doubt == "side":
        return None
    given, taken = refused.given, refused.taken
    if given is None or taken is None or (given.number is not None and given.number == taken.number):
        return None
    error = "RuntimeError or ValueError or AssertionError"
    return claims.Refused(call.place, error, "", refused.root, refused.numbers, refused.given_tensors)


def refused_division(made: queries.Site) -> claims.Refused:
    """The claim that a constructor is refused."""
    return claims.Refused(made.place, "ValueError or AssertionError", "divisible by")
