"""Shapes and types of tensors: what torch refuses for them.

A shape is written as `[batch, 64, 7, 7]`: a number or symbols for each dimension, `?` for one that is unknown, `…` for
one that is long to read, `*` for dimensions of unknown number.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modellint.finding import Related
from modellint.flow.domain import ANY_ARGUMENTS, Arguments, FunctionRef, Site
from modellint.flow.frame import class_frame
from modellint.flow.queries.layers import is_set_outside
from modellint.flow.runs import follow, tensor_run
from modellint.flow.shapes.annotated import annotated_inputs
from modellint.flow.shapes.atoms import Cut, Held, Kept
from modellint.flow.shapes.bodies import changes_tensors
from modellint.flow.shapes.doubts import DOUBT
from modellint.flow.shapes.dtypes import ABOUT
from modellint.flow.shapes.held import STRANGE, TWICE, UNTRAINED
from modellint.flow.shapes.patches import ROWS
from modellint.flow.shapes.saved import CHANGED
from modellint.flow.shapes.shape import Dim, Shape, cannot_broadcast, differ
from modellint.flow.shapes.theory import Shapes
from modellint.graph.attributes import set_attribute
from modellint.graph.value import EventKind, Op, self_attribute, subscripts
from modellint.link.budget import ExhaustedError
from modellint.link.calls.doubts import (
    is_expected_to_fail,
    is_generator_source,
    is_main,
    is_meant_to_fail,
    is_tried_out,
    subclasses,
)
from modellint.link.calls.gradients import is_without_gradients
from modellint.link.classes.definitions import SourceMethod
from modellint.link.searched import paths_mentioning
from modellint.link.values.members import Members
from modellint.link.values.torch_reach import reaches_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from modellint.flow.heap import Shell
    from modellint.flow.interp import Interpreter
    from modellint.flow.shapes.notes import Clash, Row, Sized
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.size import Size, Symbol
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.source import Place

#: Kinds of doubts that have a query of their own.
_OTHERS = (STRANGE, UNTRAINED, CHANGED, ROWS)
#: Handlers of these errors catch what torch raises.
_CATCHING = frozenset(("RuntimeError", "IndexError", "ValueError", "Exception", "BaseException"))
#: Names in conditions that ask how large something is, or what it is.
_ASKING = frozenset(("shape", "size", "ndim", "dim", "isinstance", "hasattr", "type", "len"))

_ASKING_TYPES = frozenset(("dtype", "is_floating_point", "is_complex", "type"))
#: Types of real numbers, those that autocast makes, and what sets the default type or converts layers.
_REAL, _LOW = frozenset(("float16", "bfloat16", "float32", "float64", "float")), frozenset(("float16", "bfloat16"))
_SETTING_DEFAULTS = ("set_default_dtype", "set_default_tensor_type")
_CONVERTS = re.compile(r"\.(?:double|half|bfloat16)\(|float64|float16|\bdtype\b")
#: Methods that give a tensor other dimensions, those that add up all elements, and those that make them positive.
_TURNING = frozenset(("unsqueeze", "view", "reshape", "expand", "expand_as"))
_ADDING, _MEASURING = frozenset(("mean", "sum")), frozenset(("pow", "square", "abs"))
#: The longest size that is written out.
_MAX_TEXT = 32


class Made(NamedTuple):
    """An expression that decides sizes of the tensor on the left, or of the one on the right; these sizes in words.

    `trunk` is the network of another package that it makes (`resnet18` of torchvision); empty if it makes none.
    """

    site: Site
    sizes: tuple[str, ...]
    is_left: bool
    trunk: str = ""


class RefusedOperation(NamedTuple):
    """An operation that torch certainly refuses, at `site`.

    `kind` is what does not fit: `broadcast`, `matmul`, `cat`, `stack`, `view`, `dim`, `rank`, `permute`, `unpack`,
    `subscripts`, `expand`, `repeat`, `split`, `half`, `einsum`, `pattern`, `pad`, `window`, `shuffle`, `loss`, …; of a
    layer, `features` or `channels`. `left` and `right` are the two sides in words, `apart` the sizes of both that
    differ. `name` is what torch calls: that of a layer in a container is its class. A layer gets the size `given`, and
    takes `taken`; `layer` is the call that makes it. `made` are the expressions that decide the sizes on the left, then
    those on the right. `steps` are the calls that lead there, from the function `root` of the same file if that is one;
    `inputs` are the tensors that the last one gives to the function, where their sizes are numbers.
    `is_open`: only some condition leads there. `is_tried`: it stands in a test or a demonstration.

    `call` is the expression that raises the error. Of a layer that gets another width than it takes, `site` may be
    elsewhere: for neighbours in a `Sequential` where the second one is made (`call` is the call of the `Sequential`, or
    None if there is none in sight), for a layer of another layer where the class around calls that one.

    `doubt` is empty for what torch certainly refuses; "sizes" if symbols may stand for equal sizes, and "side" if a
    number of the layer, or of the one before it, is chosen by a condition, and fits on the other side. `before` is the
    call of another layer, which takes the size `given` of the same tensor: whatever size that has, one is refused.
    """

    kind: str
    left: str
    right: str
    given: Size | None
    taken: Size | None
    site: Site
    name: str
    apart: tuple[str, str] | None
    layer: Site | None
    made: tuple[Made, ...]
    steps: tuple[Site, ...]
    inputs: tuple[Sized, ...]
    root: str
    is_open: bool
    is_tried: bool
    call: Site | None
    doubt: str
    #: True if the layer, or what decides a size, is a part of a network of another package.
    has_trunk: bool
    before: Site | None

    @property
    def given_tensors(self) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
        """The tensors to call the function with, where code outside of functions calls it with these sizes."""
        return () if self.root else tuple((one.name, one.dtype, one.sizes) for one in self.inputs)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers among the sizes that do not fit, as torch names them in its message; none that are symbols."""
        left, right = (words.strip("[]").split(", ") for words in (self.left, self.right))
        named: list[str] = list(self.apart or ())
        if self.given is not None and self.taken is not None:
            named = [str(self.given), str(self.taken)]
        elif self.kind == "view":
            is_known = all(map(str.isdecimal, left))
            named = [*(size for size in right if size != "1"), *([str(prod(map(int, left)))] if is_known else ())]
        elif self.kind == "dim":
            named = [self.left.lstrip("-")]
        elif self.kind == "unpack":
            named = [self.right]
        elif self.kind == "subscripts" and self.left.startswith("[") and "*" not in left and left != [""]:
            named = [str(len(left))]
        return tuple(int(size) for size in named if size.isdecimal())

    @property
    def is_annotated(self) -> bool:
        """True if the annotation of a parameter decides sizes: other calls may pass others."""
        sites = (one.site for one in self.made)
        return any(
            one.annotation is site.value
            for site in sites
            if site.function is not None
            for one in site.function.parameters
        )

    @property
    def place(self) -> Place:
        """The place of the operation."""
        return self.site.place

    @property
    def symbol(self) -> str:
        """The operation and the function around it, for baselines: `Net.forward.F.softmax(x, dim=1)`."""
        assert self.site.function is not None
        return f"{self.site.function.qualname}.{self.site.module.text_of(self.site.value)[:40]}"

    def related_places(self, words: str) -> list[Related]:
        """The expressions that decide about it, which `words` describe, and the last calls that lead there."""
        places = [*((one.site.place, words) for one in self.made[:2]), *self.calls]
        return [Related(place, said) for place, said in places if place != self.site.place]

    @property
    def calls(self) -> list[tuple[Place, str]]:
        """The last calls that lead there, in words."""
        return [(step.place, "called from here") for step in self.steps[-2:]]

    @property
    def is_strange(self) -> bool:
        """True if torch allows it, but for the elements, or the gradient, of a tensor."""
        return self.kind in (STRANGE, UNTRAINED)

    @property
    def is_second_map(self) -> bool:
        """True for a linear layer that gets what another one gives, where one layer could do what both do."""
        return self.right == TWICE

    @property
    def is_doubt(self) -> bool:
        """True if torch allows it: all pairs of two tensors are compared, or scores of a single class."""
        return self.kind.startswith(DOUBT)

    @property
    def is_of_types(self) -> bool:
        """True if it is refused for the types of elements: `left` and `right` are types, or a kind such as `float`."""
        return self.kind.startswith(ABOUT)


def refused_operations(module: ModuleFacts, project: Project) -> list[RefusedOperation]:
    """The operations of a file that torch refuses for the shapes or types of their operands, each once.

    The file's functions are run with unknown arguments. Operations in other files, reached by calls, are left out.
    """
    return [one for one in _operations(module, project) if not one.is_doubt]


def doubtful_operations(module: ModuleFacts, project: Project) -> list[RefusedOperation]:
    """The operations of a file that torch allows, and that are seldom meant: of all pairs, or of a single class."""
    return [one for one in _operations(module, project) if one.is_doubt and one.kind not in _OTHERS]


def tables_apart(module: ModuleFacts, project: Project) -> list[RefusedOperation]:
    """The sums in a file of patches and a table for another number of them, for the size that the table is made for.

    `left` is the shape of the patches, or of their number, `right` that of the table. `given` says by how much the
    patches are more.
    """
    found = _operations(module, project)
    refused = {id(one.site.value) for one in found if not one.is_doubt}
    return [one for one in found if one.kind == ROWS and id(one.site.value) not in refused]


def strange_elements(module: ModuleFacts, project: Project) -> list[RefusedOperation]:
    """The losses and activations of a file that get elements of a kind that they are seldom given.

    `left` is the kind of the elements, as `Held` names it, and `made` the expression that makes them; `right` is the
    name of the loss or activation.
    """
    return [one for one in _operations(module, project) if one.kind == STRANGE]


def losses_without_gradient(module: ModuleFacts, project: Project) -> list[RefusedOperation]:
    """The calls of `backward` in a file on what no gradient reaches: `left` is the operator that has none."""
    return [one for one in _operations(module, project) if one.kind == UNTRAINED]


def operations_changed(module: ModuleFacts, project: Project) -> list[RefusedOperation]:
    """The operations of a file that change a tensor in place which a backward pass needs again, if there is one.

    Each comes once for each way that leads there, the shortest ones first.
    """
    return [one for one in _operations(module, project) if one.kind == CHANGED]


def _operations(module: ModuleFacts, project: Project) -> list[RefusedOperation]:
    return project.once(("refused operations", module), lambda: list(_refusals(module, project)))


def is_computed_setting(symbol: Symbol, project: Project) -> bool:
    """True if a configuration computes a field itself, perhaps from the one that it has to equal."""
    path, _, name = symbol.owner.rpartition(":")
    module = project.python(Path(path))
    cls = None if module is None else module.classes.get(name)
    if cls is None:
        return False
    owners = project.of(Members).mro(cls)
    stores = (event.value for owner in owners for _, event in owner.stores(symbol.name))
    return any(value.op is not Op.PARAM for value in stores) or any(symbol.name in owner.methods for owner in owners)


def _refusals(module: ModuleFacts, project: Project) -> Iterator[RefusedOperation]:
    if not reaches_torch(module, project):
        return
    run, theory = tensor_run(project, Shapes)
    objects: dict[Class, Shell] = {}
    try:
        for function in sorted((*module.all_functions(), module.body), key=_stores_itself):
            follow(function, objects, run)
    except ExhaustedError as error:
        project.budget.cut[error.question] = None
    run.tell()
    yield from (refused for refused, _ in _tell(theory, module, project))
    run.close()


def refused_in_calls(
    functions: Sequence[Function], receiver: Callable[[Interpreter], Shell | None], project: Project
) -> list[tuple[RefusedOperation, Shell | None]]:
    """The operations that torch refuses, or that are seldom meant, in calls of methods on one object.

    `receiver` makes the object in the run. Each method gets the result of the one before as its first argument. Each
    operation comes with the layer that is called, if there is one.
    """
    run, theory = tensor_run(project, Shapes)
    try:
        made = receiver(run)
        given = ANY_ARGUMENTS
        for function in functions if made is not None else ():
            code = SourceMethod(function, project.names)
            result = run.start(FunctionRef(code, None, made), class_frame(code.scope, id(function)), given)
            given = Arguments((result,), is_complete=False)
    except ExhaustedError as error:
        project.budget.cut[error.question] = None
    run.tell()
    found = list(_tell(theory, None, project))
    run.close()
    return found


def _tell(
    theory: Shapes, module: ModuleFacts | None, project: Project
) -> Iterator[tuple[RefusedOperation, Shell | None]]:
    """The clashes of a run that are told in a file, or anywhere, each with the layer that is called."""
    told: set[int] = set()
    chains: set[tuple[Site, ...]] = set()
    reached: set[tuple[int, Size | None, str]] = set()
    calls = _calls_of_neighbours(theory.clashes)
    for clash in sorted(theory.clashes, key=_order):
        site = _told_at(clash, project)
        if module is not None and site.module is not module:
            continue
        is_any = clash.kind in (CHANGED, ROWS)  # whether it is trained depends on the way
        if not is_any and (id(site.value) in told or (clash.steps in chains and not clash.doubt)):
            continue
        if not is_any and (id(clash.site.value), clash.given, str(clash.right)) in reached:
            continue  # told where a shorter way leads there
        if clash.row is not None and clash.row.is_called and _key_of(clash.row) in calls:
            continue  # told where it is made
        is_allowed = clash.kind.startswith(DOUBT)
        if is_allowed and not _is_strange(clash, theory, project):
            continue
        if _is_doubtful(clash, project) or (not is_allowed and _may_fit(clash, theory, project)):
            continue
        if not clash.doubt and not is_any:
            told.add(id(site.value))
            chains.update([clash.steps] if clash.steps and not is_allowed else [])  # the first one ends these calls
        called = clash if clash.row is None or clash.row.is_called else calls.get(_key_of(clash.row))
        reached.add((id(clash.site.value), clash.given, str(clash.right)))
        yield _describe(clash, site, called, theory, project), clash.layer


def _order(clash: Clash) -> tuple[bool, bool, bool, int, int]:
    """The order of clashes: certain ones first, constructors, neighbours in a `Sequential`, calls, then short ways."""
    is_called = clash.row is None or clash.row.is_called
    return bool(clash.doubt), clash.kind != "division", is_called, len(clash.steps), clash.site.value.line


def _key_of(row: Row) -> tuple[int, tuple[int, ...]]:
    site = row.sequential.site
    return 0 if site is None else id(site.value), row.place


def _calls_of_neighbours(clashes: Iterable[Clash]) -> dict[tuple[int, tuple[int, ...]], Clash | None]:
    """A call of each `Sequential` with neighbours that do not fit, by the second of these; None if there is none."""
    found: dict[tuple[int, tuple[int, ...]], Clash | None] = {}
    for clash in clashes:
        if clash.row is not None and not clash.row.is_called:
            found.setdefault(_key_of(clash.row), None)
    for clash in clashes:
        if clash.row is not None and clash.row.is_called and found.get(_key_of(clash.row), clash) is None:
            found[_key_of(clash.row)] = clash
    return found


def _told_at(clash: Clash, project: Project) -> Site:
    """The expression that a misfit is told at.

    Of neighbours in a `Sequential` it is the second one among its arguments; for a layer of a layer that gets another
    width, the call of the outer one in the class that holds it; for one that replaces a part of a network of another
    package, the call that makes it.
    """
    row, layer = clash.row, clash.layer
    if clash.given is not None and row is not None and layer is not None and layer.site is not None:
        is_of_trunk = not row.sequential.is_module_container and layer.value is not row.sequential.value
        if is_of_trunk and layer.site.module is clash.site.module:
            return layer.site
    if clash.given is not None and (row is None or row.is_called):
        return next(_calls_of_parts(clash, project), clash.site)
    if row is None or row.is_called:
        return clash.site
    place = row.element(clash.site.value)
    if place is not clash.site.value:
        return Site(place, clash.site.function)
    return clash.site if layer is None else layer.site or clash.site


def _calls_of_parts(clash: Clash, project: Project) -> Iterator[Site]:
    """The calls that lead from a method of one layer class to one of another, outermost first."""
    for step, inner in pairwise((*clash.steps, clash.site)):
        owner, other = (None if one.function is None else one.function.owner for one in (step, inner))
        if owner is not None and other is not None and other not in project.of(Members).mro(owner):
            yield step


def _stores_itself(function: Function) -> bool:
    """True for a method that stores attributes: run last, it replaces nothing for the others."""
    if function.owner is None or function.name == "__init__":
        return False
    return bool(function.flow.stores) or any(set_attribute(event) is not None for event in function.flow.events)


def _is_doubtful(clash: Clash, project: Project) -> bool:
    """True if the error is expected, if code asks for a size before, or if other code replaces a layer involved."""
    function = clash.site.function
    assert function is not None
    guard = None if clash.event is None else clash.event.guard
    if guard is not None and any(_asks(link.test) for link in guard.chain() if not link.raised):
        return True
    sites = (clash.site, *clash.steps, *(() if clash.before is None else (clash.before.site, *clash.before.steps)))
    if any(_is_expected(site, project) for site in sites):
        return True
    if is_generator_source(project, function.module):
        return True
    layer = None if clash.layer is None else clash.layer.site
    makers = {id(one.value) for one in (*(made.site for made in _makers(clash)), layer) if one is not None}
    elements = (made.site for made in _makers(clash)) if isinstance(clash.left, Held) else ()
    for site in (*sites, *elements):
        owner = None if site.function is None else site.function.owner
        if owner is None:
            continue
        names = _depends_on(owner, site, makers)
        if clash.kind == CHANGED and site is clash.site:  # `self.weight += 1` stores it, too
            names -= {self_attribute(arg) for arg in site.value.args[:1]}
        if clash.before is not None and _is_set_by_several(names, owner, project):
            return True  # a class may be there for those that replace one of the layers
        for cls in (owner, *subclasses(project, owner)):
            if not _set_late(cls, project).isdisjoint(names) or any(
                is_set_outside(cls, name, project) for name in names
            ):
                return True
    return False


def _may_fit(clash: Clash, theory: Shapes, project: Project) -> bool:
    """True if types may fit: code asks for them before, or other code may set the default or convert a layer."""
    if not clash.kind.startswith(ABOUT):
        return False
    function = clash.site.function
    assert function is not None
    guard = None if clash.event is None else clash.event.guard
    if guard is not None and any(
        part.data in _ASKING_TYPES for link in guard.chain() for part in link.test.walk() if part.op is Op.ATTR
    ):
        return True
    if not {clash.left, clash.right} <= _REAL:
        return False
    sites = [clash.site, *clash.steps, *([] if clash.layer is None or clash.layer.site is None else [clash.layer.site])]
    modules = {site.module for site in sites if site.function is not None}
    root = clash.steps[0].function if clash.steps else function
    if any(name in one.text for one in modules for name in _SETTING_DEFAULTS) or any(
        paths_mentioning(project, function.module, name) for name in _SETTING_DEFAULTS
    ):
        return True  # the search of other files leaves out notebooks
    if clash.layer is not None and (
        theory.converts or any(_CONVERTS.search(one.text) for one in modules if root is None or one is not root.module)
    ):
        return True
    is_low = not {clash.left, clash.right}.isdisjoint(_LOW)
    return is_low and (root is None or root.owner is not None or any("autocast" in one.text for one in modules))


def _is_strange(clash: Clash, theory: Shapes, project: Project) -> bool:
    """True if an operation that torch allows is no idiom: pairs make a loss, and a layer gives a single class."""
    if clash.kind == CHANGED:
        return True
    if clash.kind == ROWS:
        return not any(map(_is_after_asking, clash.steps))
    if clash.kind in (STRANGE, UNTRAINED):
        functions = [one.function for one in (clash.site, *clash.steps) if one.function is not None]
        is_quiet = any(one.flow.once(changes_tensors) or is_without_gradients(one, project) for one in functions)
        return not is_quiet and (clash.right != TWICE or _are_used_together(clash))
    if clash.kind == "doubt-single":
        shape = clash.left
        assert isinstance(shape, Shape)
        assert isinstance(clash.right, int)
        return shape.at(clash.right).site in theory.layers and _are_ids_read(clash.site)
    value, function = clash.site.value, clash.site.function
    if value.op is not Op.BIN or function is None:
        return value.op is Op.CALL
    return not any(map(_is_turned, value.args)) and any(
        _difference_in(event.value, function.module) is value for event in function.flow.of(EventKind.CALL)
    )


def _is_after_asking(step: Site) -> bool:
    """True if a call stands under a condition that asks for sizes."""
    event = None if step.function is None else step.function.flow.circumstances(step.value)
    guard = None if event is None else event.guard
    return guard is not None and any(_asks(link.test) for link in guard.chain())


def _are_used_together(clash: Clash) -> bool:
    """True if a function gives what one layer makes to another one, and uses it nowhere else."""
    made, function, call = (
        clash.left.site if isinstance(clash.left, Held) else None,
        clash.site.function,
        clash.site.value,
    )
    if made is None or function is None or made.function is not function:
        return False
    between = [one for given in call.args[1:] for one in given.walk() if any(made.value is part for part in one.walk())]
    events = function.flow.events
    users = {id(value): value.args for event in events for value in event.value.walk()}
    kept = [event.value for event in events if event.kind is not EventKind.CALL]
    if not between:  # the other layer stands before it in a `Sequential`
        return clash.row is not None
    return all(
        sum(any(one is part for part in parts) for parts in users.values()) + sum(one is value for value in kept) == 1
        for one in between
    )


def _callee_name(call: Value, module: ModuleFacts) -> str:
    """The name of the function or method that is called, without its module or object; of an import, its own name."""
    name = str(call.callee.data)
    return module.imports.get(name, "").rpartition(".")[2] if call.callee.op is Op.GLOBAL else name


def _are_ids_read(site: Site) -> bool:
    """True if code reads the ids that `max` or `min` gives beside the values; other calls give one result."""
    call, function = site.value, site.function
    if function is None or _callee_name(call, function.module) not in ("max", "min"):
        return True
    for event in function.flow.unpackings:
        if event.value is call and event.target is not None:
            return len(event.target.args) == 2 and bool((event.target.args[1].target or "").strip("_"))
    for value in function.flow.values:
        if value.args and value.args[0] is call:
            parts = subscripts(value) if value.op is Op.INDEX else ()
            if any(part.op is Op.CONST and part.data in (1, -1) for part in parts) or value.data == "indices":
                return True
    return False


def _is_turned(operand: Value) -> bool:
    """True if an expression gives a tensor other dimensions on purpose."""
    if operand.op is Op.INDEX:
        return any(part.op is Op.CONST and part.data is None for part in subscripts(operand))
    return operand.op is Op.CALL and operand.callee.op is Op.ATTR and operand.callee.data in _TURNING


def _difference_in(call: Value, module: ModuleFacts) -> Value | None:
    """The difference whose squares or magnitudes a call adds up; None for other calls."""
    value, names = call, _ADDING
    while value.op is Op.CALL or (value.op is Op.BIN and value.data in ("**", "*")):
        if value.op is Op.BIN:
            value = value.args[0]
            continue
        callee = value.callee
        is_function = callee.op is Op.GLOBAL or (callee.op is Op.ATTR and callee.args[0].op is Op.GLOBAL)
        name = _callee_name(value, module)
        operand = value.argument(0, "input") if is_function else callee.args[0] if callee.op is Op.ATTR else None
        if name not in names or operand is None or (value is call and len(value.args) != 1 + is_function):
            return None
        value, names = operand, _MEASURING
    return value


def _is_set_by_several(names: set[str], owner: Class, project: Project) -> bool:
    """True if more than one of a class, those that inherit from it and their other base classes sets an attribute."""
    mro = project.of(Members).mro
    family = dict.fromkeys((*mro(owner), *(one for cls in subclasses(project, owner) for one in mro(cls))))
    found: set[str] = set()
    for cls in family:
        own = {set_attribute(event) for method in cls.methods.values() for event in method.flow.events}
        if not found.isdisjoint(own):
            return True
        found.update(name for name in names if name in own)
    return False


def _depends_on(owner: Class, site: Site, makers: set[int]) -> set[str]:
    """The attributes of an object that an operation depends on, by what it reads and by what is made where."""
    return _read(site) | {name for name, value in _stores(owner) if id(value) in makers}


def _read(site: Site) -> set[str]:
    """The attributes of the receiver that an expression and what leads to it read, but for those stored before."""
    parts = (part for part in site.value.walk() if part.op is Op.ATTR and len(part.args) == 1)
    return {name for name in map(self_attribute, parts) if name is not None}


def _set_late(cls: Class, project: Project) -> set[str]:
    """The attributes of the constructor that methods replace which it does not call."""
    methods: dict[str, list[Function]] = {}
    for one in project.of(Members).mro(cls):
        for method in one.methods.values():
            methods.setdefault(method.name, []).append(method)
    building, pending = set(), ["__init__"]
    for name in pending:
        if name not in building:
            building.add(name)
            events = (event for method in methods.get(name, ()) for event in method.flow.of(EventKind.CALL))
            calls = (self_attribute(event.value.callee) for event in events)
            pending += [called for called in calls if called is not None]
    stores: tuple[set[str], set[str]] = set(), set()
    for name, found in methods.items():
        names = (set_attribute(event) for method in found for event in method.flow.events)
        stores[name in building].update(name for name in names if name is not None)
    return stores[0] & stores[1]


def _event(site: Site) -> Event | None:
    """The event that evaluates an expression of a function."""
    return None if site.function is None else site.function.flow.circumstances(site.value)


def _is_expected(site: Site, project: Project) -> bool:
    """True if code around an expression expects the error of torch, or catches it."""
    event = _event(site)
    is_caught = event is not None and is_expected_to_fail(event, _CATCHING)
    return is_caught or is_meant_to_fail(site.module, site.value.line, project)


def _is_open(event: Event | None) -> bool:
    """True if only some condition leads to an event; that a file is run as a script is none."""
    guard = None if event is None else event.guard
    return guard is not None and not all(link.raised or is_main(link.test) for link in guard.chain())


def _asks(test: Value) -> bool:
    """True if a condition asks for a size or a type."""
    return any(part.data in _ASKING for part in test.walk() if part.op in (Op.ATTR, Op.GLOBAL))


def _stores(cls: Class) -> Iterator[tuple[str, Value]]:
    """The names under which the methods of a class store values, with each part of such a value."""
    for method in cls.methods.values():
        for event in method.flow.of(EventKind.STORE):
            name = None if event.target is None else self_attribute(event.target)
            if name is not None:
                yield from ((name, part) for part in event.value.walk())


def _makers(clash: Clash) -> tuple[Made, ...]:
    """The expressions that decide the sizes, those on the left first."""
    if isinstance(clash.left, Held | Cut | Kept):
        return () if clash.left.site is None else (Made(clash.left.site, (), is_left=True),)
    found: dict[tuple[Site, bool], dict[str, None]] = {}
    row = clash.row
    is_of_trunk = row is not None and not row.is_called and not row.sequential.is_module_container
    for side, is_left in ((clash.left, True), (clash.right, False)):
        shape = side if isinstance(side, Shape) else Shape()
        for dim in (*shape.head, *shape.tail):
            if dim.site is not None and (is_of_trunk or dim.site.value is not clash.site.value):
                found.setdefault((dim.site, is_left), {})[str(dim)] = None
    return tuple(Made(site, tuple(sizes), is_left) for (site, is_left), sizes in found.items())


def _describe(clash: Clash, site: Site, called: Clash | None, theory: Shapes, project: Project) -> RefusedOperation:
    function, event = clash.site.function, clash.event
    assert function is not None
    layer = None if clash.layer is None else clash.layer.site
    is_made_here = clash.row is not None and not clash.row.is_called
    ways = () if is_made_here else (event, *map(_event, clash.steps))
    makers = tuple(one._replace(trunk=theory.trunk_at(one.site)) for one in _makers(clash))
    return RefusedOperation(
        clash.kind,
        _words(clash.left),
        _words(clash.right),
        clash.given,
        clash.right.size if isinstance(clash.right, Dim) else None,
        site,
        layer.name if layer is not None and clash.row is not None else _name(clash.site),
        _apart(clash),
        layer,
        makers,
        clash.steps,
        clash.inputs if clash.steps else annotated_inputs(function, SourceMethod(function, project.names)),
        _root(clash if called is None else called),
        any(map(_is_open, ways)),
        event is not None and is_tried_out(project, function, event),
        None if called is None else called.site,
        clash.doubt,
        any(one.trunk for one in makers) or bool(layer is not None and theory.trunk_at(layer)),
        None if clash.before is None else next(_calls_of_parts(clash.before, project), clash.before.site),
    )


def _root(clash: Clash) -> str:
    """The function whose run leads to an operation in another one; empty for the code outside of functions."""
    function = clash.steps[0].function if clash.steps else None
    return "" if function is None or function is function.module.body else function.qualname


def _name(site: Site) -> str:
    """The name of what an expression calls: of a layer in a variable, the variable; of one made in place, its class."""
    callee = site.value.args[0] if site.value.op is Op.CALL else site.value
    if callee.op is not Op.CALL or callee is site.value:
        return site.name
    return callee.target or Site(callee, site.function).name


def _words(side: object) -> str:
    """A side in words; a size that is long to read as `…`."""
    if not isinstance(side, Shape):
        return str(side)
    star = () if side.star is None else ("*",)
    parts = (*map(str, side.head), *star, *map(str, side.tail))
    return f"[{', '.join(part if len(part) <= _MAX_TEXT else '…' for part in parts)}]"


def _apart(clash: Clash) -> tuple[str, str] | None:
    """The first sizes of both sides that do not fit each other; None if it is not known which these are."""
    left, right = clash.left, clash.right
    if not isinstance(left, Shape) or not isinstance(right, Shape):
        return None
    if clash.kind == "matmul":
        pairs = [(left.at(-1), right.at(-1 if right.rank == 1 else -2))] if left.rank != 0 and right.rank != 0 else []
        return next((_pair(one, other) for one, other in pairs if differ(one.size, other.size)), None)
    if clash.kind == "broadcast":
        ends = [(shape.head if shape.star is None else shape.tail)[::-1] for shape in (left, right)]
        found = [pair for pair in zip(*ends, strict=False) if cannot_broadcast(*pair)]
        return _pair(*found[0]) if found else None
    if clash.kind in ("cat", "stack") and left.rank == right.rank is not None:
        joined = _join_place(clash.site.value, len(left.head)) if clash.kind == "cat" else None
        pairs = [pair for at, pair in enumerate(zip(left.head, right.head, strict=True)) if at != joined]
        return next((_pair(one, other) for one, other in pairs if differ(one.size, other.size)), None)
    return None


def _join_place(call: Value, rank: int) -> int | None:
    """The dimension along which a call of `cat` joins tensors; None if it is not written out."""
    dim = call.argument(1, "dim") if call.op is Op.CALL else None
    number = 0 if dim is None else dim.data if dim.op is Op.CONST else None
    return number % rank if isinstance(number, int) and rank else None


def _pair(one: Dim, other: Dim) -> tuple[str, str]:
    return str(one), str(other)
