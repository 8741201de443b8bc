"""Values in a configuration that jsonargparse refuses, or does not build an object of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.graph.immutable import dataclass
from modellint.link.recipes import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.rule import Project

#: The most names that a finding lists.
_MOST = 8


@dataclass(frozen=True, slots=True)
class Refused:
    """A mistake in the words of a finding."""

    fault: queries.Fault
    message: str
    advice: str
    evidence: tuple[str, ...]
    claim: claims.NotParsed | None = None

    @property
    def symbol(self) -> str:
        """The key or the value that is wrong."""
        return self.fault.name


def refused_values(recipe: Recipe, project: Project) -> Iterator[Refused]:
    """The values and keys of a configuration that the classes and parameters of it do not take."""
    asked = queries.about(recipe, project)
    kinds = queries.FaultKind
    found = asked.faults(
        kinds.UNKNOWN_KEY,
        kinds.MISSING,
        kinds.BESIDE,
        kinds.EMPTY,
        kinds.FOREIGN_CLASS,
        kinds.WRONG_TYPE,
        kinds.DICT_KWARGS,
        kinds.NO_SUBCLASSES,
    )
    if not found:
        return
    loaders = [f"`{one.program.script.name}` loads the file, by {one.reason}" for one in asked.loaders[:1]]
    for fault in found:
        message, advice = _message_of(fault)
        yield Refused(fault, message, advice, (*_evidence(fault), *loaders), _claim(fault))


def _claim(fault: queries.Fault) -> claims.NotParsed | None:
    """The claim that the parser of the class which has the parameter refuses it; None if it is no class."""
    if not fault.holder or not fault.given or fault.kind is queries.FaultKind.DICT_KWARGS:
        return None
    return claims.NotParsed(fault.place, fault.holder, fault.given, _words_of_error(fault))


def _words_of_error(fault: queries.Fault) -> str:
    """A part of the error of jsonargparse: the key or the class; empty for an error with a value."""
    kinds = queries.FaultKind
    return "" if fault.kind in (kinds.BESIDE, kinds.EMPTY, kinds.WRONG_TYPE) else _last(fault.name)


def _message_of(fault: queries.Fault) -> tuple[str, str]:
    """The message of a mistake, and the advice."""
    kinds, name, owner = queries.FaultKind, fault.name, _last(fault.class_path) or fault.owner
    meant = f"did you mean `{fault.near[0]}`?" if fault.near else ""
    match fault.kind:
        case kinds.UNKNOWN_KEY | kinds.DICT_KWARGS:
            return f"`{owner}` takes no argument `{name}`", meant or f"remove `{name}`"
        case kinds.MISSING:
            several = "s" * (len(fault.wanted) > 1)
            return f"`{owner}` needs " + " and ".join(
                f"`{one}`" for one in fault.wanted
            ), f"add the missing argument{several}"
        case kinds.BESIDE:
            advice = "move it into `init_args`" if fault.near[:1] == ("init_args",) and not _is_like(name) else meant
            return f"`{name}` stands beside `class_path`, as no argument of `{owner}` may", advice or f"remove `{name}`"
        case kinds.EMPTY:
            return f"`{name}` is empty, and no mapping", f"remove `{name}`, or write `{{}}` for no arguments"
        case kinds.FOREIGN_CLASS:
            wanted = " or ".join(f"`{one}`" for one in fault.wanted)
            return f"`{_last(name)}` does not derive from {wanted}", f"name a class that derives from {wanted}"
        case kinds.NO_SUBCLASSES:
            takes = f"the arguments of `{_last(fault.wanted[0])}`" if fault.wanted else "arguments"
            return (
                f"`{fault.owner}` takes {takes}, and no `class_path`",
                f"write the arguments under `{fault.owner}`, or let the program take subclasses",
            )
    wanted = fault.wanted[0] if fault.wanted else ""
    key = fault.path.rpartition(".")[2]
    return f"`{key}` takes {wanted}, not {_quoted_value(name)}", meant or f"write a value of the type {wanted}"


def _is_like(name: str) -> bool:
    """True if a key is rather a misspelt `init_args` than an argument."""
    return name.startswith(("init", "arg"))


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _quoted_value(value: str) -> str:
    return value if value.startswith("a ") else f"`{value}`"


def _evidence(fault: queries.Fault) -> Iterator[str]:
    kinds = queries.FaultKind
    if fault.is_kept:
        yield "the parameter takes anything, so jsonargparse passes the mapping instead of an object"
    elif fault.kind is kinds.DICT_KWARGS:
        yield "jsonargparse passes `dict_kwargs` on, and the constructor raises `TypeError`"
    else:
        yield "jsonargparse refuses the configuration before anything is built"
    if fault.kind in (kinds.UNKNOWN_KEY, kinds.DICT_KWARGS):
        listed = [f"`{one}`" for one in fault.wanted[:_MOST]]
        more = f" and {len(fault.wanted) - _MOST} more" if len(fault.wanted) > _MOST else ""
        yield "it takes " + (", ".join(listed) + more if listed else "no arguments")
