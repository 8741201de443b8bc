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
    if "from_pretrained" not in module.text or "num_labels" not in module.text:
        return
    for call in queries.flow(module, project).calls():
        callee = call.value.callee
        if callee.op is not Op.ATTR or callee.data != "from_pretrained":
            continue
        cls = _class_name(call)
        labels, source = call.argument(99, "num_labels"), call.argument(0, "pretrained_model_name_or_path")
        if labels is None or source is None or not _CLASSIFIER.fullmatch(cls):
            continue
        if call.argument(99, "ignore_mismatched_sizes") is not None or call.is_expected_to_fail:
            continue
        numbers = [one.value.data if one.value.op is Op.CONST else None for one in labels.origins()]
        number = numbers[0] if len(set(numbers)) == 1 else None
        path = queries.path_of(source, is_folder=True)
        if path is None or not isinstance(number, int) or isinstance(number, bool):
            continue
        folder = ModelFolder(path, project.files)
        config = folder.config
        names = [] if config is None else config.get("architectures")
        if not (isinstance(names, list) and names and _CLASSIFIER.fullmatch(str(names[0]))):
            continue
        if str(names[0]).rpartition("For")[2] != cls.rpartition("For")[2]:
            continue
        for name, tensor in folder.tensors().items():
            if _HEAD.fullmatch(name) and len(tensor.shape) == 2 and tensor.shape[0] != number:
                message = f"`num_labels` is {number}, and the head in `{path.name}` has {tensor.shape[0]} rows"
                help = "leave `num_labels` out, or pass `ignore_mismatched_sizes=True` to train a new head"
                related = ((folder.place(tensor.file), f"`{name}` is here"),)
                evidence = ("`from_pretrained` raises an error",)
                claim = claims.HeadDiffers(call.place, queries.path_from(call.place, path), number, name)
                yield Misloaded(call, name, message, True, evidence, related, help, claim)
                break


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
