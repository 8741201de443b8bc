"""Compact facts about `torch.nn`, `speechbrain` and the layers of `einops`, for when these cannot be read.

The facts were extracted by our own frontend (`python -m modellint.knowledge.regenerate`) and are loaded when somebody
asks for a name of those packages.

Begin with `facts.py`; what other libraries offer that configurations name is in `libraries.py`. `regenerate.py`,
`list_names.py`, `list_codecs.py`, `list_surface.py`, `list_signatures.py` and `list_libraries.py` extract it all anew.
It imports `flow/`, `graph/`, `link/`, `link/classes/`, `operators/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modellint.knowledge.facts import Package, ShippedFacts, ShippedMethod

#: The packages of which every class is described, and every name.
PACKAGES = ("torch", "speechbrain")
#: The packages of which classes are described; of einops, its layers.
DESCRIBED = (*PACKAGES, "einops")
#: Base classes of other libraries that are layers, for when their source is not at hand.
LAYERS_ELSEWHERE = frozenset(
    (
        "diffusers.ModelMixin",
        "lightning.LightningModule",
        "lightning.pytorch.LightningModule",
        "pytorch_lightning.LightningModule",
        "pytorch_lightning.core.LightningModule",
        "transformers.PreTrainedModel",
        "transformers.modeling_utils.PreTrainedModel",
    )
)
#: The methods that return a loss, on which a library calls `backward()`, by the class that they override.
LOSS_METHODS = {
    **dict.fromkeys((name for name in sorted(LAYERS_ELSEWHERE) if name.endswith(".LightningModule")), "training_step"),
    **dict.fromkeys(("speechbrain.Brain", "speechbrain.core.Brain"), "compute_objectives"),
    **dict.fromkeys(("transformers.Trainer", "transformers.trainer.Trainer"), "compute_loss"),
}
#: Those of them whose arguments are data and models; the other one is given what the model has computed.
DATA_METHODS = frozenset(("training_step", "compute_loss"))
#: The packages of Lightning.
LIGHTNING = frozenset(("lightning", "pytorch_lightning"))
#: The methods that its trainer calls with batches, each with the method that gives their loader.
STEP_LOADERS = {
    "training_step": "train_dataloader",
    "validation_step": "val_dataloader",
    "test_step": "test_dataloader",
    "predict_step": "predict_dataloader",
}
#: Methods of a module, or of the class with its loaders, that may change a batch on the way to a step.
BATCH_HOOKS = frozenset(("on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer"))
#: The methods of a trainer that call the steps, with the loaders that their arguments are, by name and by position.
TRAININGS = {
    "fit": {
        **dict.fromkeys(("", "train_dataloaders", "train_dataloader"), "train_dataloader"),
        "val_dataloaders": "val_dataloader",
    },
    "validate": dict.fromkeys(("", "dataloaders", "val_dataloaders"), "val_dataloader"),
    "test": dict.fromkeys(("", "dataloaders", "test_dataloaders"), "test_dataloader"),
    "predict": dict.fromkeys(("", "dataloaders"), "predict_dataloader"),
}
#: The attribute by which a class of Lightning calls `backward()` itself.
MANUAL_BACKWARD = "automatic_optimization"
#: A package whose classes are layers with state, for when its source is not at hand.
METRICS = "torchmetrics."
#: Attributes that other libraries set on the layers of a model (transformers: `gradient_checkpointing_enable` and
#: `_initialize_weights`; accelerate: `add_hook_to_module`).
SET_ON_LAYERS = ("_gradient_checkpointing_func", "_is_hf_initialized", "_hf_hook", "_old_forward")
#: Where a class of another library declares which of its weights are tied: a list, or a dict to what they share.
TIED_WEIGHTS = "_tied_weights_keys"
#: Its method that gives the table that tied heads share.
SHARED_TABLE = "get_input_embeddings"
#: Prefixes of classes whose objects are no layers unless they are loaded: tokenizers, settings, factories.
TOOLS_ELSEWHERE = ("transformers.Auto",)
#: The setting by which the `config.json` of a published model names the class to load it with.
INTERFACE_SETTING = "speechbrain_interface"
#: The packages of such classes, their base, and the lists in which they name a recipe's required keys, which the
#: constructor checks, and entries of `modules`.
INTERFACE_PACKAGES = ("speechbrain.inference", "speechbrain.pretrained")
INTERFACE_BASE = "speechbrain.inference.interfaces.Pretrained"
KEYS_NEEDED = "HPARAMS_NEEDED"
MODULES_NEEDED = "MODULES_NEEDED"
#: The attributes under which their objects keep the recipe's keys and its modules, and keys that loading adds.
INTERFACE_KEYS = "hparams"
INTERFACE_MODULES = "mods"
INTERFACE_ADDED = frozenset(("savedir",))
_packages: dict[str, Package] = {}


def canonical(name: str) -> str:
    """The public name of an object: `torch.nn.modules.sparse.Embedding` is `torch.nn.Embedding`."""
    if name.startswith("torch.nn."):
        return _canonical_torch(name)
    if name.startswith("speechbrain."):
        return package("speechbrain").canonical(name)
    return name


def _canonical_torch(name: str) -> str:
    parts = name.split(".")
    if parts[2] == "modules" and len(parts) > 4 and not parts[4].startswith("_"):
        return ".".join(["torch", "nn", *parts[4:]])
    if parts[2] == "parameter" and len(parts) > 3 and not parts[3].startswith("_"):
        return ".".join(["torch", "nn", *parts[3:]])
    if parts[2] == "parallel" and len(parts) > 4 and parts[4][:1].isupper():
        return ".".join(["torch", "nn", "parallel", *parts[4:]])
    return "torch.nn.parallel.DataParallel" if name == "torch.nn.DataParallel" else name


def knows(name: str) -> bool:
    """True if the facts describe the class called `name`."""
    return class_facts(name) is not None


def class_facts(name: str, release: str | None = None) -> ShippedFacts | None:
    """The facts of the class with the canonical `name`, as of `release` or else the newest that has it; else None."""
    top = name.partition(".")[0]
    return package(top).class_facts(name, release) if top in DESCRIBED else None


def function_facts(name: str) -> ShippedMethod | None:
    """The facts of the function with the canonical `name`; None if none are shipped."""
    top = name.partition(".")[0]
    return package(top).function_facts(name) if top in DESCRIBED else None


def package(name: str) -> Package:
    """The facts of a package, loaded when they are first needed."""
    found = _packages.get(name)
    if found is None:
        from modellint.knowledge.facts import load

        found = _packages[name] = load(name)
    return found


def shipped_release(name: str) -> str:
    """The newest described release of a package, read without loading its facts."""
    import re
    from pathlib import Path

    with (Path(__file__).parent / f"{name}.json").open(encoding="utf-8") as file:
        found = re.match(r'\{"release":"([^"]+)"', file.read(64))
    return found[1] if found else package(name).releases[0]


def use(name: str, package: Package) -> None:
    """Answer from these facts about the package `name` instead of the shipped ones."""
    _packages[name] = package
