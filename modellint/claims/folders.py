"""Claims about folders of published models: their weights, tokenizers and templates. The place lies in the folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .claim import Claim

if TYPE_CHECKING:
    from modellint.source import Place


@dataclass(frozen=True, slots=True)
class IdHasNoRow(Claim):
    """The input embedding of the folder's model has no row for the id `number`.

    The tokenizer gives it for the token `token`; with an empty `token`, a configuration names it. `part` and
    `tokenizer` are the paths of the model and of the tokenizer within the folder; empty for the folder itself.
    """

    number: int
    token: str
    part: str = ""
    tokenizer: str = ""


@dataclass(frozen=True, slots=True)
class IdHasNoClass(Claim):
    """The tokenizer gives `token` the id `number`, and the last layer of the folder's model has no class for it."""

    number: int
    token: str


@dataclass(frozen=True, slots=True)
class IdIsNoToken(Claim):
    """The folder's tokenizer has no token with the id `number`."""

    number: int


@dataclass(frozen=True, slots=True)
class IdIsText(Claim):
    """The folder's tokenizer gives the id `number` for plain text: its token is no special one."""

    number: int


@dataclass(frozen=True, slots=True)
class EndSuppressed(Claim):
    """The generation configuration suppresses all ids at which generation stops."""


@dataclass(frozen=True, slots=True)
class IdsDiffer(Claim):
    """The configuration, the generation configuration and the tokenizer have different ids for `role` (`eos`)."""

    role: str


@dataclass(frozen=True, slots=True)
class FileRefused(Claim):
    """The library that wrote `file`, a path within the folder, refuses it, or the file has no tensor `tensor`."""

    file: str
    tensor: str = ""


@dataclass(frozen=True, slots=True)
class HeldTwice(Claim):
    """Each of the files `files`, paths within the folder, holds the tensor `tensor`."""

    tensor: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoWeightsFound(Claim):
    """The class `name` of `library` finds no weights that it loads in `part`, a path within the folder."""

    library: str
    name: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class NotWeightsOnly(Claim):
    """`torch.load` with `weights_only` refuses `file`, a path within the folder."""

    file: str


@dataclass(frozen=True, slots=True)
class TensorDiffers(Claim):
    """The class that the configuration names has no tensor `tensor`, or one of another shape than the files have it.

    With an empty `tensor`, the class and the files differ in some tensor. `part` is the path of the model within the
    folder; empty for the folder itself.
    """

    tensor: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class LiesDeeper(Claim):
    """The tensors of `file`, a path within the folder, lie below a key of it, where the class looks for none."""

    file: str


@dataclass(frozen=True, slots=True)
class StateDiffers(Claim):
    """The class at `owner` has other tensors than `file` holds below `keys`; its path begins at the claim's file."""

    owner: Place
    file: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HeadDiffers(Claim):
    """With so many `labels`, the class of the model in `folder` has `tensor` in another shape than the files.

    The path of the folder begins at the claim's file.
    """

    folder: str
    labels: int
    tensor: str


@dataclass(frozen=True, slots=True)
class TemplateToken(Claim):
    """The chat template of the folder writes `token`, which the tokenizer splits; empty: the template is no Jinja."""

    token: str


@dataclass(frozen=True, slots=True)
class TemplateName(Claim):
    """A chat template of the folder reads `name`, which nothing sets."""

    name: str


@dataclass(frozen=True, slots=True)
class OwnClassMissing(Claim):
    """The folder has no class `reference`, as `auto_map` writes it: the name of a module, a dot, and its own."""

    reference: str


@dataclass(frozen=True, slots=True)
class SettingRefused(Claim):
    """transformers refuses the value of `key` in `file`, a configuration of the folder."""

    file: str
    key: str


@dataclass(frozen=True, slots=True)
class LabelMissing(Claim):
    """The configuration has no label for the class `number`, which the model gives."""

    number: int


@dataclass(frozen=True, slots=True)
class LabelsDiffer(Claim):
    """`label2id` gives `label` an id that `id2label` gives another label, or none."""

    label: str


@dataclass(frozen=True, slots=True)
class LabelsDropped(Claim):
    """transformers leaves either `num_labels` or the labels of the configuration out, as they differ in number."""


@dataclass(frozen=True, slots=True)
class LossUseless(Claim):
    """The problem of the configuration has no loss, or one that is zero for each output with its number of labels."""
