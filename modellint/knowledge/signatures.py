"""The parameters of functions, methods and constructors of torch, in all overloads.

One JSON file, which `python -m modellint.knowledge.list_signatures` writes from the installed torch: the `release`, and
a line for each full name (`torch.cat`, `torch.optim.Adam`, `Tensor.view`):

    tensors/L dim=/i out:=/TN | …         the overloads of a native function, `*size` and `**kwargs` as in Python,
                                          `out:` by name only, `=` with a default
    def input dim= dtype=                 a Python function: it takes no other spellings, such as `axis`
    … + names                             names that only the docstring has: taken, whatever they are

The letters behind `/` are the kinds of values that a native function takes there, all kinds without them.

    T tensor   L tuple or list of tensors   i int   I tuple or list of ints   f number   b bool   s text   d dtype
    v device   N None
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.operators import spellings

if TYPE_CHECKING:
    from modellint.graph.value import Parameter

FILE = Path(__file__).with_name("torch_signatures.json")


@dataclass(frozen=True, slots=True)
class Overload:
    """One way in which something is called: its parameters, and by name the kinds of values that they take."""

    parameters: tuple[Parameter, ...]
    kinds: dict[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """The overloads of a function, method or constructor of torch."""

    overloads: tuple[Overload, ...]
    is_native: bool
    #: Names of arguments that are taken, too.
    more: frozenset[str]


@cache
def _lines() -> dict[str, str]:
    import json

    found: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def release() -> str:
    """The release of torch that is described."""
    return _lines()["release"]


@cache
def signature(name: str) -> Signature | None:
    """The signature of the function, method or class with a full name; None if it is not described."""
    line = _lines().get(name) if "." in name else None
    return None if line is None else _read(line)


def _read(line: str) -> Signature:
    from modellint.knowledge.catalogue import read_parameters

    overloads, _, more = line.partition(" + ")
    found = []
    for text in overloads.split("|"):
        words = [word.partition("/") for word in text.split() if word != "def"]
        parameters = read_parameters(" ".join(word for word, _, _ in words))
        kinds = {one.name: kinds for one, (_, _, kinds) in zip(parameters, words, strict=True) if kinds}
        found.append(Overload(parameters, kinds))
    return Signature(tuple(found), not line.startswith("def"), frozenset(more.split()))


def plain_name(spelt: str, overload: Overload) -> str:
    """The parameter of an overload of a native function that a keyword stands for: `dim` for `axis`."""
    names = [one.name for one in overload.parameters]
    return spelt if spelt in names else next((name for name in names if spelt in spellings(name)), spelt)
