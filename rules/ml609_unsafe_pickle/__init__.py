"""ML609: a checkpoint that `torch.load` refuses, because loading it may run code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, folders
from modellint.finding import Confidence, Finding, Severity
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule, beside_probe, folder_probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.claims import Claim
    from modellint.folders import ModelFolder, Refusal
    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project

#: The most names that a finding lists.
_MOST_NAMES = 6
_HELP = {
    True: "save a dict of tensors and plain values, or list the names with `torch.serialization.add_safe_globals`",
    False: "save the state dict with safetensors, and do not load this file unless you trust it",
}


class UnsafePickle(Rule):
    """A checkpoint holds more than `torch.load` loads safely

    ## What it does
    Follows the opcodes of checkpoints (`.bin`, `.pt`, `.pth`, `.ckpt`) in the folder of a published model, without
    unpickling them, and reports what `torch.load(path)` refuses. Since torch 2.6 it loads with `weights_only=True`:
    tensors, plain values, dicts and `OrderedDict`. Reported are

    - names that the pickle imports, such as `os.system` or the class of a whole model
    - names that only describe plain data, such as numpy's, `argparse.Namespace` or a path: an info, and a warning in
      weights that a library loads without code of the project
    - a call of `torch.load` in code, without `weights_only=False`, whose file is there and has such names
    - opcodes of later protocols than torch writes
    - the tar format of torch 0.1, and entries of an archive that lead out of it

    TorchScript is not reported: `torch.jit.load` reads it.

    ## Why is this bad
    Unpickling imports what the file names and calls it: loading such a file is running a program of its author.
    `torch.load` and `from_pretrained` refuse it, so that others cannot use the model without turning the check off.

    ## How to fix
    ```python
    safetensors.torch.save_file(model.state_dict(), "model.safetensors")
    ```

    ## Confirming
    `torch.load` loads the file with `weights_only=True`, into tensors without data, and must refuse it. Nothing in the
    file is called.

    ## References
    - [PyTorch, `torch.load`](https://pytorch.org/docs/stable/generated/torch.load.html)
    - [Python, `pickle`: restricting globals](https://docs.python.org/3/library/pickle.html#restricting-globals)
    """

    code = "ML609"
    name = "unsafe-pickle"
    severity = Severity.WARNING

    def probe(self, claim: Claim, project: Project) -> Probe | None:
        is_code = claim.place.path.endswith(".py")
        return beside_probe(claim) if is_code else folder_probe(claim, project)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        if "torch" not in module.text or "safe_globals" in module.text:
            return
        for loaded in queries.loaded_files(module, project):
            checkpoint = folders.ModelFolder(loaded.path.parent, project.files).checkpoint(loaded.path.name)
            mode = loaded.call.argument(99, "weights_only")
            is_asked = mode is not None and mode.value.op is Op.CONST and mode.value.data is True
            if checkpoint is None or not checkpoint.refusals or (mode is not None and not is_asked):
                continue
            if loaded.call.is_expected_to_fail:
                continue
            name = loaded.path.name
            yield self.finding(
                loaded.call.place,
                f"`torch.load` refuses `{name}`: {_words_for(checkpoint.refusals)}",
                symbol=f"{loaded.call.symbol}.{name}",
                severity=Severity.ERROR if is_asked else None,
                confidence=Confidence.HIGH,
                evidence=("`weights_only=True`, the default since torch 2.6, takes tensors and plain values only",),
                help=_HELP[{refusal.kind for refusal in checkpoint.refusals} == {folders.Refused.DATA}],
                claim=claims.NotWeightsOnly(loaded.call.place, queries.path_from(loaded.call.place, loaded.path)),
            )

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        for name in folder.weight_names:
            checkpoint = folder.checkpoint(name)
            if checkpoint is None or not checkpoint.refusals:
                continue
            kinds = {refusal.kind for refusal in checkpoint.refusals}
            is_data = kinds == {folders.Refused.DATA}
            is_main = name == folder.main_weights or name in folder.shards_of_main
            yield self.finding(
                folder.place(name),
                f"`torch.load` refuses `{name}` by default: {_words_for(checkpoint.refusals)}",
                symbol=name,
                severity=Severity.INFO if is_data and not is_main else None,
                confidence=Confidence.HIGH,
                evidence=("`weights_only=True`, the default since torch 2.6, takes tensors and plain values only",),
                help=_HELP[is_data],
                claim=claims.NotWeightsOnly(folder.place(name), name),
            )


def _words_for(refusals: Sequence[Refusal]) -> str:
    """The refusals in words, the worst kind first."""
    names = [one.name for kind in (folders.Refused.NAME, folders.Refused.DATA) for one in refusals if one.kind is kind]
    if names:
        some = ", ".join(f"`{name}`" for name in names[:_MOST_NAMES])
        more = len(names) - _MOST_NAMES
        return f"the pickle imports {some}" + (f" and {more} more" if more > 0 else "")
    for one in refusals:
        if one.kind is folders.Refused.FORMAT:
            return f"it has {one.name}"
        if one.kind is folders.Refused.CALL:
            return f"it calls {one.name}"
    opcodes = [one.name for one in refusals if one.kind is folders.Refused.OPCODE]
    return f"the pickle has the opcode {', '.join(opcodes[:_MOST_NAMES])}, which pickles of tensors do not have"
