"""Which children of a model an optimizer is given, where its parameters are listed child by child."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, same, self_attribute
from modellint.link.classes.objects import Instance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.link.values.evaluator import Frame, Located

_OPTIMIZERS = "torch.optim."
#: What else torch keeps there.
_OTHERS = (_OPTIMIZERS + "lr_scheduler.", _OPTIMIZERS + "swa_utils.")
#: What else in a file may train a layer, or keep it from being trained on purpose.
_SETTLED = (
    r"\b{name}\b[\w.\[\]]*\.(?:\w*parameters|requires_grad_|eval|(?:load_)?state_dict)\b"
    r"|\b{name}\.weight\s*=|=\s*[\w.]*\b{name}\.weight\b"
)
#: Blanks that mean nothing, around dots and brackets.
_BLANKS = re.compile(r"\s*([.\[\]])\s*")
_FREEZES = re.compile(r"requires_grad|freeze|frozen|no_grad|inference_mode|pretrained|load_state_dict")


@dataclass(frozen=True, eq=False)
class LeftOut:
    """`child` of a model is trained by no optimizer, though `optimizer` lists `listed`, all of the other children."""

    cls: Class
    child: str
    made: Event
    listed: tuple[str, ...]
    optimizer: Located


def left_out(module: ModuleFacts, project: Project) -> Iterator[LeftOut]:
    """The children that the optimizers of a file leave out of an explicit list."""
    if _FREEZES.search(module.text):
        return
    lists: dict[int, tuple[Class, set[str], Located]] = {}
    for function in (*module.all_functions(), module.body):
        if "parameters" not in function.words:
            continue
        for found in _listed(function, project):
            if found is None:
                return
            cls, names, optimizer = found
            known = lists.setdefault(id(cls), (cls, set(), optimizer))
            known[1].update(names)
    for cls, names, optimizer in lists.values():
        yield from _missing(cls, names, optimizer, project)


def _listed(function: Function, project: Project) -> Iterator[tuple[Class, set[str], Located] | None]:
    """For each optimizer that a function builds the class and the children that it is given; None if unknown."""
    from modellint.link.values.evaluator import Located

    frame = project.evaluator.root(function)
    for event in function.flow.of(EventKind.CALL):
        name = project.evaluator.external_name(event.value.callee, frame.module)
        if name is None or not name.startswith(_OPTIMIZERS):
            if _may_optimise(event.value):
                yield None
                return
            continue
        if name.startswith(_OTHERS):
            continue
        given = event.value.argument(0, "params")
        owners = None if given is None else _owners(given)
        if not owners:
            yield None
            return
        models = [owner for owner, _ in owners]
        cls = _class_of(models[0], frame, project)
        if cls is None or not all(same(models[0], other) for other in models[1:]):
            yield None
            return
        yield cls, {name for _, name in owners}, Located(event.value, frame)


def _may_optimise(call: Value) -> bool:
    """Whether a call may be an optimizer that we do not know: an object built from parameters."""
    name = str(call.callee.data).rpartition(".")[2]
    if not name[:1].isupper() and "optim" not in name.lower():
        return False
    return any(
        part.op is Op.CALL and part.callee.op is Op.ATTR and "parameters" in str(part.callee.data)
        for arg in call.args[1:]
        for part in arg.walk()
    )


def _owners(value: Value) -> list[tuple[Value, str]] | None:
    """The model and the name of each child whose parameters a value holds; None if it may hold others."""
    match value.op:
        case Op.LIST | Op.TUPLE:
            parts: tuple[Value, ...] = value.args
        case Op.STARRED:
            parts = value.args
        case Op.BIN if value.data == "+":
            parts = value.args
        case Op.DICT:
            keys = [key.data if key is not None and key.op is Op.CONST else None for key in value.data]
            parts = tuple(arg for key, arg in zip(keys, value.args, strict=True) if key == "params")
        case Op.CALL if value.callee.op is Op.ATTR and value.callee.data == "parameters" and not value.args[1:]:
            child = value.callee.args[0]
            return [(child.args[0], str(child.data))] if child.op is Op.ATTR else None
        case Op.CALL if value.callee.data in ("list", "tuple", "chain", "iter") and value.positional:
            parts = value.positional
        case Op.CALL if value.callee.data == "dict" and "params" in value.keywords:
            parts = (value.keywords["params"],)
        case _:
            return None
    found: list[tuple[Value, str]] = []
    for part in parts:
        inner = _owners(part)
        if inner is None:
            return None
        found.extend(inner)
    return found or None


def _class_of(owner: Value, frame: Frame, project: Project) -> Class | None:
    """The class of the project that a model is of."""
    if owner.op is Op.PARAM and owner.data == "self":
        return frame.function.owner
    instances = project.evaluator.instances(owner, frame)
    return instances[0].cls if len(instances) == 1 else None


def _missing(cls: Class, listed: set[str], optimizer: Located, project: Project) -> Iterator[LeftOut]:
    model = project.classes.model(cls)
    if model.is_module is not True or not model.is_complete or len(listed) < 2:
        return
    trained = {
        name: value
        for name, value in model.children.items()
        if not isinstance(value, Instance) or project.classes.state(value, trained=True) is not False
    }
    rest = sorted(set(trained) - listed)
    if len(rest) != 1 or not listed <= set(model.children):
        return
    name = rest[0]
    child = trained[name]
    if not isinstance(child, Instance) or project.classes.state(child, trained=True) is not True:
        return
    stored = project.members.stored(cls, name)
    if len(stored) != 1 or stored[0][0].name != "__init__" or not _is_used(cls, name, project):
        return
    own = child.model.cls
    files = {module.path: module for module in (cls.module, optimizer.frame.module, *((own.module,) if own else ()))}
    settled = re.compile(_SETTLED.format(name=re.escape(name)))
    texts = [_BLANKS.sub(r"\1", module.text) for module in files.values()]
    if any(settled.search(text) or _FREEZES.search(text) for text in texts):
        return
    yield LeftOut(cls, name, stored[0][1], tuple(sorted(listed)), optimizer)


def _is_used(cls: Class, name: str, project: Project) -> bool:
    """Whether the model calls the child when it runs."""
    return any(
        self_attribute(event.value.callee) == name
        for owner in project.members.mro(cls)
        for function in owner.mentioned.get(name, ())
        if function.name != "__init__"
        for event in function.flow.of(EventKind.CALL)
    )
