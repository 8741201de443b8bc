"""ML608: names of tensors that a wrapper has prefixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint import claims, folders
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.rule import Rule, folder_probe, python_probe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from modellint.claims import Claim
    from modellint.folders import Json, ModelFolder
    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project

#: The attributes in which wrappers keep a model, as parts of names: no layer is called so.
_WRAPPERS = {
    "_orig_mod": "`torch.compile`",
    "_fsdp_wrapped_module": "`FullyShardedDataParallel`",
    "_checkpoint_wrapped_module": "`CheckpointWrapper`",
    "_forward_module": "Lightning's strategies",
}
#: The attribute of `DataParallel` and `DistributedDataParallel`.
_PARALLEL = "module."
_MODEL = "model."
#: The heads of transformers' classes, which lie beside the model that they have.
_HEADS = ("lm_head.", "classifier.", "score.", "qa_outputs.", "cls.", "pooler.")


class WrappedCheckpoint(Rule):
    """The names of a checkpoint carry the prefix of a wrapper

    ## What it does
    Reads the names of the tensors that transformers, diffusers, PEFT or SpeechBrain load from the folder of a published
    model, and reports names that a wrapper has written:

    - all names begin with `module.`, as `DataParallel` and `DistributedDataParallel` have it
    - a part of a name is `_orig_mod` (`torch.compile`), `_fsdp_wrapped_module`, `_checkpoint_wrapped_module` or
      `_forward_module`
    - all names begin with `model.`, and the name of the model or its head follow: the attribute of a `LightningModule`
    - the tensors lie under a key of the checkpoint, such as `state_dict`, where the library looks for names

    In code, reports the same of a file which is there, and which `load_state_dict` takes as it was loaded.

    Names that all begin with `model.` are normal for a decoder without a head of its own, and are not reported. Nor are
    checkpoints that no library loads by itself, such as those of Lightning, whose program may strip the prefix.

    ## Why is this bad
    The class has none of these names. transformers reports all of its own as missing, all of these as unexpected, and
    goes on with weights at random.

    ## How to fix
    Save the model that the wrapper holds:

    ```python
    accelerator.unwrap_model(model).save_pretrained(folder)
    ```

    ## Confirming
    The class that the configuration names, or that code loads the checkpoint into, is built without data, and its
    tensors are compared with the names in the file.

    ## References
    - [PyTorch, `DataParallel`](https://pytorch.org/docs/stable/generated/torch.nn.DataParallel.html)
    - [PyTorch, `torch.compile` and state dicts](https://pytorch.org/docs/stable/generated/torch.compile.html)
    """

    code = "ML608"
    name = "wrapped-checkpoint"
    severity = Severity.WARNING

    def probe(self, claim: Claim, project: Project) -> Probe | None:
        if isinstance(claim, claims.StateDiffers):
            return python_probe(claim, claim.owner)
        return folder_probe(claim, project)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for state in queries.loaded_states(module, project):
            path, keys = state.file.path, state.file.keys
            around = _keys_in(path, keys, project)
            names = folders.tensors_at(path, project.files, keys) or {}
            found = _wrapper(names, None)
            if around:
                what = "".join(f'["{key}"]' for key in around)
                message = f"the tensors of `{path.name}` lie under `{what}`, and this passes all of the file"
                help = f"load `{what}` of the file"
            elif found is not None and len(queries.foreign_names(state.cls, names, project)) == len(names):
                message = f"the names in `{path.name}` have `{found.prefix}`, which {found.writer} writes and"
                message += f" `{state.cls.name}` lacks"
                help = f'take the prefix off: `{{name.removeprefix("{found.prefix}"): value for name, value in …}}`'
            else:
                continue
            is_told = state.is_strict is True
            consequence = "`load_state_dict` raises an error" if is_told else "the weights stay as initialised"
            yield self.finding(
                state.call.place,
                message,
                symbol=f"{state.call.symbol}.{path.name}",
                confidence=Confidence.HIGH,
                evidence=(consequence,),
                related=(Related(state.file.call.place, "the file is loaded here"),),
                help=help,
                claim=claims.StateDiffers(
                    state.call.place, state.cls.place, queries.path_from(state.call.place, path), keys
                ),
            )

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        for name in _loaded_names(folder):
            names = folder.tensors_of(name)
            found = _wrapper(names, folder.config)
            keys = _keys_around(folder, name)
            if found is None and not keys:
                continue
            if found is None:
                what = ".".join(keys)
                message = f"the tensors lie under `{what}`, where the library looks for their names"
                help = "save the state dict itself"
                yield self.finding(
                    folder.place(name),
                    message,
                    symbol=what,
                    confidence=Confidence.HIGH,
                    help=help,
                    claim=claims.LiesDeeper(folder.place(name), name),
                )
                continue
            yield self.finding(
                folder.place(names[found.example].file),
                f"{found.extent} `{found.prefix}`, which {found.writer} writes and the class lacks",
                symbol=found.prefix,
                confidence=Confidence.HIGH,
                evidence=(f"a tensor is called `{found.example}`",),
                help="save the model inside of the wrapper, or take the prefix off all names",
                claim=claims.TensorDiffers(folder.place(names[found.example].file), found.example),
            )


class _Found(NamedTuple):
    """A prefix of names, who writes it, and a name that has it."""

    prefix: str
    writer: str
    example: str
    extent: str = "all names begin with"


def _keys_in(path: Path, keys: tuple[str, ...], project: Project) -> tuple[str, ...]:
    """The keys of a checkpoint under which all of its tensors lie, where code looks for names."""
    checkpoint = folders.ModelFolder(path.parent, project.files).checkpoint(path.name)
    if checkpoint is None or keys or checkpoint.weights.trouble is not None or () in checkpoint.tables:
        return ()
    return checkpoint.at


def _loaded_names(folder: ModelFolder) -> Iterator[str]:
    """The weights that a library loads by their name in the folder."""
    if folder.main_weights is not None and folder.is_main_known:
        yield folder.main_weights
    elif folder.is_speechbrain:
        yield from (name for name in folder.weight_names if name.endswith(".ckpt"))


def _keys_around(folder: ModelFolder, name: str) -> tuple[str, ...]:
    """The keys of a checkpoint under which its tensors lie."""
    checkpoint = folder.checkpoint(name)
    if checkpoint is None or checkpoint.weights.trouble is not None or folder.is_speechbrain or checkpoint.is_object:
        return ()
    return checkpoint.at


def _wrapper(names: Collection[str], config: Json | None) -> _Found | None:
    """The wrapper that has prefixed names; None if none has."""
    text = " ".join(names)
    for name in names if any(part in text for part in _WRAPPERS) else ():
        part = next((part for part in name.split(".")[:-1] if part in _WRAPPERS), None)
        if part is not None:
            is_first = all(one.startswith(f"{part}.") for one in names)
            return _Found(f"{part}.", _WRAPPERS[part], name, "all names begin with" if is_first else "names have")
    first = next(iter(names), None)
    if first is None:
        return None
    if all(name.startswith(_PARALLEL) for name in names):
        return _Found(_PARALLEL, "`DataParallel`", first)
    if config is not None and all(name.startswith(_MODEL) for name in names):
        inner = [name.removeprefix(_MODEL) for name in names]
        kind = config.text("model_type") or _MODEL
        own = (f"{kind}.", _MODEL)
        if any(name.startswith(own) for name in inner) and all(name.startswith((*own, *_HEADS)) for name in inner):
            return _Found(_MODEL, "a wrapper such as a `LightningModule`", first)
    return None
