"""ML605: weights whose names or shapes the configuration beside them refutes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, beside_probe, folder_probe, python_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims import Claim
    from modellint.folders import ModelFolder
    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project


#: The methods that load weights or a model folder.
_LOADING = ("load_state_dict", "from_pretrained")


class WeightsDoNotFit(Rule):
    """The weights of a published model do not fit its configuration

    ## What it does
    Compares the numbers in `config.json` or `adapter_config.json` with the headers of the weights beside it, and
    reports

    - a table of tokens, or a head, whose rows no size of a vocabulary explains, or whose columns no width
    - tables of positions and of token types, inner layers, attention heads, experts and patches with other sizes
    - a stack with other than the number of layers, a layer without tensors, and a layer that lacks a tensor that all
      other layers have
    - a head that `tie_word_embeddings: false` asks for, and that is not there
    - channels, blocks and cross attention of diffusers' UNets, autoencoders and transformers
    - the rank of a LoRA adapter, and target modules without tensors, or tensors without target modules

    In code, reports a call of `load_state_dict` with a file which is there and has names that the class lacks, lacks
    layers that the class has, or has other sizes; and `from_pretrained` with a folder which is there and a `num_labels`
    or `id2label`, of the call or of its `config`, that its head does not have.

    A size that any part of the configuration explains is not reported, nor are quantised layers.

    ## Why is this bad
    transformers, diffusers and PEFT refuse tensors of another shape. Names are worse: tensors that the class lacks are
    ignored, and those that the checkpoint lacks are initialised at random, with no more than a report in the log.

    ## How to fix
    Save configuration and weights together, with `save_pretrained`. After `resize_token_embeddings` save both again.

    ## Confirming
    The class that the configuration names is built without data, and its tensors are compared with the headers of the
    weights. A class in code is built as well, if that takes no assumed arguments. transformers, diffusers or PEFT must
    be installed for their folders, and the base of an adapter must lie in a folder here.

    ## References
    - [transformers, loading models](https://huggingface.co/docs/transformers/models)
    - [PEFT, checkpoint format](https://huggingface.co/docs/peft/developer_guides/checkpoint)
    """

    code = "ML605"
    name = "weights-do-not-fit"
    severity = Severity.ERROR

    def probe(self, claim: Claim, project: Project) -> Probe | None:
        if isinstance(claim, claims.StateDiffers):
            return python_probe(claim, claim.owner)
        if isinstance(claim, claims.HeadDiffers):
            return beside_probe(claim, claim.folder)
        return folder_probe(claim, project)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        if not any(name in module.text for name in _LOADING):
            return
        from . import code

        for found in chain(code.states(module, project), code.heads(module, project)):
            yield self.finding(
                found.call.place,
                found.message,
                symbol=f"{found.call.symbol}.{found.symbol}",
                severity=None if found.is_raised else Severity.WARNING,
                confidence=Confidence.HIGH,
                evidence=found.evidence,
                related=[Related(place, text) for place, text in found.related],
                help=found.help,
                claim=found.claim,
            )

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        from . import adapters, diffusers, transformers

        for misfit in chain(transformers.misfits(folder), diffusers.misfits(folder), adapters.misfits(folder)):
            document = folder.json(misfit.document) if misfit.document else None
            weights = folder.place(misfit.tensor.file)
            place = weights if document is None else document.place(*misfit.keys)
            yield self.finding(
                place,
                misfit.message,
                symbol=misfit.symbol,
                confidence=Confidence.HIGH,
                evidence=misfit.evidence,
                related=[] if document is None else [Related(weights, f"`{misfit.tensor.name}` is here")],
                help=misfit.help,
                claim=claims.TensorDiffers(place, "" if misfit.keys else misfit.tensor.name),
            )
