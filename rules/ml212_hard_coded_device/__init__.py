"""ML212: a layer that puts tensors on a CUDA device, whatever device it is on itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.value import EventKind, Op, called_name, self_attribute
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.rule import Project

    from .placements import Placement

#: Methods that a run begins with: construction, a call, a Lightning step, a loss.
_ENTERED = re.compile(r"__init__|__call__|forward\w*|\w+_step|\w*loss\w*")
#: How many functions are gone through to find a layer that reaches one.
_MAX_CALLERS = 20


class HardCodedDevice(Rule):
    """A layer hard-codes a CUDA device instead of using its own device

    ## What it does
    Reports `.cuda()`, `.to("cuda")`, `device="cuda:0"` and `torch.cuda.FloatTensor` in layers, losses and Lightning
    modules, and in functions that they call, if no condition, flag or argument chooses the device. Reports each method
    or function once.

    It is an info if

    - the code asks whether the machine has CUDA (`if torch.cuda.is_available():`) or where another tensor is
      (`if x.is_cuda: y.to("cuda")`), but not which device that is
    - neither construction nor a call reaches the method, or the file is a test or a demo
    - each process has its own device (`torch.distributed`, `torch.cuda.set_device`)
    - the constructor puts the whole layer on CUDA (`self.to("cuda")`), or a class does nothing but move the inputs of a
      layer that it is given

    A project may support no device but CUDA: it has CUDA kernels of its own, or its scripts put models on CUDA, and
    nothing in it asks for CUDA or takes a device from a caller, an option or a setting. All its findings are then one
    info, at the first place that is checked. A repository with several programs has one info for each program that
    supports no other device: a folder with a script and what imports connect with it. None of these is a choice:

    - a default device, if every call in the project passes another one
    - a flag, if only tensors move by it, and their results come back to the CPU
    - `torch.cuda.is_available()`, if the same script also puts tensors on CUDA without asking
    - what a script chooses that no import connects with other files

    ## Why is this bad
    The layer does not run on a CPU, on Apple's MPS or on a second GPU:
    `RuntimeError: Expected all tensors to be on the same device`, or `Torch not compiled with CUDA enabled`. The caller
    should choose the device.

    ## How to fix
    Use the device of an input or of a parameter, as `--unsafe-fixes` does:

    ```python
    mask = mask.to(next(self.parameters()).device)
    ```

    ## What it cannot see
    Devices that come from settings. Devices in scripts, which may choose for themselves. Defaults that a caller may
    change:

    ```python
    def __init__(self, device="cuda:0"):
        self.weights = torch.load(path, map_location=device)
    ```

    ## Confirming
    A run builds the class and calls the method with CUDA hidden. The error that torch raises is the verdict. If the
    code asks for CUDA first, a run shows nothing.

    ## References
    - [Device-agnostic code](https://pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
    """

    code = "ML212"
    name = "hard-coded-device"
    severity = Severity.WARNING
    requires = ("callers", "mro", "state")
    about = ("torch.Tensor",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .placements import placements

        for cls in module.classes.values():
            for function in cls.methods.values():
                placed = list(placements(function, project))
                if placed and project.classes.model(cls).is_module and not _wraps(cls.methods.values(), project):
                    yield self._finding(cls, placed, function.name in _entered_methods(cls), project)
        for function in module.functions.values():
            placed = list(placements(function, project)) if "cuda" in function.words else []
            owner = _calling_layer(function, project) if placed else None
            if owner is not None:
                yield self._finding(owner, placed, True, project)

    def _finding(self, cls: Class, placed: list[Placement], is_entered: bool, project: Project) -> Finding:

        from .cuda_only import cuda_only_folder
        from .whole import moves_itself, only_moves_inputs

        first = next((one for one in placed if not one.is_asked), placed[0])
        function, call = first.function, first.event.value
        module, has_self = function.module, function.owner is not None
        is_latent = first.is_asked or not is_entered or queries.is_trial(function, first.event, project)
        folder = None if is_latent else cuda_only_folder(module, project)
        is_only = folder is not None
        per_process = not is_latent and (_communicates(cls, function, project) or _is_for_cuda_only(module, project))
        is_whole = not is_latent and (moves_itself(cls, project) or only_moves_inputs(cls, placed))
        related = [Related(module.place(one.event.value), "here, too") for one in placed if one is not first]
        evidence = ["it fails on a machine without CUDA, and on any other device"]
        if is_only:
            evidence = ["this program runs only on CUDA, and nothing in it chooses a device"]
        elif per_process:
            evidence.append("each process has a CUDA device of its own, and nothing asks if there is one")
        elif is_whole:
            evidence.append("the class decides for all that it has")
        if first.is_asked:
            evidence.append("the test does not say which device the layer is on")
        shown = module.text_of(call)
        about = f"{module.path} {cls.qualname} {first.is_asked}"
        cause = f"{folder}" if is_only else about
        return self.finding(
            module.place(first.device or call),
            f"`{shown if len(shown) < 60 else called_name(call.callee)}` hard-codes a CUDA device in `{cls.name}`",
            symbol=f"{function.qualname}.cuda",
            confidence=Confidence.MEDIUM if is_latent or is_only else Confidence.HIGH,
            severity=Severity.INFO if is_latent or is_only or per_process or is_whole else None,
            evidence=evidence,
            related=related,
            help="use the device of an input or of a parameter",
            fix=_fix(placed, cls, project) if has_self and not is_only and function.name != "__init__" else None,
            cause=cause,
            claim=None if first.is_asked else claims.OnCuda(module.place(call)),
        )


def _is_for_cuda_only(module: ModuleFacts, project: Project) -> bool:
    """True if a file's program sets the device of each process, and never asks whether there is CUDA."""

    def mentions(word: str) -> bool:
        is_here = any(word in function.words for function in module.all_functions())
        others = (path for path in queries.paths_mentioning(module, project, word) if path != module.file)
        return is_here or any(folder in path.parents for path in others)

    folder = queries.program_folder(module, project)

    return mentions("set_device") and not mentions("is_available")


def _entered_methods(cls: Class) -> set[str]:
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


def _calling_layer(function: Function, project: Project) -> Class | None:
    """A layer whose construction, call, step or loss reaches a function, whatever the device is."""

    reached = [function]
    for current in reached:
        if len(reached) > _MAX_CALLERS:
            return None
        for caller in queries.flow(current.module, project).callers(current):
            if not _calls_always(caller, current, project):
                continue
            cls = caller.owner
            if cls is None:
                reached += [caller] if caller not in reached else []
            elif project.classes.model(cls).is_module and caller.name in _entered_methods(cls):
                return None if _wraps((*cls.methods.values(), *reached), project) else cls
    return None


def _calls_always(caller: Function, function: Function, project: Project) -> bool:
    """True if a function calls another one where nothing chooses a device, and nothing catches what it raises."""
    from .placements import MOVING, chooses, is_device_chosen

    return caller.name not in MOVING and any(
        called_name(event.value.callee) == function.name
        and not event.handled
        and not is_device_chosen(event, caller, project)
        and not (event.guard is not None and any(chooses(link.test) for link in event.guard.chain()))
        for event in caller.flow.of(EventKind.CALL)
    )


def _wraps(functions: Iterable[Function], project: Project) -> bool:
    """True if functions of a class wrap layers for processes, each of which has a CUDA device."""
    return any(name.endswith("DistributedDataParallel") for name in _called_names(functions, project))


def _communicates(cls: Class, function: Function, project: Project) -> bool:
    """True if a class or a function sends tensors to other processes, each of which has a CUDA device."""
    functions = (function, *cls.methods.values())
    return any(name.startswith("torch.distributed.") for name in _called_names(functions, project))


def _called_names(functions: Iterable[Function], project: Project) -> Iterator[str]:
    """The functions that some call outside of the project, by full names where these are known."""
    for function in functions:
        for event in function.flow.of(EventKind.CALL):
            callee = event.value.callee
            if callee.op in (Op.ATTR, Op.GLOBAL):
                definition = project.names.definition(function.module, callee)
                yield str(getattr(definition, "name", "")) or called_name(callee)


def _fix(placed: list[Placement], cls: Class, project: Project) -> Fix | None:
    """Edits that put the device of a parameter in place of each literal in a method; None where one can't be."""

    if queries.flow(cls.module, project).state(cls, trained=True) is not True:
        return None
    changes: list[Edit] = []
    for one in placed:
        module, call = one.function.module, one.event.value
        if one.device is not None:
            changes.append(Edit(module.place(one.device), "next(self.parameters()).device"))
            continue
        text = module.text_of(call)
        if call.callee.op is not Op.ATTR or not text.endswith(".cuda()"):
            return None
        place = module.place(call)
        start = place.span.end_column - len("cuda()")
        span = Span(place.span.end_line, start, place.span.end_line, place.span.end_column)
        changes.append(Edit(Place(module.path, span), "to(next(self.parameters()).device)"))
    return Fix("Use the device of a parameter", Applicability.UNSAFE, tuple(changes))
