"""All rewritings."""

from __future__ import annotations

from rewriting import (
    arguments,
    carriers,
    classes,
    containers,
    helpers,
    imports,
    layout,
    names,
    operators,
    recipe_moves,
    recipes,
    scripts,
    steps,
)

REWRITINGS = (
    *layout.REWRITINGS,
    *imports.REWRITINGS,
    *names.REWRITINGS,
    *operators.REWRITINGS,
    *arguments.REWRITINGS,
    *steps.REWRITINGS,
    *helpers.REWRITINGS,
    *classes.REWRITINGS,
    *containers.REWRITINGS,
    *carriers.REWRITINGS,
    *recipes.REWRITINGS,
    *recipe_moves.REWRITINGS,
    *scripts.REWRITINGS,
)
