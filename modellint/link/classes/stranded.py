"""Tensors that a layer makes in its constructor and keeps as plain attributes: they stay behind when it moves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.graph import mentions
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.classes.fresh_tensors import FACTORIES, FreshTensors
from modellint.link.classes.tensor_uses import TensorUse, TensorUses, UseKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event
    from modellint.link.classes.fresh_tensors import Fresh
    from modellint.link.project import Project

_NAMES = "|".join(sorted(name[len("torch.") :] for name in FACTORIES))
_FACTORY = re.compile(rf"torch\.(?:{_NAMES})\(")
#: … where a file imports factories by name.
_BARE_FACTORY = re.compile(rf"(?:torch\.|(?<![\w.]))(?:{_NAMES})\(")
#: Methods by which a class moves what it holds itself.
_MOVERS = frozenset(("_apply", "to", "cuda", "__getattr__", "__getattribute__", "__setattr__"))
_ONCE = frozenset(("__init__", "__post_init__", "__repr__", "extra_repr", "reset_parameters", "_init_weights"))
_BY_NAME = re.compile(r"register_buffer\(\s*[^\s\"']|setattr\(|__dict__|vars\(self\)|object\.__setattr__")


@dataclass(frozen=True, eq=False)
class Stranded:
    """A tensor kept as a plain attribute by the `store` in a constructor, and its uses.

    `is_certain`: every use is arithmetic with what is elsewhere, and the tensor is one whatever happens.
    `can_register`: a buffer can take the attribute's place, at that place.
    """

    cls: Class
    attribute: str
    function: Function
    store: Event
    made: Fresh
    uses: tuple[TensorUse, ...]
    is_certain: bool
    can_register: bool


class StrandedTensors:
    """Finds such tensors. Reached as `project.stranded`; one for each file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._fresh = FreshTensors(project.evaluator)
        self._uses = TensorUses(project)

    def of(self, module: ModuleFacts) -> Iterator[Stranded]:
        """The tensors that the classes of a file leave behind."""
        is_bare = any(target in FACTORIES for target in module.imports.values())
        makes = (_BARE_FACTORY if is_bare else _FACTORY).search
        if not makes(module.text):
            return
        makers = {f"{f.name}(" for f in module.all_functions() if f.name != "__init__" and makes(f.text)}
        for cls in module.classes.values():
            constructor = cls.methods.get("__init__")
            if constructor is None:
                continue
            text = constructor.text
            if not makes(text) and not any(maker in text for maker in makers):
                continue
            names = [name for name in mentions.assigned(text) if self._is_read(name, cls)]
            if names and self._project.classes.model(cls).is_module is True and not self._cares(cls):
                yield from self._kept(cls, constructor, set(names))

    @staticmethod
    def _is_read(name: str, cls: Class) -> bool:
        return any(function.name not in _ONCE for function in cls.mentioned.get(name, ()))

    def _cares(self, cls: Class) -> bool:
        """Whether a class, or a near base, moves its attributes itself or registers them under computed names."""
        return any(
            not _MOVERS.isdisjoint(owner.methods) or _BY_NAME.search(owner.text)
            for owner in self._project.members.mro(cls)
        )

    def _kept(self, cls: Class, constructor: Function, names: set[str]) -> Iterator[Stranded]:
        frame = self._project.evaluator.root(constructor)
        stores: dict[str, list[Event]] = {}
        for event in constructor.flow.of(EventKind.STORE):
            name = None if event.target is None else self_attribute(event.target)
            if name in names:
                stores.setdefault(str(name), []).append(event)
        for name, events in stores.items():
            made = [self._fresh.of(event.value, frame) for event in events]
            if any(
                one is None and not (event.value.op is Op.CONST and event.value.data is None)
                for one, event in zip(made, events, strict=True)
            ):
                continue
            last = max(number for number, one in enumerate(made) if one is not None) if any(made) else None
            if last is None or self._is_looked_after(cls, name):
                continue
            found = made[last]
            assert found is not None
            uses = self._all_uses(cls, name)
            if found.is_scalar is False and _is_left_behind(uses):
                certain = all(use.kind is UseKind.MEETS for use in uses) and any(use.is_sure for use in uses)
                certain = certain and not found.is_conditional
                can_register = len(events) == 1 and _is_set_up(constructor, events[0])
                yield Stranded(cls, name, constructor, events[last], found, tuple(uses), certain, can_register)

    def _is_looked_after(self, cls: Class, name: str) -> bool:
        """Whether the attribute is registered, set again, or moved: by the class, its family, or somebody else."""
        members = self._project.members
        if members.buffers(cls, name) or members.attribute(cls, name) is not None:
            return True
        named = re.compile(rf"""(?:attr|buffers?|parameters?)\b[^\n]*\n?\s*["']{name}["']""")
        again = re.compile(rf"\.{name}\.cuda\(|\bdel [\w.]*\.{name}\b")
        stored = re.compile(
            rf"self\.{name}\s*(?::[^=\n]+)?=(?!=)|^\s*(?:[\w.]+, *)*self\.{name}, [^=\n()]*=(?!=)", re.M
        )
        for owner in self._family(cls):
            if named.search(owner.text) or again.search(owner.text):
                return True
            for method in owner.methods.values():
                if (owner is not cls or method.name != "__init__") and stored.search(method.text):
                    return True
        return bool(re.search(rf"(?<![\w.])\w+\.{name}\s*=(?!=)|\w\.{name}\.to\(", _outside(cls, name)))

    def _family(self, cls: Class) -> list[Class]:
        """The class, its near bases, and the classes of its file that inherit from it."""
        members = self._project.members
        below = [other for other in cls.module.classes.values() if other is not cls and cls in members.mro(other)]
        return [*members.mro(cls), *below]

    def _all_uses(self, cls: Class, name: str) -> list[TensorUse]:
        return [
            use
            for owner in self._family(cls)
            for function in owner.mentioned.get(name, ())
            if function.name not in _ONCE
            for use in self._uses.of_attribute(name, function, owner)
        ]


def _is_set_up(constructor: Function, store: Event) -> bool:
    """Whether the constructor of the base has run where something is stored."""
    for event in constructor.flow.events:
        if event is store:
            return False
        if event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR and event.value.callee.data == "__init__":
            return True
    return False


def _outside(cls: Class, name: str) -> str:
    """The lines of a file that speak of an attribute of an object other than `self`."""
    lines = cls.module.source.plain.lines
    return "".join(line for line in lines if f".{name}" in line and f"self.{name}" not in line)


def _is_left_behind(uses: list[TensorUse]) -> bool:
    """Whether a tensor meets another one somewhere, and nothing moves it."""
    kinds = {use.kind for use in uses}
    return UseKind.MEETS in kinds and UseKind.MOVED not in kinds
