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

#: The rewritings of each module.
ROOMS = {
    "layout": layout.REWRITINGS,
    "imports": imports.REWRITINGS,
    "names": names.REWRITINGS,
    "operators": operators.REWRITINGS,
    "arguments": arguments.REWRITINGS,
    "steps": steps.REWRITINGS,
    "helpers": helpers.REWRITINGS,
    "classes": classes.REWRITINGS,
    "containers": containers.REWRITINGS,
    "carriers": carriers.REWRITINGS,
    "recipes": recipes.REWRITINGS,
    "recipe_moves": recipe_moves.REWRITINGS,
    "scripts": scripts.REWRITINGS,
}
REWRITINGS = tuple(rewriting for room in ROOMS.values() for rewriting in room)
