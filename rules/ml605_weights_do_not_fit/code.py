"""Checkpoints and folders that code loads, against the class or the arguments of the call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from modellint import claims
from modellint.flow import queries
from modellint.folders import ModelFolder, tensors_at
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.claims import Claim
    from modellint.finding import Place
    from modellint.folders import Tensor
    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

_HEAD = re.compile(r"(?:classifier|score|classifier\.out_proj|classification_head\.out_proj|qa_outputs)\.weight")
_CLASSIFIER = re.compile(r"(?:\w*For(?:Sequence|Token|Image|Audio)Classification)")
#: The arguments of `from_pretrained` that give the number of labels.
_COUNTS = ("num_labels", "id2label")
_MOST_NAMES = 4
#: Prefixes of wrappers, about which another rule speaks.
_WRAPPED = re.compile(r"module\.|.*(?:_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.|_forward_module\.")


class Misloaded(NamedTuple):
    """A call that loads what does not fit; `is_raised` if it raises an error, and is not only silent."""

    call: queries.Call
    symbol: str
    message: str
    is_raised: bool
    evidence: tuple[str, ...] = ()
    related: tuple[tuple[Place, str], ...] = ()
    help: str = ""
    claim: Claim | None = None


def states(module: ModuleFacts, project: Project) -> Iterator[Misloaded]:
    """The calls of `load_state_dict` whose file has other names or sizes than the class."""
    for state in queries.loaded_states(module, project):
        tensors = tensors_at(state.file.path, project.files, state.file.keys)
        if not tensors or state.call.is_expected_to_fail or all(_WRAPPED.match(name) for name in tensors):
            continue
        loaded = ((state.file.call.place, "the file is loaded here"),)
        file, cls = state.file.path.name, state.cls
        foreign = queries.foreign_names(cls, tensors, project)
        lacking = queries.missing_children(cls, tensors, project)
        is_raised = state.is_strict is True
        if foreign or lacking:
            message = (
                f"`{cls.name}` has no {_name_list(foreign)}, which `{file}` holds"
                if foreign
                else f"`{file}` holds nothing for {_name_list(lacking)}, which `{cls.name}` has"
            )
            evidence = []
            if foreign and lacking:
                evidence.append(f"the file holds nothing for {_name_list(lacking)}, which the class has")
            evidence.append("`load_state_dict` raises an error" if is_raised else "these weights stay as initialised")
            help = "rename the attributes or the keys, or save the checkpoint again"
            symbol = (foreign or lacking)[0]
            claim = _claim_of(state)
            yield Misloaded(state.call, symbol, message, is_raised, tuple(evidence), loaded, help, claim)
            continue
        yield from _sizes(state, tensors, project)


def _sizes(state: queries.LoadedState, tensors: Mapping[str, Tensor], project: Project) -> Iterator[Misloaded]:
    """Layers whose weight has another shape in the file; that is an error, strict or not."""
    for layer in queries.sized_layers(state.cls, project):
        tensor = tensors.get(f"{layer.name}.weight")
        if tensor is None or len(tensor.shape) != 2 or tensor.shape == layer.shape:
            continue
        file = state.file.path.name
        message = f"`{tensor.name}` has the shape {list(layer.shape)}, and {list(tensor.shape)} in `{file}`"
        related = ((layer.place, "the layer is made here"), (state.file.call.place, "the file is loaded here"))
        help = "give the layer the sizes of the checkpoint, or leave it out of the state"
        evidence = ("`load_state_dict` raises an error, with `strict=False`, too",)
        yield Misloaded(state.call, tensor.name, message, True, evidence, related, help, _claim_of(state))


def heads(module: ModuleFacts, project: Project) -> Iterator[Misloaded]:
    """The calls of `from_pretrained` with a number of labels that the head in the folder does not have."""
    if "from_pretrained" not in module.text or not any(name in module.text for name in _COUNTS):
        return
    for call in queries.flow(module, project).calls():
        callee = call.value.callee
        if callee.op is not Op.ATTR or callee.data != "from_pretrained":
            continue
        cls = _class_name(call)
        source = call.argument(0, "pretrained_model_name_or_path")
        if source is None or not _CLASSIFIER.fullmatch(cls):
            continue
        if call.argument(99, "ignore_mismatched_sizes") is not None or call.is_expected_to_fail:
            continue
        counted = _label_count(call)
        path = None if counted is None else queries.path_of(source, is_folder=True)
        if path is None or counted is None:
            continue
        key, number = counted
        folder = ModelFolder(path, project.files)
        config = folder.config
        names = [] if config is None else config.get("architectures")
        if not (isinstance(names, list) and names and _CLASSIFIER.fullmatch(str(names[0]))):
            continue
        if str(names[0]).rpartition("For")[2] != cls.rpartition("For")[2]:
            continue
        for name, tensor in folder.tensors().items():
            if _HEAD.fullmatch(name) and len(tensor.shape) == 2 and tensor.shape[0] != number:
                said = f"`num_labels` is {number}" if key == _COUNTS[0] else f"`{key}` has {number} labels"
                message = f"{said}, and the head in `{path.name}` has {tensor.shape[0]} rows"
                help = f"leave `{key}` out, or pass `ignore_mismatched_sizes=True` to train a new head"
                related = ((folder.place(tensor.file), f"`{name}` is here"),)
                evidence = ("`from_pretrained` raises an error",)
                claim = claims.HeadDiffers(call.place, queries.path_from(call.place, path), number, name)
                yield Misloaded(call, name, message, True, evidence, related, help, claim)
                break


def _label_count(call: queries.Call) -> tuple[str, int] | None:
    """The argument that gives the number of labels, and that number: of the call, or of the one that makes `config`."""
    found = []
    for key in _COUNTS:
        given = call.argument(99, key)
        if given is not None:
            counts = {_count_of(one, given, call) for one in given.origins(through_operators=False)}
            found.append((key, counts.pop() if len(counts) == 1 else None))
    if found:
        key, count = found[0]
        return None if count is None or any(other not in (None, count) for _, other in found) else (key, count)
    config = call.argument(99, "config")
    made = [] if config is None else list(config.origins(through_operators=False))
    if config is None or len(made) != 1 or not queries.is_left_alone(made[0], config, call):
        return None
    inner = queries.Call.at(made[0].value, made[0].function, made[0].project)
    if inner is None or inner.value.callee.op is not Op.ATTR or inner.value.callee.data != "from_pretrained":
        return None
    return None if inner.argument(99, "config") is not None else _label_count(inner)


def _count_of(origin: queries.Operand, given: queries.Operand, use: queries.Call) -> int | None:
    """The number that an argument is, or that of the entries of a dict or a list, `len` of it or itself."""
    value = origin.value
    if value.op is Op.CONST:
        return value.data if type(value.data) is int else None
    if origin.is_call_of(("builtins.len",)) and len(value.positional) == 1:
        listed = origin.of(value.positional[0])
        counts = {_entries(one, listed, use) for one in listed.origins(through_operators=False)}
        return counts.pop() if len(counts) == 1 else None
    return _entries(origin, given, use) if value.op is Op.DICT else None


def _entries(display: queries.Operand, given: queries.Operand, use: queries.Call) -> int | None:
    """The number of entries of a dict, a list or a tuple that is written out, and that nothing changes."""
    value = display.value
    if display.part is not None or not queries.is_left_alone(display, given, use):
        return None
    if value.op is Op.DICT and all(key is not None and key.op is Op.CONST for key in value.data):
        return len({key.data for key in value.data})
    is_plain = value.op in (Op.LIST, Op.TUPLE) and all(part.op is not Op.STARRED for part in value.args)
    return len(value.args) if is_plain else None


def _claim_of(state: queries.LoadedState) -> Claim:
    file = queries.path_from(state.call.place, state.file.path)
    return claims.StateDiffers(state.call.place, state.cls.place, file, state.file.keys)


def _class_name(call: queries.Call) -> str:
    """The name of the class whose `from_pretrained` is called, under whatever name it was imported."""
    names = {name.split(".")[-2] for name in call.names if name.count(".") > 1}
    return names.pop() if len(names) == 1 else str(call.value.callee.args[0].data)


def _name_list(names: list[str]) -> str:
    some = ", ".join(f"`{name}`" for name in names[:_MOST_NAMES])
    return some + (f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else "")
