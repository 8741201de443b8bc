"""The members of enumerations that a script defines: `Mode.LATENT`, and `Mode(hparams["mode"])`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Constant
from modellint.flow.theory import Foreign
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op
from modellint.link.names import DefinedClass, External

if TYPE_CHECKING:
    from modellint.flow.domain import Atom
    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

_ENUMERATIONS = frozenset(("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"))


@dataclass(frozen=True, slots=True)
class Member(Foreign):
    """A member of an enumeration: it equals no other, and counts as true."""

    owner: str
    name: str

    def truth(self) -> bool | None:
        return True

    def compared(self, operator: str, other: Atom) -> bool | None:
        if operator not in ("==", "is", "!=", "is not"):
            return None
        is_same = other == self
        is_known = isinstance(other, Member | Constant)
        return is_same is (operator in ("==", "is")) if is_known else None


def member_named(value: Value, module: ModuleFacts, project: Project) -> Member | None:
    """The member that `Mode.LATENT` names; None for other values."""
    if value.op is not Op.ATTR or value.args[0].op is not Op.GLOBAL:
        return None
    owner = value.args[0]
    key = ("enumeration", module.path, owner.data)
    cls: Class | None = project.once(key, lambda: _enumeration(owner, module, project))
    return None if cls is None or value.data not in cls.attributes else _member(cls, str(value.data))


def _enumeration(name: Value, module: ModuleFacts, project: Project) -> Class | None:
    """The enumeration that a name resolves to; None for other names."""
    found = project.names.definition(module, name)
    return found.cls if isinstance(found, DefinedClass) and is_enumeration(found.cls, project) else None


def is_enumeration(cls: Class, project: Project) -> bool:
    bases = [project.names.definition(cls.module, base) for base in cls.bases]
    return any(isinstance(base, External) and base.name in _ENUMERATIONS for base in bases)


def member_of(cls: Class, given: Atom, project: Project) -> Member | None:
    """The member that `Mode("latent")` returns; None for other classes or values."""
    if not isinstance(given, Constant) or not is_enumeration(cls, project):
        return None
    names = [name for name, value in cls.attributes.items() if value.op is Op.CONST and value.data == given.value]
    return _member(cls, names[0]) if names else None


def _member(cls: Class, name: str) -> Member:
    return Member(f"{cls.module.path}:{cls.qualname}", name)
