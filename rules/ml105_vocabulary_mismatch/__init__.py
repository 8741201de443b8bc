"""ML105: two places that must agree on the size of a vocabulary do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.size import excess
from modellint.graph.value import Op
from modellint.link.recipes import queries as recipes
from modellint.rule import Rule, python_probe, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.rule import Probe, Project

    from .late import Late, Unresized
    from .vocabularies import Growth, Tie


class VocabularyMismatch(Rule):
    """Two parts that share a vocabulary have different sizes

    ## What it does
    Compares the sizes of

    - layers that share their weight (`head.weight = embed.weight`)
    - a table and the tokenizer that gives its size, if the same function, or one that it calls, adds tokens: it reads
      `len(tokenizer)` before `add_tokens`, or `tokenizer.vocab_size`, which never counts added tokens
    - a model and its tokenizer, if code resizes the model before it adds the tokens, also in other files
    - in a recipe, the output layer of a beam searcher and what scores the same ids (the CTC layer, a language model)
    - in a recipe with one tokenizer and one such output layer, the two: a tokenizer with more tokens is a mistake

    A model from a checkpoint that gets ids of added tokens, and that nothing resizes, is a warning if the same code
    trains the model, else an info. `additional_special_tokens=…` adds tokens to a tokenizer, too.

    ## Why is this bad
    Tied layers of different sizes share the weight of one of them. A bias, a loss or a checkpoint for the size of the
    other no longer fits. An added token has no row in a table that was created without it. The first text that contains
    the token fails with `index out of range in self` on the CPU and `device-side assert triggered` on a GPU.

    ## How to fix
    Use one value for both sizes. Add tokens first, then create or resize the table:

    ```python
    tokenizer.add_tokens(["<laugh>"])
    model.resize_token_embeddings(len(tokenizer))
    ```

    ## Confirming
    A run builds both layers and compares their numbers of ids. If modellint has to assume arguments, the sizes must
    differ for each of several choices, also if all assumed numbers are equal. A function that adds tokens gets a
    stand-in tokenizer with 100 ids, which counts the added tokens. For a recipe, a run compares the last linear layers
    of both parts.

    ## References
    - [Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859)
    """

    code = "ML105"
    name = "vocabulary-mismatch"
    severity = Severity.WARNING
    requires = (
        *("disagreements", "id_layer", "id_layer_returned", "imported", "made_objects", "size_place"),
        *("written_numbers", "written_size"),
    )
    about = ("torch.nn.Embedding",)
    takes_configs = True

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .late import added_late, unresized_models
        from .vocabularies import Vocabularies

        for cls in module.classes.values():
            for tie in project.of(Vocabularies).declared(cls):
                yield self._tie_finding(tie, project, is_declared=True)
        for tie in project.of(Vocabularies).ties(module):
            yield self._tie_finding(tie, project, is_declared=False)
        for function in (*module.all_functions(), module.body):
            told: set[queries.Site] = set()
            for growth in project.of(Vocabularies).growths(function):
                told.add(growth.size)
                yield self._growth_finding(growth)
            for size in project.of(Vocabularies).open_sizes(function):
                if size not in told:
                    yield self._uncounted_finding(size)
            for late in added_late(function, project):
                yield self._late_finding(late, module)
            for found in unresized_models(function, project):
                yield self._unresized_finding(found, module)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        for search, head, other in recipes.about(recipe, project).disagreements():
            smaller, larger = sorted((head, other), key=lambda sized: sized.number)
            if smaller.item.recipe is not recipe:
                continue
            yield self.finding(
                smaller.place,
                f"`{smaller.item.path}` has {smaller.described} ids, but `{larger.item.path}` has {larger.described}",
                symbol=smaller.item.path,
                confidence=Confidence.HIGH if other.item.kind.value == "!new" else Confidence.MEDIUM,
                evidence=(f"`{search.item.path}` draws ids from `{head.item.path}`",),
                related=(
                    Related(larger.place, f"`{larger.item.path}` is sized here"),
                    Related(search.item.place, "they meet here"),
                ),
                help="size both by the same key",
                claim=claims.SizesDiffer(smaller.place, head.item.path, other.item.path),
            )

        from .vocabularies import Vocabularies

        asked = recipes.about(recipe, project)
        for item, cls in asked.made_objects():
            constructor = cls.methods.get("__init__")
            for first, second, tied in project.of(Vocabularies).pairs_in(cls) if constructor is not None else ():
                assert constructor is not None
                if excess(first.rows, second.rows) is not None or excess(second.rows, first.rows) is not None:
                    continue
                sizes = [(asked.written_size(layer.rows, item, constructor), layer) for layer in (first, second)]
                known = sorted(((size, layer) for size, layer in sizes if size is not None), key=lambda pair: pair[0])
                if len(known) == 2 and known[0][0] < known[1][0]:
                    yield self._written_finding(item, known[0], known[1], tied, cls, asked)

    def _written_finding(
        self,
        item: recipes.Item,
        smaller: tuple[int, queries.IdLayer],
        larger: tuple[int, queries.IdLayer],
        tied: queries.Site,
        owner: Class,
        asked: recipes.Queries,
    ) -> Finding:
        """The finding about an object whose arguments give layers that share a weight two sizes."""
        places, given = (smaller[1].made.place, larger[1].made.place), asked.written_numbers(item)
        return self.finding(
            asked.size_place(smaller[1].rows, item),
            f"`{item.path}` shares the weight of a layer for {smaller[0]} ids with one for {larger[0]}",
            symbol=item.path,
            confidence=Confidence.HIGH,
            evidence=(f"`{tied.module.text_of(tied.value)}` ties their weights",),
            related=(
                Related(places[0], f"this layer has {smaller[0]} rows"),
                Related(places[1], f"this layer has {larger[0]} rows"),
                Related(tied.place, "the weights are tied here"),
            ),
            help="size both by the same key",
            claim=claims.Tied(places[0], places[1], tied.place, owner.qualname, False, given) if given else None,
        )

    def probe(self, claim: claims.SizesDiffer | claims.Tied | claims.Outgrown, project: Project) -> Probe | None:
        """Build both sides and compare their sizes; or call the function that adds tokens, and count rows and ids."""
        if isinstance(claim, claims.SizesDiffer):
            return recipe_probe(claim, project)
        return python_probe(claim, claim.tie if isinstance(claim, claims.Tied) else None)

    def _tie_finding(self, tie: Tie, project: Project, *, is_declared: bool) -> Finding:
        """A finding about a tie that a function makes, or that a class declares for its base to make."""
        smaller, larger = tie.smaller, tie.larger
        is_of_ids = smaller.is_table or larger.is_table
        what, of = ("is made for", "ids") if is_of_ids else ("gives", "features")
        place, other, tied = smaller.made.place, larger.made.place, tie.tied.place
        return self.finding(
            place,
            f"this layer {what} {smaller.rows.described} {of}, but shares its weight with one that {what} "
            f"{larger.rows.described}",
            symbol=smaller.made.name,
            severity=Severity.INFO if queries.is_trial_site(tie.tied, project) else None,
            confidence=Confidence.HIGH if tie.is_proved else Confidence.MEDIUM,
            evidence=(f"`{tie.tied.module.text_of(tie.tied.value)}` ties their weights",),
            related=(
                Related(other, "the other layer is made here"),
                Related(tied, "the weights are tied here"),
            ),
            help="size both layers by the same value",
            claim=None
            if tie.owner is None
            else claims.Tied(place, other, tie.at.place, tie.owner.qualname, is_declared),
        )

    def _growth_finding(self, growth: Growth) -> Finding:
        size, module, tokenizer = growth.size, growth.size.module, growth.tokenizer
        place, table = size.place, growth.table.place
        added = module.text_of(growth.event.value.callee)
        text = module.text_of(size.value)
        counts = "never counts added tokens" if size.value.op.value == "attr" else "is taken before they are added"
        return self.finding(
            place,
            f"`{text}` does not count the tokens that `{added}(…)` adds: their ids have no row",
            symbol=text,
            confidence=Confidence.MEDIUM if growth.event.guard is None else Confidence.LOW,
            evidence=(f"`{text}` {counts}", "nothing resizes the table afterwards"),
            related=(
                Related(module.place(growth.event.value), "tokens are added here"),
                Related(table, "the table"),
            ),
            help="add the tokens first, and size the table by `len` of the tokenizer",
            claim=claims.Outgrown(place, str(tokenizer.data), table) if tokenizer.op is Op.PARAM else None,
        )

    def _uncounted_finding(self, size: queries.Site) -> Finding:
        """A finding about a tensor for the tokens of any published tokenizer that leaves out the added ones."""
        text = size.module.text_of(size.value)
        return self.finding(
            size.place,
            f"`{text}` does not count added tokens, which many published tokenizers have: their ids have no element",
            symbol=text,
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
            evidence=("which tokenizer is loaded is open here, and ids of its tokens index the tensor",),
            help="size the tensor by `len` of the tokenizer",
        )

    def _late_finding(self, late: Late, module: ModuleFacts) -> Finding:
        """A finding about tokens that are added once the model was made as large as its tokenizer was."""
        resized, added = module.text_of(late.resized.callee), module.text_of(late.added.callee)
        return self.finding(
            module.place(late.resized),
            f"`{resized}` resizes the table to the tokenizer, and `{added}` adds tokens to the tokenizer afterwards",
            symbol=resized,
            confidence=Confidence.MEDIUM,
            evidence=("nothing resizes the table after that: the ids of the new tokens have no row",),
            related=(Related(module.place(late.added), "tokens are added here"),),
            help="add the tokens first, and resize the table afterwards",
        )

    def _unresized_finding(self, found: Unresized, module: ModuleFacts) -> Finding:
        """A finding about a model that is fed by a tokenizer with more tokens than it was published with."""
        loaded, added = module.text_of(found.model.callee), module.text_of(found.added.callee)
        return self.finding(
            module.place(found.model),
            f"the model has rows for the tokens of its checkpoint, but `{added}` adds more to its tokenizer",
            symbol=loaded,
            severity=None if found.is_trained else Severity.INFO,
            confidence=Confidence.MEDIUM,
            evidence=(
                "nothing resizes its table: unless the checkpoint has spare rows, the ids of new tokens have none",
            ),
            related=(
                Related(module.place(found.added), "tokens are added here"),
                Related(module.place(found.fed), "the tokenizer feeds the model here"),
            ),
            help="call `resize_token_embeddings(len(tokenizer))` after the tokens are added",
        )
