"""Properties that a rule gives tensors, such as "is a probability": which operators make, keep and end them."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from modellint import operators

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

#: Operators of Python, which calls of functions are not.
_SYMBOLS = frozenset(("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "~", "<<", ">>"))


@dataclass(frozen=True)
class Property:
    """A property of all elements of a tensor: `Property("probability", made_by=("softmax", "torch.nn.Softmax"))`.

    Each entry is the dotted name of a function, layer or method (`torch.softmax`, `torch.nn.Softmax`,
    `Tensor.softmax`, `lab.normalise`), the last part of names in the table of operators (`softmax`, of all modules and
    classes), a facet of that table (`passed`), or an operator of Python (`*`). What is neither made nor kept has ended;
    of two entries that fit, `ended_by` counts before `made_by`, and that before `kept_by`.
    """

    name: str
    made_by: tuple[str, ...]
    kept_by: tuple[str, ...] = ("passed", "picked")
    ended_by: tuple[str, ...] = ()

    def after(self, names: tuple[str, ...], *, is_there: bool) -> bool:
        """True if the result of an operator with these names has the property; `is_there`: all its operands have it."""
        if _fits(names, self.ended_by):
            return False
        return _fits(names, self.made_by) or (is_there and _fits(names, self.kept_by))


def check(properties: Iterable[object]) -> None:
    """Raise ValueError for what is no property, or names an operator that does not exist."""
    known: dict[str, Property] = {}
    for one in properties:
        if not isinstance(one, Property):
            raise ValueError(f"{one!r} is no property; expected a `Property`")
        if known.setdefault(one.name, one) != one:
            raise ValueError(f"`{one.name}` is described twice, in different ways")
        for name in (*one.made_by, *one.kept_by, *one.ended_by):
            if not _is_known(name):
                raise ValueError(f"`{one.name}`: there is no operator or facet `{name}`{_nearest(name)}")


def _is_known(name: str) -> bool:
    is_dotted = name.rpartition(".")[0] != ""
    return is_dotted or name in _SYMBOLS or name in operators.facets() or bool(operators.called(name))


def _nearest(name: str) -> str:
    known: Collection[str] = operators.facets() | operators.words()
    near = get_close_matches(name, known, n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def _fits(names: tuple[str, ...], entries: Collection[str]) -> bool:
    return bool(entries) and any(_is_meant(name, entries) for name in names)


def _is_meant(name: str, entries: Collection[str]) -> bool:
    if name in entries:
        return True
    row = operators.row(name) or operators.row(name.removeprefix("torch."))
    if row is None:
        return False
    if name.rpartition(".")[2] in entries:
        return True
    return any(key in entries or f"{key}:{value}" in entries for key, value in row.facets.items())
