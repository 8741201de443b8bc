"""Arguments of a call of torch, judged by all overloads of what it calls.

An argument is a text of letters, one for each kind of value that it is on some path, and empty if it is unknown:

    T tensor   C tuple or list   G generator, set or dictionary   i int   f float   n either   s text   N None
    d dtype    Y layer or class
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.arguments import Misfit, bind
from modellint.graph.immutable import dataclass
from modellint.knowledge.signatures import plain_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modellint.graph.arguments import Bound
    from modellint.knowledge.signatures import Overload, Signature

#: For a kind of argument, the letters of a signature of which one lets it through. A number for a tensor counts as
#: taken, as some functions wrap it, and a tensor of no dimension is a number.
_TAKING = {
    "T": "TifbI",
    "C": "LI",
    "G": "",
    "i": "Tifv",
    "f": "Tf",
    "n": "Tifv",
    "s": "sv",
    "N": "N",
    "d": "d",
    "Y": "",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An argument of a kind that a parameter does not take: at a position (of the call), or by a keyword.

    `taken` are the letters of the signature, `given` those of the argument.
    """

    parameter: str
    position: int
    keyword: str
    taken: str
    given: str


@dataclass(frozen=True, slots=True)
class Unfit:
    """An overload, and the reasons for which it does not take the arguments."""

    overload: Overload
    misfits: tuple[Misfit, ...]
    refusals: tuple[Refusal, ...]


def refuses(taken: str, given: str) -> bool:
    """True if a parameter that takes some kinds takes none of those that an argument may be."""
    return bool(taken and given) and all(set(_TAKING[one]).isdisjoint(taken) for one in given)


def unfit(
    signature: Signature, positional: Sequence[str], keywords: Mapping[str, str], *, is_final: bool = True
) -> Unfit | None:
    """The overload that is nearest to a call that fits none; None if one of them may take the arguments.

    Not `is_final`: more arguments may follow.
    """
    found: list[Unfit] = []
    for overload in signature.overloads:
        one = _unfit(signature, overload, positional, keywords, is_final=is_final)
        if one is None:
            return None
        found.append(one)
    return min(found, key=lambda one: (len(one.misfits) + len(one.refusals), bool(one.misfits)))


def _unfit(
    signature: Signature, overload: Overload, positional: Sequence[str], keywords: Mapping[str, str], *, is_final: bool
) -> Unfit | None:
    names = dict.fromkeys(keywords)
    spelt = {name: plain_name(name, overload) if signature.is_native else name for name in names}
    known = {spelt[name]: keywords[name] for name in names if name not in signature.more or spelt[name] != name}
    bound = bind(overload.parameters, positional, known, is_final=is_final and len(known) == len(names))
    most = len(bound.by_position) + ("memory_format" in signature.more)
    wrong = tuple(one for one in bound.misfits if one.most < 0 or len(positional) > most)
    given = {spelt[name]: (name, kinds) for name, kinds in keywords.items()}
    refused = tuple(_refusals(overload, bound, given))
    return Unfit(overload, wrong, refused) if wrong or refused else None


def _refusals(overload: Overload, bound: Bound[str], keywords: Mapping[str, tuple[str, str]]) -> Iterator[Refusal]:
    """The arguments of kinds that their parameters do not take; `keywords` by parameter, as they are spelt."""
    rest = [one.name for one in overload.parameters if one.kind == "var-positional"]
    by_position = [(name, bound.given[name]) for name in bound.by_position]
    by_position += ((name, given) for name in rest for given in bound.rest)
    for number, (name, given) in enumerate(by_position):
        taken = _kinds_of(overload, name)
        if refuses(taken, given):
            yield Refusal(name, number, "", taken, given)
    for name, (keyword, given) in keywords.items():
        taken = _kinds_of(overload, name)
        if refuses(taken, given):
            yield Refusal(name, -1, keyword, taken, given)


def _kinds_of(overload: Overload, name: str) -> str:
    """The kinds that a parameter takes: what has a default may be None, for that is what some defaults are."""
    kinds = overload.kinds.get(name, "")
    has_default = any(one.name == name and one.default is not None for one in overload.parameters)
    return f"{kinds}N" if kinds and has_default else kinds
