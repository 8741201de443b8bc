"""ML522: types of elements that an operation refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.value import Op, dotted
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Probe, Project

_ERRORS = "RuntimeError or NotImplementedError or IndexError or TypeError or ValueError"
#: What is refused by other rules: ids of real numbers for a table of embeddings.
_OF_OTHERS = frozenset(("dtype-ids",))
#: The kinds of refusals of the first operand, and of the second one.
_OF_FIRST = frozenset(("dtype", "dtype-weights", "dtype-same", "dtype-cast", "dtype-gradient"))
_OF_SECOND = frozenset(("dtype-mask", "dtype-targets", "dtype-real-target"))
#: What the errors about operators say.
_WORDS = {
    "dtype-bits": "",
    "dtype-bool": "bool tensor",
    "dtype-cast": "can't be cast",
    "dtype-put": "Index put requires",
    "dtype-subscript": "tensors used as ind",
}


class DtypeMismatch(Rule):
    """The types of tensors do not fit an operation

    ## What it does
    Follows the type of the elements of each tensor from the literals, functions and layers that make it to the
    operations that use it, through calls, branches and containers. Reports an operation that PyTorch refuses:

    - whole numbers or a bool tensor for a layer with weights, `mean()`, `std()`, `softmax()` and the like
    - `float64`, such as an array of NumPy has, for a layer of `float32`, or in a matrix product with it
    - a target of real numbers where cross entropy takes ids of classes, and one of whole numbers for BCE
    - `MSELoss`, `SmoothL1Loss` and `HuberLoss` of two tensors of whole numbers, such as ids of classes
    - a mask that is not bool for `masked_fill`, `masked_select` or `torch.where`, and `~`, `&`, `|` of real numbers
    - `1 - mask` and `-mask` of a bool tensor
    - `x += 0.5`, `x /= 2` and `x.sqrt_()` where `x` has whole numbers
    - `x[ids] = y`, `scatter_` and `index_add_` with elements of another type
    - `nn.Parameter` and `requires_grad=True` for whole numbers

    The finding is an error if the operation always fails, a warning if only some condition leads to it, and an info in
    tests and demonstrations. An error that a handler or `pytest.raises` expects is no finding.

    ## Why is this bad
    The operation raises `RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float`, or the like.

    ## How to fix
    Convert one of the tensors, or make it of the type that the operation takes.

    ```python
    accuracy = (scores.argmax(1) == labels).float().mean()
    noise = torch.from_numpy(np.zeros((3, 4))).float()
    ```

    ## What it cannot see
    Types that only a run knows, such as those of arguments. `half()`, `double()`, `to(dtype)`, autocast and
    `torch.set_default_dtype` change types of real numbers. A layer's weights count as `float32` only if the code in
    sight makes the layer and never converts it. Whole numbers are refused in any case:

    ```python
    def forward(self, x):
        return self.layer(x.double())  # right if somebody calls `model.double()`
    ```

    If some alternative of a value fits, the operation counts as correct. The rule ignores code behind a question about
    types (`if x.dtype == torch.long`) and arguments that may be arrays of NumPy. Ids for an embedding are findings of
    ML102.

    ## Confirming
    modellint builds the layer, or imports the file, and calls the function. PyTorch's error is the verdict.

    ## References
    - [Type promotion](https://pytorch.org/docs/stable/tensor_attributes.html#torch.dtype)
    """

    code = "ML522"
    name = "dtype-mismatch"
    severity = Severity.ERROR
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for refused in queries.refused_operations(module, project):
            if refused.is_of_types and refused.kind not in _OF_OTHERS:
                yield self._finding(refused)

    def _finding(self, refused: queries.RefusedOperation) -> Finding:
        from .wording import evidence, wording

        site = refused.site
        place, words = site.place, wording(refused)
        assert site.function is not None
        return self.finding(
            place,
            words.message,
            symbol=f"{site.function.qualname}.{site.module.text_of(site.value)[:40]}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if refused.is_tried else Severity.WARNING if refused.is_open else None,
            evidence=(evidence(refused),),
            related=[one for one in _relations(refused) if one.place != place],
            help=words.help,
            claim=_claim(refused),
        )

    def probe(self, claim: claims.Refused, project: Project) -> Probe:
        """Reach the operation: does torch refuse it?"""
        from modellint.rule import called_probe, file_probe

        return file_probe(claim, claim.within) if claim.within else called_probe(claim, project)


def _claim(refused: queries.RefusedOperation) -> claims.Refused | None:
    """The claim that a run can show; None for an operator whose operands may raise the same error.

    None, too, if networks of other packages are involved: these may not be there, and load what others publish.
    """
    if refused.call is None or refused.has_trunk:
        return None
    value, words = refused.call.value, _WORDS.get(refused.kind, "")
    if value.op is not Op.CALL and not words and "(" in refused.call.module.text_of(value):
        return None
    return claims.Refused(refused.call.place, _ERRORS, "" if value.op is Op.CALL else words, refused.root)


def _culprit(refused: queries.RefusedOperation) -> Value | None:
    """The expression of the tensor whose type does not fit, if its place among the operands tells which one it is."""
    value = refused.site.value
    if value.op is Op.UPDATE or value.op is Op.INDEX:
        return value.args[0 if value.op is Op.UPDATE else 1]
    if value.op is not Op.CALL:
        return value.args[0] if value.op is Op.UNARY or refused.kind in _OF_FIRST else None
    callee = value.callee
    is_method = callee.op is Op.ATTR and refused.layer is None and dotted(callee) is None
    at = 0 if refused.kind in _OF_FIRST else 1 if refused.kind in _OF_SECOND else None
    if is_method and at == 0:
        return callee.args[0]
    return None if at is None else value.argument(at - is_method)


def _relations(refused: queries.RefusedOperation) -> Iterator[Related]:
    """Where the layer and the tensors are made, and the calls that lead there."""
    from .wording import in_words

    callee = refused.site.value.callee if refused.site.value.op is Op.CALL else None
    if refused.layer is not None and refused.layer.value is not callee:
        yield Related(refused.layer.place, "this layer")
    culprit = _culprit(refused)
    if culprit is not None and culprit.at and culprit.line != refused.site.value.line:
        yield Related(refused.site.module.place(culprit), f"the tensor of {in_words(refused.left)} is made here")
    yield from (Related(*one) for one in refused.calls)
