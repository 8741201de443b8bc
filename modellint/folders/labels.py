"""The labels of a classifier: `id2label`, `label2id`, `num_labels`, and the layer that has a row for each.

transformers takes the number of labels from `id2label`. If `num_labels` differs, version 5 takes that, and drops the
labels; earlier ones ignore it. timm takes `num_classes`, and `label_names` in that order.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from modellint.folders.values import mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.folders.folder import ModelFolder
    from modellint.folders.tensors import Tensor

CONFIG: Final = "config.json"
#: Classes whose last layer has one row for each label.
_CLASSIFIER = re.compile(r"\w*For(?:Sequence|Token|Image|Audio|AudioFrame|Video)Classification")
#: Classes whose last layers have a row for each label, and those with one for "no object" and four for the box.
_SEGMENTS, _DETECTS = re.compile(r"\w*ForSemanticSegmentation"), re.compile(r"\w*ForObjectDetection")
_BOX: Final = 4
_FLOATS: Final = ("float", "bfloat")


class Labels(NamedTuple):
    """The labels by id, the ids by label, and the number that is stated; None for those that are not there.

    `ids` are the keys of `id2label`. One that is no number is left out.
    """

    texts: Mapping[int, str] | None
    ids: Mapping[str, int] | None
    stated: int | None
    #: Keys of `id2label` that are no number.
    odd: tuple[str, ...] = ()


def labels_of(config: Mapping[str, Any]) -> Labels:
    """The labels that a configuration of transformers names."""
    texts, ids, stated = config.get("id2label"), config.get("label2id"), config.get("num_labels")
    numbered, odd = {}, []
    for key, value in texts.items() if isinstance(texts, dict) else ():
        if key.isascii() and key.isdigit() and len(key) < 10:
            numbered[int(key)] = str(value)
        else:
            odd.append(key)
    return Labels(
        numbered if isinstance(texts, dict) else None,
        {key: value for key, value in ids.items() if type(value) is int} if isinstance(ids, dict) else None,
        stated if type(stated) is int and stated > 0 else None,
        tuple(odd),
    )


def is_classifier(config: Mapping[str, Any]) -> bool:
    """True if the configuration names a class of transformers that classifies."""
    names = config.get("architectures")
    return isinstance(names, list) and any(isinstance(name, str) and _CLASSIFIER.fullmatch(name) for name in names)


def is_detector(config: Mapping[str, Any]) -> bool:
    """True if the configuration names a class of transformers that finds objects or segments images."""
    names = config.get("architectures")
    return isinstance(names, list) and any(
        isinstance(name, str) and (_SEGMENTS.fullmatch(name) or _DETECTS.fullmatch(name)) for name in names
    )


class Head(NamedTuple):
    """The last layer of a classifier: its tensor, and the rows of it."""

    tensor: Tensor
    rows: int


def head_of(folder: ModelFolder, count: int, *, has_objects: bool = False) -> Head | None:
    """The layer that gives a classifier's scores, as far as shapes tell; None if no layer, or more than one, may be it.

    Names of classes have a base model under one name (`bert.`), which holds most tensors, and the head beside it. A
    matrix of the head with `count` rows is the layer; otherwise the layer is the only one whose rows no other matrix
    of the head takes in. With `has_objects`, a row more is for "no object", and matrices of four rows give boxes.
    """
    tensors = [tensor for tensor in folder.tensors().values() if tensor.dtype.startswith(_FLOATS)]
    tops = Counter(tensor.name.partition(".")[0] for tensor in tensors)
    if len(tops) < 2:
        return None
    base = tops.most_common(1)[0][0]
    matrices = [tensor for tensor in tensors if not tensor.name.startswith(f"{base}.") and len(tensor.shape) >= 2]
    exact = [
        tensor for tensor in matrices if tensor.shape[0] == count or (has_objects and tensor.shape[0] == count + 1)
    ]
    if exact:
        return Head(exact[0], count)
    if has_objects:
        matrices = [tensor for tensor in matrices if tensor.shape[0] != _BOX]
    taken = {size for tensor in matrices for size in tensor.shape[1:2]}
    last = [tensor for tensor in matrices if tensor.shape[0] not in taken]
    return Head(last[0], last[0].shape[0]) if len(last) == 1 else None


def timm_head(folder: ModelFolder) -> tuple[int, Head] | None:
    """The `num_classes` of a configuration of timm, and the layer that it names as the classifier; None without."""
    config = mapping_of(folder, CONFIG)
    count, pretrained = config.get("num_classes"), config.get("pretrained_cfg")
    if type(count) is not int or count <= 0 or not isinstance(pretrained, dict):
        return None
    named = pretrained.get("classifier")
    names = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    for name in names:
        tensor = folder.tensors().get(f"{name}.weight")
        if tensor is not None and tensor.shape:
            return count, Head(tensor, tensor.shape[0])
    return None


def contradictions(labels: Labels) -> Iterator[tuple[str, int, str | None]]:
    """Entries of `label2id` that `id2label` contradicts: the label, its id, and the text that the other one has."""
    if labels.texts is None or labels.ids is None:
        return
    for label, number in labels.ids.items():
        other = labels.texts.get(number)
        if other != label:
            yield label, number, other
