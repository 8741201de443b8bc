"""ML520: shapes that an operation refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project

#: The kinds of misfits that ML501 reports: a layer gets another width than it takes, or cannot divide one.
_OF_WIDTHS = frozenset(("features", "channels", "division"))
#: The errors of torch and of einops.
_ERRORS = "RuntimeError or IndexError or ValueError or NotImplementedError or EinopsError"
#: What the constructor of a layer refuses: its call is never reached.
_OF_CONSTRUCTORS = frozenset(("groups", "stride"))


class ShapeMismatch(Rule):
    """The shapes of tensors do not fit an operation

    ## What it does
    Follows the shape of each tensor from the layers, functions and literals that make it to the operations that use it,
    through calls, branches, containers and files. Sizes are numbers or symbols: `[batch, 64, h // 2, w // 2]`. Reports
    an operation that PyTorch refuses whatever the symbols stand for: operands that do not broadcast, a matrix product,
    `cat` or `stack` of unlike tensors, a `view` of another number of elements, a dimension that is not there, a layer
    that takes tensors of another rank, more names or subscripts than dimensions, a target that a loss refuses, a
    pattern of `einsum` or einops that does not fit. An annotation by jaxtyping with a number tells the shape of a
    parameter: `x: Float[Tensor, "batch 64"]`.

    The finding is an error if the operation always fails, a warning if only some condition leads to it, and an info in
    tests and demonstrations. An error that a handler or `pytest.raises` expects is no finding.

    ## Why is this bad
    The operation raises `RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton
    dimension 1`, or the like.

    ## How to fix
    Make the shapes agree where the tensors are made, or reshape one of them.

    ```python
    scores = queries @ keys.transpose(-2, -1)
    ```

    ## What it cannot see
    Sizes that only a run knows. Two different symbols may be equal, so they never count as a mismatch, and neither do
    `n` and `2 * n` where they broadcast for `n = 1`. If some alternative of a value fits, the operation counts as
    correct. The rule ignores code behind a question about shapes (`if x.dim() == 3`), layers that other code replaces,
    tensors that are reshaped in place, and elements of lists that loops fill:

    ```python
    def forward(self, x, mask):
        return x + mask  # shapes that callers in sight do not tell
    ```

    A layer that gets another number of features or channels than it takes is a finding of ML501.

    ## Confirming
    modellint builds the layer, or imports the file, and calls the function. PyTorch's error is the verdict. It does not
    run an operator other than one that broadcasts if another call stands within its operands: that may raise the same
    error. Nor does it run an operator on arguments whose sizes only annotations tell.

    ## References
    - [Broadcasting semantics](https://pytorch.org/docs/stable/notes/broadcasting.html)
    """

    code = "ML520"
    name = "shape-mismatch"
    severity = Severity.ERROR
    about = ("torch",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for refused in queries.refused_operations(module, project):
            is_made = refused.layer is None or refused.kind not in _OF_CONSTRUCTORS
            is_told = refused.kind in _OF_WIDTHS or refused.is_of_types or bool(refused.doubt)
            if is_made and not is_told:
                yield self._finding(refused)

    def _finding(self, refused: queries.RefusedOperation) -> Finding:
        from .wording import wording

        site = refused.site
        module, value = site.module, site.value
        place = module.place(value)
        assert site.function is not None
        words = wording(refused)
        return self.finding(
            place,
            words.message,
            symbol=refused.symbol,
            confidence=Confidence.HIGH,
            severity=Severity.INFO if refused.is_tried else Severity.WARNING if refused.is_open else None,
            evidence=(words.evidence,),
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
    if refused.call is None or refused.has_trunk or (refused.is_annotated and refused.call.value.op is not Op.CALL):
        return None
    place, op = refused.call.place, refused.call.value.op
    error, words = _ERRORS, ""
    if refused.kind == "unpack":
        error, words = "ValueError", "to unpack"
    elif op is Op.INDEX:
        error, words = "IndexError", "0-dim tensor" if refused.left == "[]" else "too many indices"
    elif op is not Op.CALL and refused.kind == "broadcast":
        words = "must match the size of tensor"
    elif op is not Op.CALL and "(" in refused.site.module.text_of(refused.site.value):
        return None
    return claims.Refused(place, error, words, refused.root, refused.numbers, refused.given_tensors)


def _relations(refused: queries.RefusedOperation) -> Iterator[Related]:
    """Where the layer is made, where sizes come from, and the calls that lead there."""
    layer = refused.layer
    callee = refused.site.value.callee if refused.site.value.op is Op.CALL else None
    if layer is not None and layer.value is not callee:
        yield Related(layer.place, "this layer")
    deciding = [(one, _sizes(one, refused.apart)) for one in refused.made]
    known = [(made, sizes) for made, sizes in deciding if sizes]
    for made, sizes in (known or deciding)[:2]:
        words = (
            f"{_series(sizes)} {'comes' if len(sizes) == 1 else 'come'} from here"
            if sizes
            else "the shape comes from here"
        )
        yield Related(made.site.place, f"{made.trunk} makes {_series(sizes)}" if made.trunk and sizes else words)
    yield from (Related(*one) for one in refused.calls)


def _sizes(made: queries.Made, apart: tuple[str, str] | None) -> list[str]:
    """The sizes to speak of that an expression decides: the one that differs, or all numbers."""
    if apart is not None:
        return [size for size in made.sizes if size == apart[0 if made.is_left else 1]]
    return [size for size in made.sizes if size.isdecimal()]


def _series(sizes: list[str]) -> str:
    """`3`, `4 and 5`, `2, 3 and 4`."""
    quoted = [f"`{size}`" for size in sizes]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
