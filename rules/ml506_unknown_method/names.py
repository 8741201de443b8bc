"""Names that modules, optimizers and parameters of torch do not have."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from modellint import edits, operators
from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, called_name, dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.finding import Place
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

_CATCHING = frozenset(("AttributeError", "ImportError", "TypeError", "Exception", "BaseException"))
_ASKING = frozenset(("hasattr", "getattr", "isinstance", "callable"))
#: Modules whose unknown names are certain, as nothing but torch itself has names there. Devices of other makers and
#: extensions have theirs in `torch`.
_CLOSED = frozenset(
    (
        *("torch.nn", "torch.nn.functional", "torch.nn.init", "torch.optim", "torch.optim.lr_scheduler"),
        *("torch.linalg", "torch.fft", "torch.special"),
    )
)
#: Modules that have the name of a function of an earlier release.
_ONCE_FUNCTIONS = ("torch.fft",)
#: The base of all layers, which nearly each file names.
_MODULE = "torch.nn.Module"
_OPTIMIZERS = ("torch.optim", "torch.optim.lr_scheduler")
#: Attributes of a parameter that people set, and what each is a slip of.
_SET = ("requires_grad",)
_PARAMETERS = frozenset(("parameters", "named_parameters"))


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that its owner lacks, at a place: `torch.nn`, `an optimizer`, `a parameter`.

    `value` is the chain of attributes; `event` holds it, None for a base class or a decorator.
    """

    owner: str
    name: str
    value: Value
    function: Function
    event: Event | None
    known: frozenset[str]
    #: True for what an earlier release had.
    is_gone: bool = False
    #: True for an assignment, which raises nothing.
    is_stored: bool = False
    #: True for a module that is called, whose name is `name`.
    is_called_module: bool = False

    @property
    def place(self) -> Place:
        return self.function.module.place(self.value)


def unknown_names(module: ModuleFacts, project: Project) -> Iterator[UnknownName]:
    """The names of torch in a file that are not there, each with the place where it is written."""
    heads = [value for one in module.all_functions() for value in one.signature.decorators]
    heads += [value for one in module.classes.values() for value in (*one.bases, *one.head.decorators)]
    for head in heads:
        value = head.callee if head.op is Op.CALL else head
        found = _in_module(value, module.body, project)
        if found is not None and _nearest(found[1], found[2]) is not None:
            yield UnknownName(found[0], found[1], value, module.body, None, *found[2:])
    for function in (*module.all_functions(), module.body):
        seen: set[int] = set()
        for event in function.flow.events:
            for value in _chains(event):
                is_new = id(value) not in seen
                seen.add(id(value))
                found = _in_module(value, function, project) if is_new else None
                private = _private_module(value, function, project) if is_new and found is None else None
                if private is not None and not _is_expected(event, function, project):
                    yield UnknownName("torch", *private, function, event, frozenset(), is_gone=True)
                if found is not None and not _is_expected(event, function, project):
                    yield UnknownName(found[0], found[1], value, function, event, *found[2:])
            if event.kind is EventKind.CALL:
                yield from _of_optimizer(event, function, project)
                yield from _of_called_module(event, function, project)
            if event.kind is EventKind.STORE:
                yield from _of_parameter(event, function, project)


def _chains(event: Event) -> Iterator[Value]:
    """The attributes in an event: of the callee, of the arguments, and of what is stored or returned."""
    for value in (event.value, *event.value.args, *(part for one in event.value.args for part in one.args[:1])):
        if value.op is Op.ATTR or value.op is Op.GLOBAL:
            yield value


def _in_module(value: Value, function: Function, project: Project) -> tuple[str, str, frozenset[str], bool] | None:
    """The module of torch and the name that it lacks, the names that it has, and if it is one of an earlier release."""
    full = _full_name(value, function, project)
    owner, _, name = full.rpartition(".")
    if full == _MODULE or operators.row(full) is not None:
        return None  # without reading the names of torch
    known = queries.all_names(owner) if owner else None
    if known is None or name in known or name.startswith("_"):
        return None
    is_gone = name in queries.gone_names(owner)
    if is_gone and not queries.may_use_newest_torch(project):
        return None
    is_closed = owner in _CLOSED and value.op is Op.ATTR
    if not is_gone and not is_closed and _nearest(name, known) is None:
        return None
    if _is_given(name, function.module, project, lambda target, home: _is_module(target, owner, home, project)):
        return None
    return owner, name, known, is_gone


def _private_module(value: Value, function: Function, project: Project) -> tuple[str, Value] | None:
    """The name of a private module of torch whose attribute is taken, and the module, if torch has none of the name."""
    module = value.args[0] if value.op is Op.ATTR else value
    written = str(module.data) if module.op is Op.ATTR else function.module.imports.get(str(module.data), "")
    name = written.removeprefix("torch.")
    if module is value or module.op not in (Op.ATTR, Op.GLOBAL) or name[:1] != "_":
        return None
    if queries.has_module(name) or queries.has_module(name.rpartition(".")[0]):  # where it may be any name
        return None
    if _full_name(module, function, project) != f"torch.{name}" or not queries.may_use_newest_torch(project):
        return None
    is_given = _is_given(name, function.module, project, lambda one, home: _is_module(one, "torch", home, project))
    return None if is_given else (name, module)


def _is_module(value: Value, owner: str, function: Function, project: Project) -> bool:
    """True if a value is a module of torch, or None, as what an import is where it fails."""
    if value.op is Op.ATTR and value.args[0].op is Op.CONST:
        return str(value.data) == owner.rpartition(".")[2]
    definition = project.names.definition(function.module, value)
    return value.op is Op.CONST or (isinstance(definition, External) and definition.name == owner)


def _full_name(value: Value, function: Function, project: Project, *, through_constants: bool = False) -> str:
    """The full name of a name or a chain of attributes, if it is one of torch; else empty.

    With `through_constants`, a name that the file assigns once counts: `optim = torch.optim`.
    """
    module = function.module
    definition = project.names.definition(module, value)
    if not isinstance(definition, External) or not definition.name.startswith("torch."):
        return ""
    written = dotted(value) or ""
    if queries.is_shadowed(written, module, project):
        return ""
    head, _, rest = written.partition(".")
    target = module.imports.get(head, "")
    full = f"{target}.{rest}".removesuffix(".")
    # `torch.nn.parameter.is_lazy` goes by the name of `torch.nn.is_lazy`.
    is_renamed = full != definition.name if full.startswith("torch.") else not definition.name.endswith(rest)
    is_constant = head in module.constants and not through_constants
    is_chosen = not rest and (head in module.rebound or is_constant)
    return "" if is_renamed or is_chosen else definition.name


def _is_expected(event: Event, function: Function, project: Project) -> bool:
    """True if a condition around an event asks what is there, or a handler expects an error."""
    call = queries.Call(event, function, project)
    if not _CATCHING.isdisjoint(event.handled) or call.is_expected_to_fail:
        return True
    return call.depends_on_release or not _ASKING.isdisjoint(call.questions)


def _of_optimizer(event: Event, function: Function, project: Project) -> Iterator[UnknownName]:
    """The method that a call names, if its object is an optimizer of torch that has no such method."""
    callee = event.value.callee
    if callee.op is not Op.ATTR or callee.args[0].op is Op.CONST:
        return
    name = str(callee.data)
    if not _may_be_of_optimizer(name):
        return
    owner = _optimizer_module(queries.Operand(callee.args[0], function, project), project)
    known = frozenset() if owner is None else queries.optimizer_names(owner)
    if owner is None or name in known or _is_expected(event, function, project):
        return
    if not _is_given(name, function.module, project, lambda *_: True):
        yield UnknownName(
            "an optimizer" if owner == _OPTIMIZERS[0] else "a scheduler", name, callee, function, event, known
        )


@cache
def _may_be_of_optimizer(name: str) -> bool:
    """True if a name resembles one that optimizers or schedulers have, so that it may be meant as that."""
    known = [one for module in _OPTIMIZERS for one in queries.optimizer_names(module) if one[0] != "_"]
    return name[0] != "_" and name not in known and bool(edits.get_close_matches(name, known, n=1, cutoff=0.6))


def _optimizer_module(receiver: queries.Operand, project: Project) -> str | None:
    """The module of the optimizer or scheduler that a value is on every path; None for anything else."""
    return receiver.conclude(lambda leaves: _module_of_optimizers(leaves, project))


def _module_of_optimizers(leaves: Iterable[queries.Operand], project: Project) -> str | None:
    owners: set[str | None] = set()
    for leaf in leaves:
        if leaf.is_none:
            continue
        if leaf.value.op is not Op.CALL or leaf.part is not None:
            return None
        definition = project.names.definition(leaf.function.module, leaf.value.callee)
        full = definition.name if isinstance(definition, External) else ""
        owner, _, cls = full.rpartition(".")
        owners.add(owner if owner in _OPTIMIZERS and cls[:1].isupper() else None)
    return owners.pop() if len(owners) == 1 else None


def _of_called_module(event: Event, function: Function, project: Project) -> Iterator[UnknownName]:
    """The call of a module of torch: `torch.fft(x, 2)`, which was a function once, and `nn.functional(x)`."""
    callee = event.value.callee
    if callee.op not in (Op.ATTR, Op.GLOBAL):
        return
    full = _full_name(callee, function, project, through_constants=True)
    known = queries.all_names(full) if full and full != _MODULE and operators.row(full) is None else None
    is_gone = full in _ONCE_FUNCTIONS
    if (
        known is None
        or _is_expected(event, function, project)
        or (is_gone and not queries.may_use_newest_torch(project))
    ):
        return
    owner, _, name = full.rpartition(".")
    if not _is_given(name, function.module, project, lambda target, home: _is_module(target, owner, home, project)):
        yield UnknownName(full, name, callee, function, event, known, is_gone=is_gone, is_called_module=True)


def _of_parameter(event: Event, function: Function, project: Project) -> Iterator[UnknownName]:
    """The attribute that a statement sets on a parameter or tensor, if it is written much like one that counts."""
    target = event.target
    if target is None or target.op is not Op.ATTR:
        return
    name = str(target.data)
    if name in queries.tensor_names() or not edits.get_close_matches(name, list(_SET), n=1, cutoff=0.86):
        return
    if _is_parameter(target.args[0]) or queries.Operand(target.args[0], function, project).is_tensor:
        yield UnknownName("a parameter", name, target, function, event, frozenset(_SET), is_stored=True)


def _is_parameter(value: Value) -> bool:
    """True for an element of `parameters()`, or the second part of one of `named_parameters()`."""
    if value.op is Op.UNPACK and value.data == 1:
        return _is_item_of(value.args[0], "named_parameters")
    return _is_item_of(value, "parameters")


def _is_item_of(value: Value, method: str) -> bool:
    made = value.args[0] if value.op is Op.ITEM else None
    return made is not None and made.op is Op.CALL and made.callee.op is Op.ATTR and made.callee.data == method


def _is_given(name: str, module: ModuleFacts, project: Project, is_owner: Callable[[Value, Function], bool]) -> bool:
    """True if some file of the project sets this name on an owner, by an assignment or `setattr`."""
    for one in dict.fromkeys((module, *queries.files_mentioning(module, project, name))):
        for function in (*one.all_functions(), one.body):
            if name in function.words and any(
                _gives(event, name, function, is_owner) for event in function.flow.events
            ):
                return True
    return False


def _gives(event: Event, name: str, function: Function, is_owner: Callable[[Value, Function], bool]) -> bool:
    target = event.target
    if event.kind is EventKind.STORE and target is not None and target.op is Op.ATTR and target.data == name:
        return is_owner(target.args[0], function)
    if event.kind is not EventKind.CALL or called_name(event.value.callee) != "setattr":
        return False
    given = event.value.positional
    return len(given) > 1 and given[1].op is Op.CONST and given[1].data == name and is_owner(given[0], function)


def _nearest(name: str, known: frozenset[str]) -> str | None:
    """The name that another one is a slip of, or is written much like."""
    slip = edits.slip(name, known)
    if slip is not None:
        return slip
    near = edits.get_close_matches(name, sorted(known), n=1, cutoff=0.85)
    return near[0] if near else None


def intended_name(found: UnknownName) -> tuple[str | None, bool]:
    """The name that was meant, if one is near; True if it is safe enough for an edit."""
    if found.is_called_module:
        return (f"{found.owner}.{found.name}" if found.name in found.known else None), False
    near = _nearest(found.name, found.known) if not found.is_gone else None
    if near is None or found.value.op is not Op.ATTR:
        return near, False
    is_only_one = (
        found.is_stored or found.owner in ("an optimizer", "a scheduler") or sorted(near) == sorted(found.name)
    )
    return near, is_only_one or edits.slip(found.name, found.known) is not None
