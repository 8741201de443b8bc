"""Layers and parameters that an object stores where `nn.Module` does not register them.

An object is interpreted; the elements of its plain lists, tuples, sets and dicts are compared with what it
registers, object by object: a layer that is registered by another way, under another name, or in a container that is
built from the same list, is no loss.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Related
from modellint.flow.built import has_state
from modellint.flow.gate import Keepers
from modellint.flow.objects import AttributeRead
from modellint.flow.unpassed import is_said
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, called_name, self_attribute
from modellint.knowledge import METRICS
from modellint.link.calls.gradients import records_nothing
from modellint.link.classes.calls import ADDERS, CONTAINERS, MODULE
from modellint.link.classes.handed import given_values
from modellint.link.classes.handed_layers import argument_of, handed_layers, keeps_given
from modellint.link.classes.object_runs import CARE, FinishedObject, ObjectRuns
from modellint.link.classes.wrapping import without_comma, wrapped
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from modellint.claims.layers import NotRegistered
    from modellint.finding import Fix
    from modellint.flow.heap import Shell
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.assignments import AttributeAssignment
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: Methods in which reading an attribute is no use of its object.
_IDLE = frozenset("__init__ __repr__ __str__ extra_repr __len__ __del__".split())
_MAX_READERS = 40
#: Names of what is done by hand with the layers of an object.
_CARE_WORDS = frozenset("cuda deepcopy named_parameters parameters state_dict".split())
#: Names in the code of a layer that is not to be trained or saved with its owner.
_LEAVES_ALONE = frozenset(
    """detach eval from_pretrained inference_mode load load_state_dict no_grad pretrained requires_grad requires_grad_
    weights""".split()
)


@dataclass(frozen=True, eq=False)
class Unregistered:
    """Layers or parameters that `cls` stores in a plain container and registers nowhere.

    Both are empty for an accidental tuple of one that is called. `doubts` are reasons why it may be intended.
    """

    cls: Class
    kept: AttributeAssignment
    layers: tuple[Shell, ...]
    parameters: tuple[Shell, ...]
    uses: tuple[AttributeRead, ...]
    doubts: tuple[str, ...]
    #: True if a stray comma makes a tuple of the intended object.
    is_accident: bool
    #: True if the class is known to be a layer; False if it only looks like one.
    is_module: bool

    @property
    def confidence(self) -> Confidence:
        """High if used in calls of a known layer, medium if used elsewhere, low if in doubt or unused."""
        if self._is_in_doubt:
            return Confidence.LOW
        return Confidence.HIGH if self.is_module and any(use.at_work for use in self.uses) else Confidence.MEDIUM

    @property
    def is_said(self) -> bool:
        """True if only the annotation of a parameter says that the elements are layers."""
        return bool(self.layers) and all(map(is_said, self.layers))

    @property
    def claim(self) -> NotRegistered | None:
        """The claim that a run can prove; None if the container may be intended or is never used.

        None, too, for layers without a class model.
        """
        from modellint.claims.layers import KeptAsGiven, NotRegistered

        place = self.kept.function.module.place(self.kept.target)
        if self._is_in_doubt or any(layer.model is None for layer in self.layers):
            return None
        about = place, self.cls.qualname, self.kept.attribute
        is_built = self.kept.function.name == "__init__" and bool(self.layers)
        given = argument_of(self.kept.value) if is_built else None
        return KeptAsGiven(*about, given, self.kept.kind) if given else NotRegistered(*about)

    @property
    def may_have_state(self) -> bool:
        """True if the class of one of the layers has parameters or buffers of its own, or is `nn.Module` itself."""
        models = [layer.model for layer in self.layers if layer.model is not None]
        return any(model.name == MODULE or has_state(model) for model in models)

    @property
    def names(self) -> list[str]:
        """The class names of the layers, for messages; `nn.Module` itself names no kind of layer."""
        layers = (layer for layer in self.layers if layer.model is None or layer.model.name != MODULE)
        return list(dict.fromkeys(map(_type_name, layers)))

    @property
    def keeper(self) -> str:
        """The object that keeps the layers, for messages: `a plain list`."""
        if self.kept.kind == "instance":
            names = dict.fromkeys(one.model.name.rpartition(".")[2] for one in self.kept.holders() if one.model)
            return f"a `{next(iter(names))}`, which is no `nn.Module`"
        if self.kept.kind == "function":
            return "a nested function"
        return "a `partial`" if self.kept.kind == "partial" else f"a plain {self.kept.kind}"

    @property
    def fix(self) -> Fix | None:
        """The edit that registers the elements: it drops the stray comma, or wraps the container in one of torch's."""
        if self.is_accident:
            return without_comma(self.kept)
        kind = "Parameter" if self.parameters and not self.layers else "Module"
        return wrapped(self.kept, self.uses, kind)

    @property
    def _is_in_doubt(self) -> bool:
        return bool(self.doubts) or not self.uses

    @property
    def evidence(self) -> tuple[str, ...]:
        """Evidence lines: which layers have state, where the container is used, and doubts."""
        said = [layer for layer in self.layers if is_said(layer) and not _has_own_state(layer)]
        names = list(dict.fromkeys(_type_name(layer) for layer in self.layers if layer not in said))
        have = "have" if len(names) > 1 else "has"
        found = [f"{' and '.join(names)} {have} parameters or buffers"] if names else []
        written = dict.fromkeys(site.module.text_of(site.value) for layer in said if (site := layer.site) is not None)
        found.extend(f"an annotation says that it holds `{text}`" for text in written)
        used = dict.fromkeys(use.function.name for use in self.uses if use.at_work)
        found.extend(f"`{name}` uses `self.{self.kept.attribute}`" for name in list(used)[:1])
        return (*found, *self.doubts)

    @property
    def related(self) -> tuple[Related, ...]:
        """The first use of the container, one in a call of the object if there is any."""
        first = sorted(self.uses, key=lambda use: not use.at_work)[:1]
        return tuple(Related(use.function.module.place(use.value), "used here") for use in first)


def unregistered(module: ModuleFacts, project: Project) -> tuple[Unregistered, ...]:
    """The containers of a file's classes with layers or parameters that `nn.Module` should know of."""
    return project.once(("unregistered", module.path), lambda: tuple(_search(module, project)))


def _search(module: ModuleFacts, project: Project) -> Iterator[Unregistered]:
    reported: set[int] = set()
    for cls in module.classes.values():
        subjects = project.of(ObjectRuns).subjects(cls)
        given = handed_layers(cls, project) if subjects else {}
        below = [] if given or not subjects or not keeps_given(cls) else _below(cls, subjects[0], project)
        for subject in subjects if given or (subjects and project.of(ObjectRuns).may_keep(cls)) else ():
            for found in _Inspection(cls, subject, project).run(given):
                if id(found.kept.target) not in reported and id(found.kept.value) not in reported:
                    reported.update((id(found.kept.target), id(found.kept.value)))
                    yield found
        for model in below:
            for found in _Inspection(cls, model, project).run({}):
                if found.kept.function.owner is cls and id(found.kept.target) not in reported:
                    reported.update((id(found.kept.target), id(found.kept.value)))
                    yield found


def _below(cls: Class, model: ClassModel, project: Project) -> list[ClassModel]:
    """The subclasses in sight of a layer whose constructor stores their containers."""
    return [finished.model for finished in project.of(ObjectRuns).below(model, cls) if finished.model.is_module is True]


class _Inspection:
    """Finds unregistered elements that objects of `model` have in the containers stored by `cls`."""

    def __init__(self, cls: Class, model: ClassModel, project: Project) -> None:
        self.cls = cls
        self.model = model
        self.project = project
        self.classes = project.classes

    def run(self, given: Mapping[str, Shell]) -> Iterator[Unregistered]:
        lives = self.project.of(ObjectRuns)
        finished = FinishedObject(self.model, self.project.of(Keepers), given) if given else lives.of(self.model)
        for kept in finished.final_stores:
            if kept.function.module is self.cls.module:
                found = self._judge(kept, finished)
                if found is not None:
                    yield found

    @cached_property
    def _below(self) -> list[FinishedObject]:
        """Runs of the subclasses in sight."""
        return self.project.of(ObjectRuns).below(self.model, self.cls)

    def _judge(self, kept: AttributeAssignment, finished: FinishedObject) -> Unregistered | None:
        lost = {shell: paths for shell, paths in finished.lost(kept).items() if _may_be_called(shell)}
        is_alone = all(other.is_one_tuple for other in finished.final_stores if other.attribute == kept.attribute)
        if not lost and not (kept.is_one_tuple and is_alone):
            return None
        if lost and any(below.keeps_nothing_of(kept) for below in self._below):
            return None
        lives = [finished, *self._below]
        uses = tuple(self._uses(kept, lives))
        is_called = kept.is_one_tuple and any(_is_called(use) for use in uses)
        if not (lost or is_called) or any(object_run.cares_for(kept) for object_run in lives):
            return None
        if any(map(_looks_after, kept.holders())):
            return None
        layers = tuple(shell for shell in lost if shell.is_layer)
        parameters = tuple(shell for shell in lost if not shell.is_layer)
        if any(is_said(layer) and self._is_given_registered(layer) for layer in layers):
            return None
        if layers and all(map(self._is_metric, layers)) and any(object_run.moves(kept) for object_run in lives):
            return None
        is_accident = kept.has_stray_comma or is_called
        doubts = ["it is registered under some conditions"] if any(lost.values()) else []
        if not is_accident:
            doubts.extend(self._doubts(kept, layers, uses, (object_run.calls_by_hand(kept) for object_run in lives)))
        reasons = tuple(dict.fromkeys(doubts))
        is_module = self.model.is_module is True
        return Unregistered(self.cls, kept, layers, parameters, uses, reasons, is_accident, is_module)

    def _is_given_registered(self, layer: Shell) -> bool:
        """True if what callers pass for a parameter annotated as a plain container registers, or needs no registering.

        A caller passes a registering or unknown container, or all of them pass layers without state.
        """
        function = layer.function
        said = layer.value
        if said is None:
            return True
        if function is None or function.owner is None:
            return False  # a function in sight gives it in a plain one
        annotated = [(one.name, one.annotation) for one in function.parameters if one.annotation is not None]
        named = [name for name, annotation in annotated if any(part is said for part in annotation.walk())]
        given = list(given_values(function.owner, named[0], self.project)) if named else []
        if given and all(self._are_stateless(value, where) for value, where in given):
            return True
        for value, where in given:
            definition = self.project.names.definition(where.module, value.callee) if value.op is Op.CALL else None
            made = None if value.op is not Op.CALL else self.project.classes.of(definition)
            is_told = made is None or made.cls is None or function.owner not in [one.cls for one in made.mro()]
            if not is_told or (isinstance(definition, External) and definition.name in CONTAINERS):
                return True
        return False

    def _are_stateless(self, container: Value, where: Function) -> bool:
        """True for a display of layers whose classes have no parameters or buffers."""
        if container.op not in (Op.LIST, Op.TUPLE, Op.COMPREHENSION):
            return False
        models = []
        for part in container.args:
            definition = self.project.names.definition(where.module, part.callee) if part.op is Op.CALL else None
            models.append(None if definition is None else self.project.classes.of(definition))
        return bool(models) and all(one is not None and has_state(one) is False for one in models)

    def _is_metric(self, layer: Shell) -> bool:
        """True for a metric of a library: it has nothing to train, and by default nothing to save."""
        if layer.value is None or layer.function is None or layer.value.op is not Op.CALL:
            return False
        definition = self.project.names.definition(layer.function.module, layer.value.callee)
        return isinstance(definition, External) and definition.name.startswith(METRICS)

    # -- uses --------------------------------------------------------------------------------------------------

    def _uses(self, kept: AttributeAssignment, lives: Iterable[FinishedObject]) -> Iterator[AttributeRead]:
        seen: set[int] = set()
        for object_run in lives:
            for read in object_run.reads(kept.attribute):
                if read.function.name not in _IDLE and id(read.value) not in seen:
                    seen.add(id(read.value))
                    yield read
        for function in self.cls.module.all_functions():  # `for layer in encoder.layers`
            if kept.attribute in function.text:
                for value in reads(function, kept.attribute, of_self=False):
                    if id(value) not in seen:
                        yield AttributeRead(kept.attribute, function, value, False)

    # -- doubts ------------------------------------------------------------------------------------------------

    def _may_be_meant(
        self,
        kept: AttributeAssignment,
        layers: tuple[Shell, ...],
        uses: tuple[AttributeRead, ...],
        calls: list[tuple[str, Function]],
    ) -> bool:
        """True if a container may hide its only layer: others have it, or it is loaded, frozen or asked quietly."""
        is_set_up = any(name in _LEAVES_ALONE for name, _ in calls)
        return is_set_up or not _is_made_for(kept, layers) or any(_is_quiet(use, self.project) for use in uses)

    def _doubts(
        self,
        kept: AttributeAssignment,
        layers: tuple[Shell, ...],
        uses: tuple[AttributeRead, ...],
        handled: Iterable[Iterable[tuple[str, Function]]],
    ) -> Iterator[str]:
        calls = [one for each in handled for one in each]
        if layers and _is_hiding(kept, uses) and self._may_be_meant(kept, layers, uses, calls):
            yield "a container of one may be meant to hide the layer"
        elif layers and kept.kind == "function" and (_LEAVES_ALONE | {"to", "cuda"}) & kept.function.words:
            yield "the function may be meant to hide the layer, which the constructor freezes, loads or moves"
        for name, function in calls:
            if name in ("to", "cuda") and function.name not in CARE:
                yield "`forward` moves it by hand"
            elif name in ("parameters", "named_parameters", "state_dict"):
                yield f"`{function.name}` asks for its parameters by hand"


def _type_name(layer: Shell) -> str:
    """The class name of a layer in messages."""
    if layer.model is not None:
        return f"`{layer.model.name.rpartition('.')[2]}`"
    made = layer.value.callee if layer.value is not None and layer.value.op is Op.CALL else None
    is_class = made is not None and made.op in (Op.GLOBAL, Op.ATTR) and called_name(made)[:1].isupper()
    return f"`{called_name(made)}`" if made is not None and is_class else "the pretrained model"


def _has_own_state(layer: Shell) -> bool:
    return layer.model is not None and layer.model.name != MODULE and has_state(layer.model) is not False


def _may_be_called(shell: Shell) -> bool:
    """True unless an object only may be a layer, by a base class of another library, and cannot be called as one."""
    model = shell.model
    if not shell.is_layer or model is None or model.is_module is True:
        return True
    return any(model.method(name) is not None for name in ("forward", "__call__"))


def _is_called(use: AttributeRead) -> bool:
    return any(event.value.callee is use.value for event in use.function.flow.of(EventKind.CALL))


def _looks_after(holder: Shell) -> bool:
    """True if an object that is no layer hands out, moves, loads or freezes layers: it keeps them on purpose."""
    classes = (model.cls for model in holder.model.mro()) if holder.model is not None else ()
    methods = [method for cls in classes if cls is not None for method in cls.methods.values()]
    return any(method.name in CARE or (_LEAVES_ALONE | _CARE_WORDS) & method.words for method in methods)


def _is_hiding(kept: AttributeAssignment, uses: tuple[AttributeRead, ...]) -> bool:
    """True if a display of one element is only ever indexed with constants: `self._model = [model]`."""
    return kept.is_written_out and all(
        any(
            event.value.args[0] is use.value and event.value.args[1].op is Op.CONST
            for event in use.function.flow.of(EventKind.INDEX)
        )
        for use in uses
    )


def _is_made_for(kept: AttributeAssignment, layers: tuple[Shell, ...]) -> bool:
    """True if the only element of a list is made for it, to be trained: nobody else has the layer."""
    functions: set[Function] = set()
    for layer in layers:
        if layer.model is None or layer.function is None or layer.value is None:
            return False
        if layer.function is kept.function and _is_given_elsewhere(layer.value, kept):
            return False
        if layer.function is not kept.function:
            functions.add(layer.function)
        for model in layer.model.mro():
            functions.update(() if model.cls is None else model.cls.methods.values())
    return not any(_LEAVES_ALONE & function.words for function in functions)


def _is_given_elsewhere(made: Value, kept: AttributeAssignment) -> bool:
    """True if the function that makes a layer does something else with it than to put it into containers."""
    for event in kept.function.flow.events:
        call = event.value if event.kind is EventKind.CALL else None
        is_put = call is not None and call.callee.op is Op.ATTR and call.callee.data in ADDERS
        parts = call.args if call is not None and call is not made and not is_put else ()
        if event.kind is EventKind.STORE and event.value is not kept.value and event.target is not None:
            is_other = event.target.op is Op.ATTR and self_attribute(event.target) != kept.attribute
            parts = (event.value,) if is_other else ()
        if event.kind is EventKind.RETURN:
            parts = (event.value,)
        if any(part is made for value in parts for part in value.walk()):
            return True
    return False


def _is_quiet(use: AttributeRead, project: Project) -> bool:
    """True if an element of an attribute is read where no gradients are recorded, or perhaps none."""
    parts = (event for event in use.function.flow.of(EventKind.INDEX) if event.value.args[0] is use.value)
    contexts = (*use.function.signature.decorators, *(context for event in parts for context in event.contexts))
    return any(records_nothing(context, use.function.module, project, perhaps=True) for context in contexts)


def reads(function: Function, attribute: str, *, of_self: bool = True) -> list[Value]:
    """The reads of an attribute in a function, of `self` or else of other objects, each place once."""
    found: dict[tuple[int, int], Value] = {}
    for event in function.flow.events:
        for value in event.value.walk():
            if value.op is Op.ATTR and value.data == attribute:
                owner = value.args[0]
                if (owner.op is Op.PARAM and owner.data == "self") is of_self and value is not event.target:
                    found.setdefault((value.line, value.offset), value)
        if len(found) >= _MAX_READERS:
            break
    return [found[key] for key in sorted(found)]
