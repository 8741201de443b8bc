"""ML501: layers whose widths do not fit."""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.link.recipes import queries as recipes
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint import claims
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.size import Size
    from modellint.rule import Probe, Project

#: The kinds of misfits that this rule tells, of all that torch refuses.
_OF_WIDTHS = frozenset(("features", "channels", "division"))


class WidthMismatch(Rule):
    """A layer expects a different number of features than its input has

    ## What it does
    Follows the number of features or channels of tensors from the layers that produce them to the layers that take
    them: through `nn.Sequential`, lists of layers unpacked into one, `forward`, other methods and layers of the
    project. Linear and convolutional layers, norms, recurrent layers, attention and embeddings set the width of their
    input; activations, pools, `flatten`, `transpose`, `cat` and the like change or keep it.

    It follows whole shapes as well, in functions and scripts too: from `net(torch.randn(1, 3, 32, 32))` through
    convolutions, pools and `x.view(x.size(0), -1)` to the linear layer behind them. Loops over a few layers, and loops
    that make layers of a few numbers, are followed turn by turn.

    It knows how wide the classifiers of torchvision, the networks of timm and well-known encoders of transformers are,
    even if these packages are not installed: `resnet18` makes 512 features, and `bert-base-uncased` 768.

    Two layers that are called with the same tensor have to take the same width, even if nothing is known of the tensor:
    either `self.query(x)` or `self.key(x)` fails if one takes 64 features and the other 128.

    The layers that a HyperPyYAML recipe makes are judged with its numbers: in the `forward` of their classes, and in
    the `compute_forward` of the Brain that calls them.

    A number in an annotation by jaxtyping counts as the size that the tensor has: `x: Float[Tensor, "batch 64"]`.

    Compares widths by value after algebra, on the same dimension only: `hidden` and `2 * hidden` never fit. Reports

    - an error if the widths differ, as `hidden` and `hidden // 2` do
    - a warning if they differ only in a branch or with a parameter's default (`bidirectional=True`), on one side of a
      condition in the constructor, or if a fixed number has to equal a setting
    - a warning if two layers in a row both map `d_model` to `d_ff`: the second should map back
    - an info if two settings have to be equal, and are equal by default, or if a test or a demonstration makes the call

    A layer inside of another layer is reported where the class around calls that one, and neighbours in a `Sequential`
    where the second one is made. Where a layer's output leads to the same two widths again, it reports the first layer
    only, whose call raises. It also reports numbers of heads or groups that do not divide the width.

    ## Why is this bad
    The call of the layer raises `RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)`, or the like.
    With a default or a setting, it fails once somebody keeps the default or changes the setting.

    ## How to fix
    Make the widths agree, and give both the same name:

    ```python
    self.encoder = nn.Linear(80, hidden)
    self.head = nn.Linear(hidden, 10)
    ```

    If a number in the constructor decides, such as 3136 in `nn.Linear(3136, 10)`, `--unsafe-fixes` writes the one that
    fits. Check that it is not the layer before that is wrong.

    ## What it cannot see
    Widths that only a run knows, sizes that stay symbols, and layers that other code replaces. It does not know the
    order of dimensions after a `view` with unknown sizes, the width of an argument that one layer takes, the layers
    that a loop of unknown length makes, or a width that the code computes from settings that are not whole numbers:

    ```python
    self.d_model = d_model // bottleneck
    self.input_linear = nn.Linear(self.d_model, self.d_model)  # and `forward` gets `d_model` features
    self.top_conv = nn.Conv2d(width, round(1280 * config.width_coefficient), 1)
    self.top_bn = nn.BatchNorm2d(config.hidden_dim)  # equal by default
    ```

    ## Confirming
    modellint builds the class and calls the method with inputs that it takes. PyTorch's error is the verdict. It does
    not run a mismatch that shows only after another layer passes its output on, or only under a condition. Of a recipe
    or configuration, it runs a class whose arguments are all whole numbers.

    ## References
    - [torch.nn](https://pytorch.org/docs/stable/nn.html)
    """

    code = "ML501"
    name = "width-mismatch"
    severity = Severity.ERROR
    about = ("torch.nn.Module",)
    takes_configs = True

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        told: list[tuple[queries.RefusedOperation, Severity]] = []
        failed: dict[int, set[Size | None]] = {}
        #: The layers behind which the same two widths do not fit again: another input width does not mend that.
        again: set[int] = set()
        for refused in queries.refused_operations(module, project):
            if refused.kind not in _OF_WIDTHS or _is_of_another_file(refused):
                continue
            from .judged import severity_of

            severity = severity_of(refused, project)
            widths = {refused.given, refused.taken}
            behind = [id(one.site.value) for one in refused.made if failed.get(id(one.site.value)) == widths]
            again.update(behind)
            if severity is not None and not behind:
                told.append((refused, severity))
                if refused.layer is not None and refused.kind != "division":
                    failed[id(refused.layer.value)] = widths
        for refused, severity in told:
            if refused.kind == "division":
                yield self._division_finding(refused, severity)
            else:
                is_first = refused.layer is None or id(refused.layer.value) not in again
                is_mended = is_first and refused.doubt != "side"
                is_mended = is_mended and refused.before is None and not refused.is_annotated
                yield self._finding(refused, severity, can_be_fixed=is_mended)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        for one in recipes.about(recipe, project).refused_numbers():
            refused, item = one.refused, one.item
            given, taken = refused.given, refused.taken
            if refused.kind not in ("features", "channels") or given is None or taken is None:
                continue
            related = [Related(refused.site.place, f"`{refused.site.name}` is called here")]
            numbers = [(number, place) for number, place in one.numbers if place != one.place]
            related += (Related(place, f"`{number}` stands here") for number, place in numbers)
            if refused.layer is not None:
                related.append(Related(refused.layer.place, f"expects {taken.described} {refused.kind}"))
            name = f"`{item.path}`" if refused.layer is None else f"`{refused.name}` of `{item.path}`"
            yield self.finding(
                one.place,
                f"{name} expects {taken.described} {refused.kind}, but gets {given.described}: its input has "
                f"shape `{refused.left}`",
                symbol=item.path,
                confidence=Confidence.HIGH,
                severity=Severity.WARNING if refused.is_open else Severity.ERROR,
                evidence=("the widths differ with the numbers of this recipe",),
                related=related,
                help="make the widths agree",
                claim=_claim_with_numbers(one),
            )

    def probe(self, claim: claims.Refused, project: Project) -> Probe:
        """Reach the call: does torch refuse it?"""
        from modellint.rule import called_probe, file_probe

        return file_probe(claim, claim.within) if claim.within else called_probe(claim, project)

    def _finding(self, refused: queries.RefusedOperation, severity: Severity, *, can_be_fixed: bool) -> Finding:
        """The finding about a layer that gets another width than it takes."""
        from .refused import beside_related, claim_of, fitting, made_related

        given, taken, made = refused.given, refused.taken, refused.layer
        site = refused.site
        assert site.function is not None
        owner = site.function.owner
        assert given is not None
        assert taken is not None
        related = list(made_related(refused) if refused.before is None else beside_related(refused, refused.before))
        if made is not None and made.value is not site.value:
            related.append(Related(made.place, f"expects {taken.described} {refused.kind}"))
        fix, written = fitting(refused) if can_be_fixed else (None, "")
        return self.finding(
            site.place,
            _message(refused, given, taken),
            symbol=f"{site.function.qualname}.{site.name.removeprefix('self.')[:40]}",
            confidence=Confidence.MEDIUM if refused.doubt else Confidence.HIGH,
            severity=severity,
            evidence=(_evidence(refused, given, taken),),
            related=[*related, *(Related(*one) for one in refused.calls)],
            help=f"write `{written}`, which fits" if written else "make the widths agree",
            fix=fix,
            claim=None if severity is Severity.INFO and refused.doubt else claim_of(refused),
            cause="" if owner is None else f"{site.module.path} {owner.qualname} {given} {taken}",
        )

    def _division_finding(self, refused: queries.RefusedOperation, severity: Severity) -> Finding:
        """The finding about a constructor that divides a width and leaves a remainder."""
        from .refused import refused_division

        site, width, parts = refused.site, refused.given, refused.taken
        assert site.function is not None
        assert width is not None
        assert parts is not None
        name = site.name.rpartition(".")[2]
        return self.finding(
            site.place,
            f"`{name}` cannot divide {width.described} features by {parts.described}",
            symbol=f"{site.function.qualname}.{name}",
            confidence=Confidence.HIGH,
            severity=severity,
            evidence=("the constructor raises an error" + (" by default" if severity is not Severity.ERROR else ""),),
            help="choose a number that divides the width",
            claim=refused_division(site),
        )


def _claim_with_numbers(found: recipes.RefusedNumber) -> claims.Refused | None:
    """The claim that torch refuses the class with the numbers of a configuration; None if other things decide, too."""
    from .refused import claim_of

    given = () if found.made is None or found.made is not found.item else recipes.Queries.written_numbers(found.item)
    claim = claim_of(found.refused) if given else None
    return None if claim is None else replace(claim, given=given)


def _is_of_another_file(refused: queries.RefusedOperation) -> bool:
    """True if both the layer and what decides the width that it gets are made in another file, which is told there.

    Where this file calls one layer with the result of another one, it is told here.
    """
    if refused.before is not None or (refused.call is not None and refused.call.value is not refused.site.value):
        return False
    deciding = [one.site.module for one in refused.made if str(refused.given) in one.sizes]
    home = None if refused.layer is None else refused.layer.module
    return home is not None and home is not refused.site.module and bool(deciding) and set(deciding) == {home}


def _message(refused: queries.RefusedOperation, given: Size, taken: Size) -> str:
    is_part = any(step.value is refused.site.value for step in refused.steps)
    name = f"`{refused.name}` of `{refused.site.name}`" if is_part else f"`{refused.name}`"
    shown = f"{name} expects {taken.described} {refused.kind}"
    if refused.before is not None:
        return f"{shown}, but `{refused.before.name}` expects {given.described} of the same tensor: `{refused.left}`"
    if _are_equal_by_default(given, taken):
        return f"{shown}, and gets {given.described} only by default"
    factor = gcd(*(number for _, number in given.terms)) if given.constant is None else 1
    if factor > 1 and taken.constant is not None and taken.constant % factor:
        return f"{shown}, but gets a multiple of {factor}: its input has shape `{refused.left}`"
    shape = "" if refused.left == f"[*, {given}]" else f": its input has shape `{refused.left}`"
    return f"{shown}, but gets {given.described}{shape}"


def _are_equal_by_default(given: Size, taken: Size) -> bool:
    return not (given - taken).constant and given.number is not None and given.number == taken.number


def _evidence(refused: queries.RefusedOperation, given: Size, taken: Size) -> str:
    if refused.doubt == "side":
        return "the widths fit on the other side of a condition"
    if refused.before is not None:
        return "both layers are called with the same tensor, which has one width"
    if given.number is None and taken.number is None and (given - taken).constant is None:
        return "both layers go from one parameter to the other: swap the parameters of the second"
    if not _are_equal_by_default(given, taken):
        return "the widths differ" + ("" if (given - taken).constant or not (given - taken).symbols else " by default")
    return "the widths are equal only by default"
