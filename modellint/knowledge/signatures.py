"""The parameters of functions, methods and constructors of torch, in all overloads.

One JSON file, which `python -m modellint.knowledge.list_signatures` writes from the installed torch: the `release`, a
line for each full name (`torch.cat`, `torch.optim.Adam`, `Tensor.view`), and under `earlier` the lines of earlier
releases, the newest first, each with what differs from the release after it (null for what it lacks or does not tell):

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
from typing import TYPE_CHECKING, Any

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
def _lines() -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def release() -> str:
    """The newest release of torch that is described."""
    newest: str = _lines()["release"]
    return newest


@cache
def releases() -> tuple[str, ...]:
    """The releases of torch that are described, the newest first."""
    return release(), *_lines()["earlier"]


@cache
def signature(name: str, release: str = "") -> Signature | None:
    """The signature of the function, method or class with a full name, in the newest release or in another one.

    None if it is not described, or not there.
    """
    line = _line(name, release) if "." in name else None
    return None if line is None else _read(line)


def _line(name: str, release: str) -> str | None:
    line: str | None = _lines().get(name)
    earlier: dict[str, dict[str, str | None]] = _lines()["earlier"] if release else {}
    for one in releases()[1 : releases().index(release) + 1] if release else ():
        line = earlier[one].get(name, line)
    return line


@cache
def is_changed(name: str) -> bool:
    """True if the releases differ in what a function, method or class takes."""
    return any(name in lines for lines in _lines()["earlier"].values())


@cache
def removed(owner: str) -> frozenset[str]:
    """The names of a module, or of `Tensor`, that earlier releases have and the newest one lacks."""
    names = (name.rpartition(".") for lines in _lines()["earlier"].values() for name in lines if name not in _lines())
    return frozenset(name for module, _, name in names if module == owner)


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
