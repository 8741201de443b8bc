"""Which layers an optimizer holds, and which ones the script freezes.

The framework's Brain gives the parameters of all `modules` to its `opt_class`. A Brain with an `init_optimizers` of
its own, or a script, says itself which parameters go where: `self.hparams.opt_class(self.hparams.model.parameters())`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Event, EventKind, Op, Value, dotted, self_attribute
from modellint.link.names import External
from modellint.link.recipes.closures import Closure, Root
from modellint.link.recipes.evaluation import Item, ItemKind
from modellint.link.recipes.guards import Frame, Known, ModuleEntry, Special
from modellint.link.recipes.reach import calls_super

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.link.project import Project
    from modellint.link.recipes.moved import Layers
    from modellint.link.recipes.reach import Reach
    from modellint.source import Place

#: What takes one out of several.
_PICKS = frozenset((Op.CHOICE, Op.INDEX))
_OPTIMIZERS = "torch.optim."
_PARAMETERS = operators.methods("Module", "parameters")
#: Functions that look at parameters, or pass them on, and train nothing.
_ONLOOKERS = {"filter", "map", "chain", "update", "clip_grad_norm_", "clip_grad_value_"} | operators.methods(
    "list", "adds", "extends"
)


class Trained(Closure):
    """The layers that optimizers hold. `optimizers` are where they are made, `uses_default` if by the Brain itself."""

    def __init__(self, roots: list[Root], layers: Layers, *, closed: bool, uses_default: bool) -> None:
        super().__init__(roots, layers, closed=closed)
        self.uses_default = uses_default

    @property
    def optimizers(self) -> dict[str, Place]:
        """The optimizers that certainly exist, by how the script puts them."""
        return {root.text: root.place for root in self.roots if root.certain}


def trained_by(reach: Reach, project: Project, layers: Layers) -> Trained:
    """The layers that the optimizers of a Brain hold, those included that its script makes."""
    finder = _Finder(reach, project, layers)
    uses_default = finder.default()
    for event, frame, certain in reach.all_events("parameters", "opt"):
        if event.kind is EventKind.CALL:
            finder.call(event.value, frame, certain)
    return Trained(finder.roots, layers, closed=finder.closed, uses_default=uses_default)


def frozen_by(reach: Reach, layers: Layers) -> Closure:
    """The layers whose parameters the script freezes, and does not thaw anywhere."""
    frozen: dict[int, Root] = {}
    thawed: set[int] = set()
    for event, frame, _ in reach.all_events("requires_grad", "freeze"):
        change = _change_of(event)
        if change is None:
            continue
        value, freezes = change
        module = frame.function.module
        for item, direct in _items_in(value, frame, reach):
            if freezes:
                root = Root(item, module.text_of(event.value), module.place(event.value), direct)
                frozen.setdefault(id(item), root)
            elif direct:
                thawed.add(id(item))
    return Closure([root for key, root in frozen.items() if key not in thawed], layers, closed=True)


def _change_of(event: Event) -> tuple[Value, bool] | None:
    """What an event freezes (True) or thaws: a module, or what its parameters are taken from."""
    if event.kind is EventKind.STORE and event.target is not None:
        target = event.target
        if target.op is Op.ATTR and target.data == "requires_grad":
            return target.args[0], not (event.value.op is Op.CONST and event.value.data)
    if event.kind is EventKind.CALL and event.value.callee.op is Op.ATTR:
        name, owner = str(event.value.callee.data), event.value.callee.args[0]
        if name == "requires_grad_":
            flag = event.value.argument(0, "requires_grad")
            return owner, flag is not None and not (flag.op is Op.CONST and flag.data)
        if "freeze" in name:
            return owner, "unfreeze" not in name
    return None


class _Finder:
    def __init__(self, reach: Reach, project: Project, layers: Layers) -> None:
        self.reach = reach
        self.project = project
        self.layers = layers
        self.roots: list[Root] = []
        self.closed = reach.modules is not None and reach.modules.closed

    def default(self) -> bool:
        """Take what the framework's own `init_optimizers` trains; whether it runs and makes an optimizer."""
        brain = self.reach.brain
        method = brain.method("init_optimizers")
        if method is not None and not calls_super(method, "init_optimizers"):
            return False
        value = brain.argument("opt_class")
        if value is None:
            self.closed = self.closed and not brain.call.has_unpacking
            return False
        if self.reach.guards.evaluate(value, Frame(brain.module.body, "")) == Known(None):
            return False
        place, text = brain.module.place(value), brain.module.text_of(value)
        self.roots += (Root(item, text, place) for item in self._entries())
        return True

    def _entries(self) -> Iterator[Item]:
        modules = self.reach.modules
        yield from (item for item in modules.entries.values() if item is not None) if modules is not None else ()

    def call(self, call: Value, frame: Frame, certain: bool) -> None:
        """Take what a call trains, if it is given parameters."""
        arguments = call.args[1:]
        makes = is_optimizer(call, frame, self.reach, self.project)
        if not makes and (_is_onlooker(call) or not any(_owners(argument) for argument in arguments)):
            return
        module = frame.function.module
        text, place = module.text_of(call.callee), module.place(call)
        for argument in arguments:
            found = list(_items_in(argument, frame, self.reach))
            sure = certain and makes
            self.roots += (Root(item, text, place, sure and direct) for item, direct in found)
            self.closed = self.closed and all(self._is_known(owner, frame) for owner in _owners(argument))

    def _is_known(self, owner: Value, frame: Frame) -> bool:
        """Whether it is known whose parameters `owner` has: those of objects of the recipe, or none at all."""
        if isinstance(self.reach.guards.evaluate(owner, frame), ModuleEntry):
            return True
        return next(_items_in(owner, frame, self.reach), None) is not None


def is_optimizer(call: Value, frame: Frame, reach: Reach, project: Project) -> bool:
    """Whether a call makes an optimizer."""
    callee = call.callee
    while callee.op in (Op.UNPACK, Op.INDEX):
        callee = callee.args[0]
    if self_attribute(callee) == "opt_class":
        return callee is call.callee or any(_owners(argument) for argument in call.args[1:])
    found = reach.guards.evaluate(callee, frame)
    if isinstance(found, Item):
        if found.kind is not ItemKind.NAME or not _may_optimize(found, project):
            return False
        return found.target.startswith(_OPTIMIZERS) or any(_owners(argument) for argument in call.args[1:])
    written = dotted(callee)
    definition = project.names.resolve(frame.function.module, written) if written else None
    return isinstance(definition, External) and definition.name.startswith(_OPTIMIZERS)


def _may_optimize(item: Item, project: Project) -> bool:
    """Whether a class passed on by name may be that of an optimizer: no layer, no scheduler of one."""
    if ".lr_scheduler." in item.target:
        return False
    model = project.classes.resolve(item.target, item.recipe.file)
    return model is None or not model.is_module


def _owners(value: Value) -> list[Value]:
    """What parameters are asked of, somewhere in a value: `m` of `[p for p in m.parameters()]`."""
    owners: list[Value] = []
    pending = [value]
    seen: set[int] = set()
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if part.op is Op.CALL and part.callee.op is Op.ATTR and part.callee.data in _PARAMETERS:
            owners.append(part.callee.args[0])
        elif part.op is not Op.CALL or _is_onlooker(part):
            pending.extend(part.args)
    return owners


def _is_onlooker(call: Value) -> bool:
    name = str(call.callee.data).rpartition(".")[2]
    return name in _ONLOOKERS or name in _PARAMETERS or operators.row(f"builtins.{name}") is not None


def _items_in(value: Value, frame: Frame, reach: Reach) -> Iterator[tuple[Item, bool]]:
    """The objects of the recipe that a value is made of; whether all are meant, not only one of them."""
    pending: list[tuple[Value, bool]] = [(value, True)]
    seen: set[int] = set()
    while pending:
        part, direct = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        found = reach.guards.evaluate(part, frame)
        entries = reach.modules.entries if reach.modules is not None else {}
        if found is Special.MODULES:
            yield from ((item, direct) for item in entries.values() if item is not None)
        elif isinstance(found, ModuleEntry):
            item = entries.get(found.name)
            if item is not None:
                yield item, direct
        elif isinstance(found, Item):
            if found.kind in (ItemKind.NEW, ItemKind.MAPPING, ItemKind.SEQUENCE):
                yield found, direct
        else:
            pending.extend((arg, direct and part.op not in _PICKS) for arg in part.args)
