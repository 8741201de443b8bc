"""The names of the queries, which rules require before anything of the engine is imported."""

#: The queries about a file, by the names that rules require them by: the methods of `Queries`.
QUERIES = (
    "callers",
    "calls",
    "children",
    "constructed",
    "constructions",
    "dropped_calls",
    "lookups",
    "lost",
    "operand",
    "reaches",
    "registers",
    "state",
    "stores",
    "theory",
)
