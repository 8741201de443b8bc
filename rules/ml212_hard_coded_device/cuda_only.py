"""Projects and programs that know no other device than CUDA: nothing in them chooses one, and scripts put models there.

All files of a project that mention devices are read, until one of them chooses, whichever files are checked. If one
does, those of the file's own program are. A script that no import connects with other files chooses for itself alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.value import EventKind, Op, dotted, self_attribute

from .defaults import is_always_passed
from .evidence import is_tensor, reads
from .placements import MOVING, chooses, device_of, names_cuda
from .visits import comes_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: Words of files that choose a device; those come first by which most such files choose.
_CHOICES = ("is_available", "' cpu", "' mps", "' xpu", "is_cuda", "cuda", "device")
#: Words of files that compile kernels for CUDA.
_KERNELS = (("CUDAExtension",), ("load_inline", "cuda_sources"))
#: Words of functions that may choose a device.
_SPEAKING = re.compile("cuda|cpu|mps|xpu|device|is_available")
#: Names of other devices, and of options and settings that choose one.
_OTHERS = re.compile(r"(?:cpu|mps|xpu)(?::\d+)?|-{1,2}[\w-]*(?:cuda|cpu|device)|device")
#: Attributes that tell whether there is CUDA, or whether a tensor is there.
_ASKING = frozenset(("is_available", "is_cuda"))
#: What else has `is_available`: whether there are processes to work with.
_OF_PROCESSES = "torch.distributed."
_MOVES = operators.methods("Tensor", "moves")
_OF_TENSORS = operators.methods("Tensor") | operators.attributes("Tensor")
#: The number of files that are read; if there are more, the project is not judged.
_MAX_FILES = 400


def cuda_only_folder(module: ModuleFacts, project: Project) -> Path | None:
    """The root of a file's project, or else the folder of its program, if nothing there knows another device.

    It has kernels for CUDA, or puts models there, and chooses no device anywhere.
    """
    if queries.is_apart(module, project) and _chooses_in(module, project):
        return None
    folders = (queries.project_root(module, project), queries.program_folder(module, project))
    return next((folder for folder in folders if _knows_only_cuda(folder, module, project)), None)


def _knows_only_cuda(folder: Path, near: ModuleFacts, project: Project) -> bool:
    return project.once(("knows only CUDA", folder), lambda: _find_no_choice(folder, near, project))


def _find_no_choice(folder: Path, near: ModuleFacts, project: Project) -> bool:
    if not queries.is_searchable(near, project):
        return False
    words = (path for word in _CHOICES for path in queries.paths_mentioning(near, project, word))
    paths = dict.fromkeys(path for path in words if folder in path.parents)
    if len(paths) > _MAX_FILES:
        return False
    takes_cuda = _has_kernels(folder, near, project)
    for module in filter(None, map(project.python, paths)):
        if _chooses_in(module, project) and not queries.is_apart(module, project):
            return False
        takes_cuda = takes_cuda or any(_starts_there(one, project) for one in (module.body, *module.all_functions()))
    return takes_cuda


def _has_kernels(folder: Path, near: ModuleFacts, project: Project) -> bool:
    def mentioning(*words: str) -> Iterator[Path]:
        return (path for path in queries.paths_mentioning(near, project, *words) if folder in path.parents)

    if any(True for words in _KERNELS for _ in mentioning(*words)):
        return True
    modules = map(project.python, mentioning("triton", "jit"))
    if any(_is_for_triton(one, project) for module in modules if module is not None for one in module.all_functions()):
        return True
    return any(folder in path.parents for path in queries.paths_with_suffix(near, project, ".cu"))


def _is_for_triton(function: Function, project: Project) -> bool:
    names = (project.names.definition(function.module, one) for one in function.signature.decorators)
    return any(getattr(one, "name", "") == "triton.jit" for one in names)


def _starts_there(function: Function, project: Project) -> bool:
    """True if code that is no layer's puts something on a CUDA device, or makes one the current device."""
    if "cuda" not in function.words or function.name in MOVING:
        return False
    if function.owner is not None and project.classes.model(function.owner).is_module is not False:
        return False
    return any(
        event.value.callee.data == "set_device"
        or (device_of(event.value, function, project) is not None and not any(map(chooses, _tests(event))))
        for event in function.flow.of(EventKind.CALL)
    )


# -- choices of devices ---------------------------------------------------------------------------------------------


def _chooses_in(module: ModuleFacts, project: Project) -> bool:
    """True if a file chooses a device, or lets a caller, an option or a setting do it."""
    settings = (value for cls in module.classes.values() for value in cls.attributes.values())
    if any(_is_other(part) or names_cuda(part) for part in _parts(settings)):
        return True
    if any(_is_choice(part, frozenset(), module, project) for part in _parts(module.constants.values())):
        return True
    return any(_chooses(function, project) for function in (module.body, *module.all_functions()))


def _chooses(function: Function, project: Project) -> bool:
    for parameter in function.parameters:
        given = () if parameter.default is None else _parts((parameter.default,))
        is_device = any(_is_other(part) or names_cuda(part) for part in given)
        if is_device and not is_always_passed(parameter, function, project):
            return True
    if _SPEAKING.search(function.text) is None:
        return False
    events = function.flow.events
    calls = [event.value for event in events if event.kind is EventKind.CALL]
    is_layer = function.owner is not None and project.classes.model(function.owner).is_module is True
    is_vain = _asks_in_vain(function, project)
    if any(_is_for_some(event, is_layer, is_vain, function, project) for event in events):
        return True
    parts = list(_parts(part for event in events for part in (event.value, event.target) if part is not None))
    if not is_layer and any(_follows_setting(call, function, project) for call in calls):
        return True
    aside = frozenset(id(part) for call in calls for given in _kept_aside(call) for part in given.walk())
    vain = frozenset(id(part) for part in parts if is_vain and _is_moved(part, function, project))
    return any(_is_choice(part, aside, function.module, project) for part in parts if id(part) not in vain)


def _asks_in_vain(function: Function, project: Project) -> bool:
    """True if a function asks whether there is CUDA, and the run that it is part of goes there without asking, too.

    The run leads through the function, the methods of its object that only other code calls, and the functions of its
    file that these call. A layer's literals are what is to be judged, and tell nothing about who runs it.
    """
    if "is_available" not in function.words:
        return False
    module, owner = function.module, function.owner
    if owner is not None and project.classes.model(owner).is_module is not False:
        return False
    reached = [function, *(() if owner is None else _entry_methods(owner))]
    for current in reached:
        for event in current.flow.of(EventKind.CALL):
            if event.handled or any(map(chooses, _tests(event))):
                continue
            if device_of(event.value, current, project) is not None:
                return True
            callee = event.value.callee
            found = project.names.definition(module, callee)
            called = found.function if isinstance(found, DefinedFunction) else None
            if current.owner is not None and called is None:
                called = current.owner.methods.get(self_attribute(callee) or "")
            is_own = called is not None and called.module is module and called.name not in MOVING
            if called is not None and is_own and called not in reached:
                reached.append(called)
    return False


def _entry_methods(cls: Class) -> Iterator[Function]:
    """The methods of a class that none of its methods calls."""
    calls = (event.value for method in cls.methods.values() for event in method.flow.of(EventKind.CALL))
    called = {self_attribute(call.callee) for call in calls}
    return (method for name, method in cls.methods.items() if name not in called and name not in MOVING)


def _is_moved(part: Value, function: Function, project: Project) -> bool:
    """True for what is on a CUDA device if there is one, and where it was before if not."""
    return part.op is Op.CHOICE and any(
        one.op is Op.CALL and device_of(one, function, project) is not None for one in part.args
    )


def _is_for_some(event: Event, is_layer: bool, is_vain: bool, function: Function, project: Project) -> bool:
    """True if a value is put on a CUDA device, stored or returned under a condition that chooses a device.

    A flag by which some tensors visit the device, and no layer does, chooses nothing for the model. `is_vain`: to ask
    for CUDA chooses nothing.
    """
    tests = _tests(event)
    if is_vain:
        tests = [test for test in tests if not any(_asks(part, function.module, project) for part in _parts((test,)))]
    if event.kind is EventKind.CALL:
        if not any(map(chooses, tests)) or device_of(event.value, function, project) is None:
            return False
        is_flag = not is_layer and not any(_asks(part, function.module, project) for part in _parts(tests))
        return not is_flag or not comes_back(event.value, function, project)
    if event.kind not in (EventKind.STORE, EventKind.RETURN):
        return False
    is_of_torch = event.target is not None and (dotted(event.target) or "").startswith("torch.")
    asking = (event.value, *(_parts(tests) if not is_of_torch else ()))
    return any(_asks(part, function.module, project) for part in asking)


def _tests(event: Event) -> list[Value]:
    """The conditions of an event, but for assertions."""
    return [] if event.guard is None else [link.test for link in event.guard.chain() if not link.raised]


def _follows_setting(call: Value, function: Function, project: Project) -> bool:
    """True if a call moves something to the device of an object that is no tensor: `.to(args.device)`."""
    is_move = call.callee.op is Op.ATTR and call.callee.data in _MOVES
    for given in (*(call.positional[:1] if is_move else ()), call.keywords.get("device")):
        if given is None or given.op is not Op.ATTR or given.data != "device":
            continue
        owner = given.args[0]
        read = reads(owner, function)
        is_setting = not read <= _OF_TENSORS or (not read and owner.op in (Op.GLOBAL, Op.ATTR))
        if is_setting and not is_tensor(owner, function, project):
            return True
    return False


def _kept_aside(call: Value) -> Iterator[Value]:
    """The arguments of a call that place results or checkpoints: they choose nothing for the model."""
    name = str(call.callee.data) if call.callee.op in (Op.ATTR, Op.GLOBAL) else ""
    if (call.callee.op is Op.ATTR and name in _MOVES) or name.startswith("load"):
        yield from call.args[1:]
    elif "map_location" in call.keywords:
        yield call.keywords["map_location"]


def _is_choice(part: Value, aside: frozenset[int], module: ModuleFacts, project: Project) -> bool:
    """True if a value is the name of another device, or depends on whether there is CUDA."""
    is_open = part.op is Op.CHOICE and part.data is not None
    asking = (*part.args, *(_parts((part.data,)) if is_open else ()))
    return (_is_other(part) and id(part) not in aside) or any(_asks(one, module, project) for one in asking)


def _is_other(part: Value) -> bool:
    return part.op is Op.CONST and isinstance(part.data, str) and _OTHERS.fullmatch(part.data) is not None


def _asks(part: Value, module: ModuleFacts, project: Project) -> bool:
    """True if a value tells whether there is CUDA, or whether a tensor is there."""
    named = part.callee if part.op is Op.CALL else part
    is_call = part.op is Op.CALL
    if named.op is not Op.ATTR or named.data not in _ASKING or is_call is not (named.data == "is_available"):
        return False
    definition = project.names.definition(module, named) if is_call else None
    return not isinstance(definition, External) or not definition.name.startswith(_OF_PROCESSES)


def _parts(values: Iterable[Value]) -> Iterator[Value]:
    """Values and all their parts, with the conditions of choices."""
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            pending.extend(value.args)
            if value.op is Op.CHOICE and value.data is not None:
                pending.append(value.data)
