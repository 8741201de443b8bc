"""ML101: an embedding whose number of rows is a feature dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, python_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.flow import queries
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.recipes import queries as recipes
    from modellint.rule import Probe, Project

    from .exchanged import Exchanged
    from .held import Held
    from .sizing import Sizing


_RIGHT_TABLE = "use a linear layer for features, or give the table as many rows as there are ids"


class EmbeddingSizedByFeatures(Rule):
    """An `nn.Embedding` has as many rows as its input has features

    ## What it does
    Reports embeddings, in code and in recipes, whose number of rows is the width of the features that index them, or
    the width of the model, rather than a number of ids. In code, the rule reports a table only if there is proof, for
    example:

    - real numbers of that width index the table
    - the documented shape of the input ends in that dimension
    - a layer takes the same tensor with the same number of features
    - the two sizes are swapped, in the constructor of the table or in a call that passes them on to it

    In a recipe, the key must both configure feature extraction and be the input width of another layer.

    ## Why is this bad
    Features are not ids. `nn.Embedding` raises an error for a floating point input. After a cast to `long`, it fails on
    the first value that is negative or not below the number of rows: `index out of range in self` on the CPU, a
    device-side assert (`srcIndex < srcSelectDimSize`) on a GPU.

    ## How to fix
    Project features with a linear layer. For ids, size the table by the vocabulary:

    ```python
    self.project = nn.Linear(n_features, width)
    self.embed = nn.Embedding(vocab_size, width)
    ```

    ## Confirming
    A run calls the layer that holds the table. The verdict is *confirmed* if features index the table, if the code runs
    only with the two sizes swapped, or if ids that the code allows have no row. It is *refuted* if ids reach each row
    and the code runs only with the sizes in this order. A swap is also *refuted* if `len(…)` counts the rows. The same
    holds if another layer takes as many features as the table has columns, and no layer takes as many as it has rows.
    Only Python files are run: a recipe does not say what indexes its tables.

    ## References
    - Amphion: `nn.Embedding(1583, …)` where 1583 is the feature dimension of the input
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML101"
    name = "embedding-sized-by-features"
    severity = Severity.ERROR
    requires = (
        "arguments",
        "evaluation",
        "lookups_in",
        "may_keep_layers",
        "may_keep_tables",
        "method",
        "mro",
        "run_of_lookups",
        "tables_given",
        "tables_made",
        "wholes",
    )
    about = ("torch.nn.Embedding",)
    takes_configs = True

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .exchanged import exchanged_sizes
        from .sizing import Sizing

        sizing = Sizing(module, project)
        seen: set[object] = set()
        for table in sizing.holders.tables:
            place = _place(table, module)
            if place not in seen:
                for finding in self._check_table(table, sizing, module, project):
                    seen.add(place)
                    yield finding
        for found in exchanged_sizes(module, project):
            if module.place(found.call) not in seen:
                seen.add(module.place(found.call))
                yield self._exchange_finding(found, module)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from .shapes import COUNTS_IDS
        from .tables import tables_of

        for table, rows, uses in tables_of(recipe, project):
            if len(uses) > 1 and not COUNTS_IDS.search(rows.path):
                yield self._in_recipe(table, rows, uses)

    def probe(self, claim: claims.SizedByWidth, project: Project) -> Probe | None:
        """Run the layer that holds the table with the input that is documented for it."""
        return python_probe(claim)

    def _exchange_finding(self, found: Exchanged, module: ModuleFacts) -> Finding:
        """The finding about a call that passes the rows of a table for its columns, and its columns for the rows."""
        (_, first), (_, second) = found.arguments
        home, callee = found.constructor.module, module.text_of(found.call.callee)
        return self.finding(
            module.place(found.call),
            f"`{second}` and `{first}` are swapped in the call of `{callee}`",
            symbol=found.call.target or callee,
            confidence=Confidence.HIGH,
            evidence=("each has the name of the other parameter, and both size a table",),
            related=(Related(home.place(found.table), "they size this table"),),
            help="swap them, or pass them by name",
            fix=edits.exchanged(found.call, *found.arguments, module),
        )

    def _in_recipe(self, table: recipes.Item, rows: recipes.Item, uses: list[tuple[str, recipes.Item, str]]) -> Finding:
        written = table.recipe.argument(table.node, "num_embeddings")
        return self.finding(
            table.recipe.place(table.node.span if written is None else written.key.span),
            f"`{table.path}` has `{rows.path}` rows, a feature dimension",
            symbol=table.path,
            confidence=Confidence.MEDIUM,
            evidence=[text for text, _, _ in uses],
            related=[Related(item.recipe.place(item.node.span), message) for _, item, message in uses],
            help=_RIGHT_TABLE,
        )

    def _check_table(self, table: Held, sizing: Sizing, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        rows = table.rows.size
        if rows is not None and rows.constant in (0, 1, 2):
            return
        from .evidence import sized_by_features, swapped_sizes

        evidence = list(swapped_sizes(table, sizing))
        is_swapped = bool(evidence)
        call = _made_in(table, module)
        fix = None
        if is_swapped and table.is_written_here:
            fix = edits.swapped(call.value, "num_embeddings", "embedding_dim", module)
        if rows is not None:
            evidence += sized_by_features(table, rows, sizing, module, project)
        strong = [item for item in evidence if item.is_strong]
        if not strong and len({item.text for item in evidence}) < 2:
            return

        function = sizing.holders.constructor(table) or call.function
        owner = None if function is None else function.owner
        chosen = list({item.text: item for item in (*strong, *evidence)}.values())
        callee, named = module.text_of(call.value.callee), table.rows.text
        message, advice = f"`{callee}` has `{named}` rows, a feature dimension", _RIGHT_TABLE
        if is_swapped:
            message = f"the arguments of `{callee}` are swapped: it has `{named}` rows"
            advice = "swap them: the number of ids comes first, the width second"
        yield self.finding(
            call.place,
            message,
            symbol=f"{owner.name}.{table.attribute}" if owner and table.attribute else call.value.target or named,
            confidence=Confidence.HIGH if strong else Confidence.MEDIUM,
            evidence=[item.text for item in chosen],
            related=[item.related for item in chosen if item.related is not None],
            help=advice,
            fix=fix,
            claim=claims.SizedByWidth(call.place, fix is not None),
        )


def _made_in(table: Held, module: ModuleFacts) -> queries.Site:
    """The call in a file that makes a table, itself or by a function of another file."""
    return table.made if table.made.module is module else table.call


def _place(table: Held, module: ModuleFacts) -> Place:
    return _made_in(table, module).place
