"""ML606: the labels of a classifier do not fit each other, or its last layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, folders
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, any_of, folder_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.folders import ModelFolder
    from modellint.folders.jsons import Json
    from modellint.folders.labels import Head, Labels
    from modellint.rule import Project

#: The number of labels of a configuration that names none.
_DEFAULT = 2
_CONFIG = "config.json"
_PROBLEMS = ("regression", "single_label_classification", "multi_label_classification")


class LabelsDisagree(Rule):
    """The labels of a classifier disagree with each other, or with its weights

    ## What it does
    Looks at folders whose `architectures` name a classifier of transformers, at those of timm, and at the last layers
    of models that find objects or segment images. Reports

    - a last layer with another number of rows than there are labels. The layer is found by shapes: beside the base
      model, it is the only matrix whose rows no other layer takes
    - ids that `id2label` leaves out, or that are no numbers
    - a label that `label2id` and `id2label` give different ids: a warning
    - a `num_labels` that differs from the number of labels. Releases of transformers differ in which they take: a
      warning
    - a `problem_type` that there is not
    - one label with `problem_type` for one of several classes, whose loss is always zero: a warning

    ## Why is this bad
    With another number of rows, the weights do not load, or the layer is made anew with random weights. An id without a
    label raises `KeyError` when the model gives it. If the two tables differ, training encodes labels by one of them,
    and predictions are named by the other one.

    ## How to fix
    Write both tables from one list, before the model is made:

    ```python
    id2label = dict(enumerate(names))
    label2id = {name: number for number, name in id2label.items()}
    ```

    ## Confirming
    transformers reads the configuration, with the setting in question and without it. Ids are looked up in the tables
    of labels that it has then. The last layer is that of the class, which is built without data, and the loss of one
    class is computed with its gradient.

    ## References
    - [transformers, `PreTrainedConfig`](https://huggingface.co/docs/transformers/main_classes/configuration)
    """

    code = "ML606"
    name = "labels-disagree"
    severity = Severity.ERROR
    probe = staticmethod(folder_probe)

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        document = folder.config
        config = folders.mapping_of(folder, _CONFIG)
        if document is None:
            return
        timm = folders.timm_head(folder)
        if timm is not None and timm[1].rows != timm[0]:
            yield self._head(folder, document, "num_classes", *timm)
        if folders.is_classifier(config):
            yield from self._classifier(folder, document, folders.labels_of(config))
        elif folders.is_detector(config) and config.get("id2label"):
            count = len(folders.labels_of(config).texts or ())
            head = folders.head_of(folder, count, has_objects=True)
            if head is not None and head.rows != count:
                yield self._head(folder, document, "id2label", count, head)

    def _classifier(self, folder: ModelFolder, document: Json, found: Labels) -> Iterator[Finding]:
        table = document.get("id2label")
        if table is not None and not isinstance(table, dict):
            yield self.finding(
                document.place("id2label"),
                "`id2label` is no table of labels by ids",
                symbol="id2label",
                confidence=Confidence.HIGH,
                evidence=("transformers raises an error when it reads the configuration",),
                help='write `{"0": …, "1": …}`',
                claim=claims.SettingRefused(document.place("id2label"), _CONFIG, "id2label"),
            )
            return
        if found.odd:
            yield self.finding(
                document.place("id2label", found.odd[0]),
                f"`id2label` has the key `{found.odd[0]}`, which is no id",
                symbol="id2label",
                confidence=Confidence.HIGH,
                evidence=("transformers raises `ValueError` when it reads the configuration",),
                help="write the ids as keys, and the labels as values",
                claim=claims.SettingRefused(document.place("id2label", found.odd[0]), _CONFIG, "id2label"),
            )
            return
        count = len(found.texts) if found.texts is not None else found.stated or _DEFAULT
        key = "id2label" if found.texts is not None else "num_labels"
        head = folders.head_of(folder, count)
        if head is not None and head.rows != count:
            yield self._head(folder, document, key, count, head)
        yield from self._gaps(document, found)
        yield from self._inverse(document, found)
        if found.stated is not None and found.stated != count:
            yield self.finding(
                document.place("num_labels"),
                f"`num_labels` is {found.stated}, but `id2label` has {count} labels",
                symbol="num_labels",
                severity=Severity.WARNING,
                confidence=Confidence.HIGH,
                evidence=("transformers 5 takes the number, and drops the labels; earlier releases ignore the number",),
                related=(Related(document.place("id2label"), "the labels"),),
                help="remove `num_labels`, or correct `id2label`",
                claim=claims.LabelsDropped(document.place("num_labels")),
            )
        problem = document.text("problem_type")
        if problem is not None and problem not in _PROBLEMS:
            yield self.finding(
                document.place("problem_type"),
                f"`problem_type` is `{problem}`, which is none",
                symbol="problem_type",
                confidence=Confidence.HIGH,
                evidence=("transformers 4 raises an error when it reads this, later releases give no loss",),
                help=f"write {any_of(_PROBLEMS)}",
                claim=claims.LossUseless(document.place("problem_type")),
            )
        if count == 1 and document.text("problem_type") == "single_label_classification":
            yield self.finding(
                document.place("problem_type"),
                "`problem_type` is `single_label_classification`, but there is one label",
                symbol="problem_type",
                severity=Severity.WARNING,
                confidence=Confidence.HIGH,
                evidence=("the cross-entropy of one class is always zero: the model does not learn",),
                help="name two labels, or set `problem_type` to `regression` or `multi_label_classification`",
                claim=claims.LossUseless(document.place("problem_type")),
            )

    def _head(self, folder: ModelFolder, document: Json, key: str, count: int, head: Head) -> Finding:
        number = f"`{key}` is {count}" if key.startswith("num") else f"`{key}` has {count} labels"
        if not document.has(key):
            number = f"without `id2label` there are {count} labels"
        return self.finding(
            document.place(key),
            f"{number}, but `{head.tensor.name}` has {head.rows} rows",
            symbol=key,
            confidence=Confidence.HIGH,
            evidence=("the weights do not load: sizes of the last layer differ",),
            related=(Related(folder.place(head.tensor.file), f"`{head.tensor.name}` is here"),),
            help=f"name {head.rows} labels, as the layer has rows",
            claim=claims.TensorDiffers(document.place(key), head.tensor.name),
        )

    def _gaps(self, document: Json, found: Labels) -> Iterator[Finding]:
        texts = found.texts or {}
        missing = next((number for number in range(len(texts)) if number not in texts), None)
        if missing is None:
            return
        outside = max(texts)
        yield self.finding(
            document.place("id2label", str(outside)),
            f"`id2label` has {len(texts)} labels and the id {outside}, but none for {missing}",
            symbol="id2label",
            confidence=Confidence.HIGH,
            evidence=(f"the model gives ids from 0 to {len(texts) - 1}: `id2label[{missing}]` raises `KeyError`",),
            help="number the labels from 0 without gaps",
            claim=claims.LabelMissing(document.place("id2label", str(outside)), missing),
        )

    def _inverse(self, document: Json, found: Labels) -> Iterator[Finding]:
        pairs = list(folders.contradictions(found))
        if not pairs:
            return
        label, number, other = pairs[0]
        named = f"names it `{other}`" if other is not None else "has no such id"
        yield self.finding(
            document.place("label2id", label),
            f"`label2id` gives `{label}` the id {number}, but `id2label` {named}",
            symbol="label2id",
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            evidence=(f"{len(pairs)} labels differ",) if len(pairs) > 1 else (),
            related=(Related(document.place("id2label", str(number)), "the other table"),),
            help="write one table from the other",
            claim=claims.LabelsDiffer(document.place("label2id", label), label),
        )
