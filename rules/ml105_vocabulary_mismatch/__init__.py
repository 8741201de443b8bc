"""ML105: two places that must agree on the size of a vocabulary do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.value import Op
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.layers import Outgrown, Tied
    from modellint.claims.recipes import SizesDiffer
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.probes import Probe

    from .late import Late, Unresized
    from .vocabularies import Growth, Tie


class VocabularyMismatch(Rule):
    """Two places that must agree on the size of the vocabulary have different sizes

    ## What it does
    Compares layers that share their weight (`head.weight = embed.weight`), and tables that are sized by a tokenizer
    with the tokens that the same function, or one that it calls, adds to it: `len(tokenizer)` taken before
    `add_tokens`, and `tokenizer.vocab_size`, which does not count added tokens at all; and models that are resized to a
    tokenizer before it gets more tokens, also in functions of other files. Where nothing resizes a model of a
    checkpoint that such a tokenizer feeds, it says so as *info*. In recipes it compares the
    head of a searcher with what scores the same ids (the output layer for CTC, a language model) and with the tokens
    of the only tokenizer.

    ## Why is this bad
    Tied layers of different sizes keep the weight of one of them: a bias, a loss or a checkpoint that was made for the
    other no longer fits. The id of an added token has no row in a table that was sized without it: `index out of range
    in self`, or a device-side assert on a GPU, at the first text that contains the token.

    ## How to fix
    Size both places by the same value. Add tokens first, and size tables by `len(tokenizer)` afterwards, or resize the
    table by the number of tokens added.

    ## Confirming
    A run builds both layers and compares the ids that they are made for; numbers that had to be assumed must disagree
    in each of several choices, also where all sizes are equal. A function that adds tokens is given a tokenizer of 100
    ids that counts what is added. Of recipes the last linear layers of both sides are compared.

    ## References
    - [Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859)
    """

    code = "ML105"
    name = "vocabulary-mismatch"
    severity = Severity.WARNING

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .late import added_late, unresized_models
        from .vocabularies import Vocabularies

        for cls in module.classes.values():
            for tie in project.of(Vocabularies).declared(cls):
                yield self._tie_finding(tie, project, is_declared=True)
        for tie in project.of(Vocabularies).ties(module):
            yield self._tie_finding(tie, project, is_declared=False)
        for function in (*module.all_functions(), module.body):
            for growth in project.of(Vocabularies).growths(function):
                yield self._growth_finding(growth)
            for late in added_late(function, project):
                yield self._late_finding(late, module)
            for found in unresized_models(function, project):
                yield self._unresized_finding(found, module)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.claims.recipes import SizesDiffer
        from modellint.link.recipes.vocabularies import disagreements

        for search, head, other in disagreements(recipe, project):
            smaller, larger = sorted((head, other), key=lambda sized: sized.number)
            if smaller.item.recipe is not recipe:
                continue
            yield self.finding(
                smaller.place,
                f"`{smaller.item.path}` has {smaller.described} ids, but `{larger.item.path}` {larger.described}",
                symbol=smaller.item.path,
                confidence=Confidence.HIGH if other.item.kind.value == "!new" else Confidence.MEDIUM,
                evidence=(f"`{search.item.path}` draws ids of `{head.item.path}`",),
                related=(
                    Related(larger.place, f"`{larger.item.path}` is sized here"),
                    Related(search.item.place, "they meet here"),
                ),
                help="size both by the same key",
                claim=SizesDiffer(smaller.place, head.item.path, other.item.path),
            )

    def probe(self, claim: SizesDiffer | Tied | Outgrown, project: Project) -> Probe | None:
        """Build both sides and compare their sizes; or call the function that adds tokens, and count rows and ids."""
        from modellint.claims.layers import Tied
        from modellint.claims.recipes import SizesDiffer
        from modellint.probes import python_probe, recipe_probe

        if isinstance(claim, SizesDiffer):
            return recipe_probe(claim, project)
        return python_probe(claim, claim.tie if isinstance(claim, Tied) else None)

    def _tie_finding(self, tie: Tie, project: Project, *, is_declared: bool) -> Finding:
        """A finding about a tie that a function makes, or that a class declares for its base to make."""
        from modellint.claims.layers import Tied

        smaller, larger = tie.smaller, tie.larger
        is_of_ids = smaller.is_table or larger.is_table
        what, of = ("is made for", "ids") if is_of_ids else ("gives", "features")
        place, other, tied = smaller.made.place, larger.made.place, tie.tied.place
        return self.finding(
            place,
            f"this layer {what} {smaller.rows.described} {of}, but shares its weight with one that {what} "
            f"{larger.rows.described}",
            symbol=smaller.made.name,
            severity=Severity.INFO if _is_tried_out(tie, project) else None,
            confidence=Confidence.HIGH if tie.is_proved else Confidence.MEDIUM,
            evidence=(f"`{tie.tied.module.text_of(tie.tied.value)}` makes them share it",),
            related=(
                Related(other, "the other layer is made here"),
                Related(tied, "the weights are tied here"),
            ),
            help="size both layers by the same value",
            claim=None if tie.owner is None else Tied(place, other, tie.at.place, tie.owner.qualname, is_declared),
        )

    def _growth_finding(self, growth: Growth) -> Finding:
        from modellint.claims.layers import Outgrown

        size, module, tokenizer = growth.size, growth.size.module, growth.tokenizer
        place, table = size.place, growth.table.place
        added = module.text_of(growth.event.value.callee)
        text = module.text_of(size.value)
        counts = "never counts added tokens" if size.value.op.value == "attr" else "is taken before they are added"
        return self.finding(
            place,
            f"`{text}` does not count the tokens of `{added}(…)`: their ids have no row",
            symbol=text,
            confidence=Confidence.MEDIUM if growth.event.guard is None else Confidence.LOW,
            evidence=(f"`{text}` {counts}", "nothing resizes the table afterwards"),
            related=(
                Related(module.place(growth.event.value), "tokens are added here"),
                Related(table, "the table"),
            ),
            help="add the tokens first, and size the table by `len` of the tokenizer",
            claim=Outgrown(place, str(tokenizer.data), table) if tokenizer.op is Op.PARAM else None,
        )

    def _late_finding(self, late: Late, module: ModuleFacts) -> Finding:
        """A finding about tokens that are added once the model was made as large as its tokenizer was."""
        resized, added = module.text_of(late.resized.callee), module.text_of(late.added.callee)
        return self.finding(
            module.place(late.resized),
            f"`{resized}` makes the table as large as the tokenizer is, and `{added}` adds tokens to that afterwards",
            symbol=resized,
            confidence=Confidence.MEDIUM,
            evidence=("nothing resizes the table once the tokens are there: their ids have no row",),
            related=(Related(module.place(late.added), "tokens are added here"),),
            help="add the tokens first, and resize the table afterwards",
        )

    def _unresized_finding(self, found: Unresized, module: ModuleFacts) -> Finding:
        """A finding about a model that is fed by a tokenizer with more tokens than it was published with."""
        loaded, added = module.text_of(found.model.callee), module.text_of(found.added.callee)
        return self.finding(
            module.place(found.model),
            f"the model has rows for the tokens of its checkpoint, but is fed by a tokenizer that `{added}` gives more",
            symbol=loaded,
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
            evidence=(
                "nothing resizes its table: unless the checkpoint has spare rows, the ids of new tokens have none",
            ),
            related=(
                Related(module.place(found.added), "tokens are added here"),
                Related(module.place(found.fed), "both meet here"),
            ),
            help="call `resize_token_embeddings(len(tokenizer))` once the tokens are there",
        )


def _is_tried_out(tie: Tie, project: Project) -> bool:
    """True if a test or a demonstration makes the layers share their weight."""
    from modellint.link.calls.doubts import is_tried_out

    function = tie.tied.function
    events = () if function is None else (one for one in function.flow.events if one.value is tie.tied.value)
    return function is not None and any(is_tried_out(project, function, one) for one in events)
