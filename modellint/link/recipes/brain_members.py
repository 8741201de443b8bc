"""The release of SpeechBrain whose Brain the classes of a project derive from, and attributes that only others have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.graph.value import self_attribute
from modellint.knowledge.members import BRAIN, members
from modellint.link.classes.attributes import attribute_mentions
from modellint.link.requirements import required

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event
    from modellint.link.project import Project

_PACKAGE = BRAIN.partition(".")[0]


class ForeignMember(NamedTuple):
    """A read of an attribute of a Brain's `self` that only the releases from `first` to `last` have.

    `release` is the one that the project runs with, the newest if nothing says so; `is_asked_for`: a file says so.
    """

    function: Function
    event: Event
    name: str
    first: str
    last: str
    release: str
    is_asked_for: bool


def foreign_members(cls: Class, project: Project) -> Iterator[ForeignMember]:
    """The attributes that a Brain class reads, and that the Brain of its release does not have."""
    model = project.classes.model(cls)
    known = members()
    words = frozenset(name for method in cls.methods.values() for name in method.words & known.spans.keys())
    base = next((one for one in model.mro() if one.name == BRAIN), None) if words else None
    if base is None or not model.is_complete:
        return
    release, is_asked_for = _release(project)
    if release is None:
        return
    own = [one for one in model.mro() if one.cls is not None and one is not base]
    for name in sorted(words):
        is_there = known.has(name, release) if base.cls is None else name in base.cls.module.text
        if is_there or any(_gives(one.cls, name, project) for one in own if one.cls is not None):
            continue
        for method in cls.methods.values():
            event = next((one for one in method.flow.reads if self_attribute(one.value) == name), None)
            if event is not None:
                yield ForeignMember(method, event, name, *known.spans[name], release, is_asked_for)
                break


def _release(project: Project) -> tuple[str | None, bool]:
    """The newest release that the project admits, and whether it asks for particular ones; None if it is not known."""
    wanted = required(_PACKAGE, project)
    releases = members().releases
    if wanted is None or not wanted.is_particular:
        return releases[0], False
    return next((one for one in releases if wanted.admits_any((one,))), None), True


def _gives(cls: Class, name: str, project: Project) -> bool:
    """True if a class defines or stores an attribute, or may do so by a name in a string."""
    return (
        name in cls.methods
        or name in cls.attributes
        or any(cls.stores(name))
        or attribute_mentions(cls, project).may_name(name)
    )
