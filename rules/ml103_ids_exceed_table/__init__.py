"""ML103: ids drawn from a head with more classes than the table they index."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Fix, Related, Severity
from modellint.flow import queries
from modellint.graph.size import is_proved
from modellint.graph.value import self_attribute
from modellint.link.recipes import queries as recipes
from modellint.rule import Rule, python_probe, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.size import Size
    from modellint.rule import Probe, Project

    from .given import Given


class IdsExceedTable(Rule):
    """Ids from a head with more classes index a table with fewer rows

    ## What it does
    Follows ids from where they are drawn (`argmax`, `multinomial`, `topk`, `Categorical.sample`) to where they index an
    embedding or a codebook: through lists, concatenation, returns and calls of functions in other files. Reports the
    look-up if the head has more classes than the table has rows, unless a comparison, a clamp or a slice on the way
    keeps the extra ids out. An early exit (`if ids[0] == eos: break`) keeps that id out of the codebook that it tests,
    but not out of the others.

    If the constructor of a class gets the sizes, compares those that the calls of the project pass. A table whose
    output counts as scores has as many classes as columns: if it has not as many rows, its own ids have no row.

    Also reports guards that let one id too many through (`codes > rows`, `codes.clamp(0, rows)`), wherever the ids come
    from. In a recipe, compares the head that a searcher draws ids from with the table that they index.

    ## Why is this bad
    A vocabulary is often padded, or has extra ids for the end of a stream. Sooner or later the head predicts one of
    them. On a GPU, the look-up then fails with `device-side assert triggered`, reported at an unrelated line.

    ## How to fix
    Cut the logits to the rows of the table before you draw ids, drop the extra ids, or clamp them. A guard must reject
    the number of rows too: `codes >= rows`.

    ```python
    codes = logits[..., :rows].argmax(-1)
    ```

    ## References
    - mini-omni: a head over 4160 classes in front of a codec with 4096 rows
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML103"
    name = "ids-exceed-table"
    severity = Severity.ERROR
    requires = (
        *("constructed_anywhere", "imported", "lookups", "made_objects", "may_look_up", "searches", "size_place"),
        *("written_numbers", "written_size"),
    )
    takes_configs = True
    about = ("torch.nn.Embedding",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .given import beyond_rows
        from .guards import guarding_functions, rank, surplus

        nearest: dict[object, queries.Lookup] = {}
        undecided: dict[object, Given] = {}
        for lookup in queries.flow(module, project).lookups():
            extra = surplus(lookup)
            key = lookup.place, lookup.table
            if extra is not None and (key not in nearest or rank(lookup) < rank(nearest[key])):
                nearest[key] = lookup
            elif extra is None and not lookup.is_conditional and key not in undecided:
                given = beyond_rows(lookup, project)
                if given is not None:
                    undecided[key] = given
        for lookup in nearest.values():
            yield self._too_many_classes(lookup)
        yield from (self._too_many_given(given) for at, given in undecided.items() if at not in nearest)
        guarding = list(guarding_functions(module, project))
        if guarding:
            yield from self._wrong_guards(guarding, module, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        for search in recipes.about(recipe, project).searches():
            head, table = search.head, search.table
            if head is None or table is None or head.number <= table.number or search.item.recipe is not recipe:
                continue
            yield self.finding(
                search.item.place,
                f"`{search.item.path}` draws ids of {head.described} classes and looks them up in a table of "
                f"{table.described} rows",
                symbol=search.item.path,
                confidence=Confidence.HIGH,
                evidence=(f"ids go up to {head.number - 1}, the last row is {table.number - 1}",),
                related=(
                    Related(head.place, f"the head `{head.item.path}` has {head.number} classes"),
                    Related(table.place, f"the table `{table.item.path}` has {table.number} rows"),
                ),
                help="size the head and the table by the same key",
                claim=claims.RowsLacking(search.item.place, head.item.path, table.item.path),
            )

        from .written import written_beyond_rows

        for written in written_beyond_rows(recipe, project):
            item, lookup = written.item, written.lookup
            ids = lookup.element
            assert isinstance(ids, queries.Ids)
            related = [
                Related(lookup.table.place, f"the table has {written.rows} rows"),
                Related(ids.origin.place, "the ids are drawn here"),
                Related(lookup.place.place, "they are looked up here"),
            ]
            yield self.finding(
                written.place,
                f"`{item.path}` draws ids of {written.classes} classes and looks them up in a table of {written.rows} "
                "rows",
                symbol=item.path,
                confidence=Confidence.MEDIUM,
                evidence=(f"ids go up to {written.classes - 1}, the last row is {written.rows - 1}",),
                related=related,
                help="size the head and the table by the same key",
                claim=claims.IdsExceed(
                    lookup.place.place, "", written.rows, None if ids.head is None else ids.head.place, given
                )
                if (given := recipes.about(recipe, project).written_numbers(item))
                else None,
            )

    def probe(
        self, claim: claims.IdsExceed | claims.GuardAdmits | claims.RowsLacking, project: Project
    ) -> Probe | None:
        """Run the function with every id that it can draw, and with the one that a guard lets through.

        Of recipes the head and the table are built and compared.
        """
        if isinstance(claim, claims.RowsLacking):
            return recipe_probe(claim, project)
        return python_probe(claim, claim.lookup if isinstance(claim, claims.GuardAdmits) else None)

    def _too_many_classes(self, lookup: queries.Lookup) -> Finding:

        ids, rows = lookup.element, lookup.rows
        assert isinstance(ids, queries.Ids)
        assert rows is not None
        name = lookup.place.name
        confidence = Confidence.HIGH if is_proved(ids.bound, rows) else Confidence.MEDIUM
        related = [Related(lookup.table.place, f"the table has {rows.described} rows")]
        if ids.head is not None:
            related.append(Related(ids.head.place, f"the head has {ids.bound.described} classes"))
        related.append(Related(ids.origin.place, "the ids are drawn here"))
        related.extend(Related(step.place, "the ids are passed on here") for step in lookup.steps[1:-1])
        if len(lookup.steps) > 1:
            related.append(Related(lookup.steps[-1].place, "the ids are looked up here"))
        return self.finding(
            lookup.place.place,
            f"`{name}` looks up ids of {ids.bound.described} classes in a table of {rows.described} rows",
            symbol=name,
            confidence=Confidence.LOW if lookup.is_conditional else confidence,
            evidence=_evidence(ids.bound, rows, lookup),
            related=related,
            help=f"cut the logits to {rows.described} classes before ids are drawn, or drop larger ids",
            fix=None if lookup.codec is not None else _clamp_fix(rows, lookup),
            claim=claims.IdsExceed(
                lookup.place.place,
                "" if lookup.codec is None else lookup.codec.codec.name,
                rows.number or 0,
                None if ids.head is None else ids.head.place,
            ),
        )

    def _too_many_given(self, given: Given) -> Finding:
        """A finding about sizes that a call of the constructor decides, or about a table that is its own head."""
        lookup, made = given.lookup, given.made
        ids = lookup.element
        assert isinstance(ids, queries.Ids)
        name, is_own = lookup.place.name, ids.head is not None and ids.head == lookup.table
        related = [Related(lookup.table.place, f"the table has {given.rows} rows")]
        if ids.head is not None and not is_own:
            related.append(Related(ids.head.place, f"the head has {given.classes} classes"))
        if made is not None:
            related.append(Related(made.place, "the sizes are passed here"))
        related.append(Related(ids.origin.place, "the ids are drawn here"))
        drawn_from = "the table's own columns" if is_own else "the head's classes"
        return self.finding(
            lookup.place.place,
            f"`{name}` looks up ids of {given.classes} classes in a table of {given.rows} rows",
            symbol=name,
            severity=Severity.INFO if given.is_trial else Severity.WARNING if made is None else None,
            confidence=Confidence.MEDIUM,
            evidence=(f"the ids are drawn from {drawn_from}",),
            related=related,
            help="give the table as many columns as rows, or put a head of as many classes behind it"
            if is_own
            else "size the head and the table by the same value",
            claim=claims.IdsExceed(
                lookup.place.place,
                "",
                (lookup.rows.number if lookup.rows is not None else 0) or 0,
                None if ids.head is None else ids.head.place,
            ),
        )

    def _wrong_guards(self, functions: list[Function], module: ModuleFacts, project: Project) -> Iterator[Finding]:
        """`codes > rows` guards a table of `rows` rows: the id `rows` itself passes."""
        from .bounds import direct_limits, is_as_large
        from .guarded import Guarded
        from .guards import EXACT, admits_rows, letting_through, made_exact

        guarded = Guarded(functions, project)
        reported: set[object] = set()
        for indexed, event, function in guarded.lookups:
            size = partial(guarded.size, function=function)
            for compare, limit in direct_limits(indexed.index, event, module, project):
                if id(compare) not in reported and is_as_large(indexed.rows, limit, size):
                    reported.add(id(compare))
                    advice, fix = f"compare with `{EXACT[compare.data]}`", made_exact(compare, module)
                    at, use = queries.Site(compare, function), queries.Site(indexed.call, function)
                    yield self._guard(at, indexed.rows, indexed.table, use, advice, fix)
        for lookup, ids in guarded.clamped_lookups:
            guard, rows = letting_through(ids, module), lookup.rows
            if guard not in reported and rows is not None and admits_rows(ids.bound, rows):
                reported.add(guard)
                yield self._guard(guard, rows, lookup.table, lookup.place, f"clamp to {_last(rows)}", None)

    def _guard(
        self, guard: queries.Site, rows: Size, table: queries.Site, lookup: queries.Site, advice: str, fix: Fix | None
    ) -> Finding:

        text = guard.module.text_of(guard.value)
        return self.finding(
            guard.place,
            f"`{text}` lets the id {rows.described} through to a table of {rows.described} rows",
            symbol=text,
            confidence=Confidence.HIGH,
            evidence=(f"valid ids are 0 to {_last(rows)}",),
            related=(
                Related(lookup.place, "the ids are looked up here"),
                Related(table.place, f"the table has {rows.described} rows"),
            ),
            help=advice,
            fix=fix,
            claim=claims.GuardAdmits(guard.place, lookup.place),
        )


def _clamp_fix(rows: Size, lookup: queries.Lookup) -> Fix | None:
    """Limit the ids to the last row, where the call itself says which that is."""
    call, module = lookup.place.value, lookup.place.module
    if rows.number is not None:
        return edits.clamped(call, str(rows.number - 1), module)
    if len(lookup.steps) > 1 or self_attribute(call.args[0]) is None:
        return None
    return edits.clamped(call, f"{module.text_of(call.args[0])}.num_embeddings - 1", module)


def _last(rows: Size) -> str:
    return str(rows.number - 1) if rows.number is not None else f"{rows} - 1"


def _evidence(bound: Size, rows: Size, lookup: queries.Lookup) -> Iterator[str]:
    if bound.number is not None and rows.number is not None:
        yield f"ids go up to {bound.number - 1}, the last row is {rows.number - 1}"
    else:
        yield f"`{bound}` is larger than `{rows}`"
    if lookup.codec is not None:
        yield f"its codebooks have {rows.described} rows ({lookup.codec.source})"
    if lookup.way:
        yield f"the ids reach the table through {lookup.way}"
