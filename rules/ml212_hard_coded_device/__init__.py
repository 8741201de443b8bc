"""ML212: a layer that puts tensors on a CUDA device, whatever device it is on itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, called_name, self_attribute
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.calls import OnCuda
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.probes import Probe

#: Methods that move on purpose.
_MOVING = frozenset(("cuda", "to", "_apply", "cpu"))
#: Methods that a run begins with: construction, a call, a Lightning step, a loss.
_ENTERED = re.compile(r"__init__|__call__|forward\w*|\w+_step|\w*loss\w*")
#: So much of a condition is looked at.
_MAX_PARTS = 1_000
_CUDA = re.compile(r"cuda(?::\d+)?")
#: What is called by a name.
_NAMED = (Op.ATTR, Op.GLOBAL, Op.PARAM, Op.INNER, Op.CONST)
#: What a name in a condition has to be like to choose the device itself.
_CHOOSING = re.compile(
    r"\w*(?:cuda|[cg]pu|device|accelerator|nccl)\w*|(?:\w+_)?rank|world_size|is_initialized", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Placement:
    """A literal CUDA device in a method. `is_asked`: under `is_available()` or `is_cuda`, the wrong question."""

    function: Function
    event: Event
    device: Value | None
    is_asked: bool


class HardCodedDevice(Rule):
    """A layer puts something on a CUDA device, whatever device it is on itself

    ## What it does
    Looks in layers, losses and Lightning modules for `.cuda()`, `.to("cuda")`, `device="cuda:0"` and
    `torch.cuda.FloatTensor` that no condition, flag or argument chooses. One finding for each method.

    An info where the question is asked of the machine (`if torch.cuda.is_available():`) or of another tensor
    (`if x.is_cuda: y.to("cuda")`) rather than which device that is; in methods that neither construction nor a call
    reaches; and where each process has a device of its own (`torch.distributed`, `torch.cuda.set_device`).

    ## Why is this bad
    The layer cannot run on a CPU, on Apple's MPS, or on the second GPU: `RuntimeError: Expected all tensors to be on
    the same device`, or `Torch not compiled with CUDA enabled`. Whoever builds the model decides where it is.

    ## How to fix
    Use the device of an input or of a parameter. `--unsafe-fixes` takes `next(self.parameters()).device`.

    ## What it cannot see
    Devices that come from settings, and literals in scripts, which choose for themselves.

    ```python
    def __init__(self, device="cuda:0"):  # a caller may choose another one
        self.weights = torch.load(path, map_location=device)
    ```

    ## Confirming
    Builds the class and calls the method where no CUDA device is seen: torch's own words are the verdict. Where
    the code asks for CUDA first, that shows nothing.

    ## References
    - [Device-agnostic code](https://pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
    """

    code = "ML212"
    name = "hard-coded-device"
    severity = Severity.WARNING

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for cls in module.classes.values():
            for function in cls.methods.values():
                placed = list(_placements(function, project))
                if placed and project.classes.model(cls).is_module and not _wraps(cls, project):
                    yield self._finding(cls, placed, function.name in _entered(cls), project)

    def probe(self, claim: OnCuda, project: Project) -> Probe:
        """Construct and run it with CUDA hidden."""
        from modellint.probes import called_probe

        return called_probe(claim, project)

    def _finding(self, cls: Class, placed: list[Placement], is_entered: bool, project: Project) -> Finding:
        from modellint.claims.calls import OnCuda
        from modellint.link.calls.doubts import is_tried_out

        first = next((one for one in placed if not one.is_asked), placed[0])
        function, call = first.function, first.event.value
        module = function.module
        is_latent = first.is_asked or not is_entered or is_tried_out(project, function, first.event)
        per_process = not is_latent and (_communicates(cls, project) or _is_for_cuda_only(module, project))
        related = [Related(module.place(one.event.value), "here, too") for one in placed if one is not first]
        evidence = ["it fails on a machine without CUDA, and on every other device than this one"]
        if per_process:
            evidence.append("each process has a CUDA device of its own, and nothing asks if there is one")
        if first.is_asked:
            evidence.append("that CUDA is there does not say where the layer is")
        shown = module.text_of(call)
        return self.finding(
            module.place(first.device or call),
            f"`{shown if len(shown) < 60 else called_name(call.callee)}` chooses a CUDA device for whoever uses "
            f"`{cls.name}`",
            symbol=f"{function.qualname}.cuda",
            confidence=Confidence.HIGH if not is_latent else Confidence.MEDIUM,
            severity=Severity.INFO if is_latent or per_process else None,
            evidence=evidence,
            related=related,
            help="use the device of an input or of a parameter",
            fix=None if function.name == "__init__" else _fix(placed, cls, project),
            cause=f"{module.path} {cls.qualname} {first.is_asked}",
            claim=None if first.is_asked else OnCuda(module.place(call)),
        )


def _is_for_cuda_only(module: ModuleFacts, project: Project) -> bool:
    """Whether a project sets the device of each process, and never asks whether there is CUDA."""
    from modellint.link.searched import are_mentioned

    def mentions(word: str) -> bool:
        return any(word in function.words for function in module.all_functions()) or are_mentioned(
            project, module, word
        )

    return mentions("set_device") and not mentions("is_available")


def _entered(cls: Class) -> set[str]:
    """The methods of a class that construction, a call, a step or a loss reaches."""
    reached = {name for name in cls.methods if _ENTERED.fullmatch(name)}
    pending = list(reached)
    while pending:
        for event in cls.methods[pending.pop()].flow.of(EventKind.CALL):
            name = self_attribute(event.value.callee)
            if name in cls.methods and name not in reached:
                reached.add(name)
                pending.append(name)
    return reached


def _placements(function: Function, project: Project) -> Iterator[Placement]:
    """The calls of a method that name a CUDA device, and that nothing chooses."""
    if function.name in _MOVING:
        return
    stored = {id(e.value): e.target for e in function.flow.of(EventKind.STORE)}
    for event in function.flow.of(EventKind.CALL):
        device = _device(event.value, function, project)
        if device is None:
            continue
        is_asked = False
        for guard in event.guard.chain() if event.guard is not None else ():
            parts = [part for part in _parts(guard.test) if _chooses(part)]
            if not parts:
                continue
            asks = all(_asks_machine(part, function, project) for part in parts)
            if not guard.truthy or not asks or function.name == "__init__":
                break
            is_asked = True
        else:
            if not event.handled and not _is_for_good(stored.get(id(event.value)), event.value, function):
                yield Placement(function, event, device if device is not event.value else None, is_asked)


def _wraps(cls: Class, project: Project) -> bool:
    """Whether a class wraps layers for processes, each of which has a CUDA device."""
    return any(name.endswith("DistributedDataParallel") for name in _called_names(cls, project))


def _communicates(cls: Class, project: Project) -> bool:
    """Whether a class sends tensors to other processes, each of which has a CUDA device."""
    return any(name.startswith("torch.distributed.") for name in _called_names(cls, project))


def _called_names(cls: Class, project: Project) -> Iterator[str]:
    """What the methods of a class call outside of the project, by full names where these are known."""
    for function in cls.methods.values():
        for event in function.flow.of(EventKind.CALL):
            callee = event.value.callee
            if callee.op in (Op.ATTR, Op.GLOBAL):
                definition = project.names.definition(cls.module, callee)
                yield str(getattr(definition, "name", "")) or called_name(callee)


def _parts(test: Value) -> tuple[Value, ...]:
    """The conditions that all have to hold."""
    return test.args if test.op is Op.BOOL and test.data == "and" else (test,)


def _chooses(test: Value) -> bool:
    """Whether a condition speaks of devices, by any name in it."""
    names = (str(part.data) for part in _asked(test) if part.op in _NAMED)
    return any(_CHOOSING.fullmatch(word) for name in names for word in name.split("."))


def _asked(test: Value) -> Iterator[Value]:
    """What a condition speaks of: not where tensors were put of which it is computed."""
    queue, seen = [test], set[int]()
    for value in queue:
        if id(value) in seen or len(seen) > _MAX_PARTS:
            continue
        seen.add(id(value))
        yield value
        is_moved = value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in ("to", "type_as")
        queue.extend(value.args[:1] if is_moved else value.args)


def _asks_machine(test: Value, function: Function, project: Project) -> bool:
    """Whether a condition asks the machine, or another tensor; an attribute of the layer itself is a flag."""
    if test.op is Op.CALL:
        definition = project.names.definition(function.module, test.callee)
        return getattr(definition, "name", "") == "torch.cuda.is_available"
    return test.op is Op.ATTR and test.data == "is_cuda" and self_attribute(test) is None


def _device(call: Value, function: Function, project: Project) -> Value | None:
    """The literal CUDA device of a call; the call itself, where its name says it."""
    callee = call.callee
    definition = project.names.definition(function.module, callee)
    if definition is not None:
        name = str(getattr(definition, "name", ""))
        if name.startswith("torch.cuda.") and name.endswith("Tensor"):
            return call
    elif callee.op is Op.ATTR and not _is_super(callee.args[0]):
        if callee.data == "cuda" and all(_is_number(arg) for arg in call.positional):
            device = call.keywords.get("device")
            return call if device is None or _is_number(device) else None
        if callee.data == "to" and call.positional:
            return call.positional[0] if _is_cuda(call.positional[0], function, project) else None
    device = call.keywords.get("device")
    return device if device is not None and _is_cuda(device, function, project) else None


def _is_number(value: Value) -> bool:
    return value.op is Op.CONST and (isinstance(value.data, int) or _names_cuda(value))


def _is_cuda(value: Value, function: Function, project: Project) -> bool:
    if value.op is Op.CALL and len(value.args) == 2:
        definition = project.names.definition(function.module, value.callee)
        return getattr(definition, "name", "") == "torch.device" and _names_cuda(value.args[1])
    return _names_cuda(value)


def _names_cuda(value: Value) -> bool:
    return value.op is Op.CONST and isinstance(value.data, str) and _CUDA.fullmatch(value.data) is not None


def _is_super(value: Value) -> bool:
    is_call = value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "super"
    return is_call or (value.op is Op.PARAM and value.data == "self")


def _is_for_good(target: Value | None, call: Value, function: Function) -> bool:
    """Whether a constructor keeps a fresh tensor that it moves: a plain tensor attribute is another mistake (ML205).

    One that is put there by the name of the device is no mistake of that kind.
    """
    is_kept = function.name == "__init__" and target is not None and self_attribute(target) is not None
    if not is_kept or call.callee.data != "cuda":
        return False
    return call.callee.op is not Op.ATTR or self_attribute(call.callee.args[0]) is None


def _fix(placed: list[Placement], cls: Class, project: Project) -> Fix | None:
    """The device of a parameter, in the place of each literal of a method."""
    from modellint.flow.queries import flow

    if flow(cls.module, project).state(cls, trained=True) is not True:
        return None
    edits: list[Edit] = []
    for one in placed:
        module, call = one.function.module, one.event.value
        if one.device is not None:
            edits.append(Edit(module.place(one.device), "next(self.parameters()).device"))
            continue
        text = module.text_of(call)
        if call.callee.op is not Op.ATTR or not text.endswith(".cuda()"):
            return None
        place = module.place(call)
        start = place.span.end_column - len("cuda()")
        from modellint.source import Place, Span

        span = Span(place.span.end_line, start, place.span.end_line, place.span.end_column)
        edits.append(Edit(Place(module.path, span), "to(next(self.parameters()).device)"))
    return Fix("Use the device of a parameter", Applicability.UNSAFE, tuple(edits))
