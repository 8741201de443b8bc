"""Configurations in an editor: completion, definitions, references and texts about what is at a place.

Nothing here knows the protocol. A file that is being typed is made valid first, and read as the program would read it.

Begin with `cursor.py`, which says where the cursor is; `completion.py` and `about.py` answer.
It imports `dialects/`, `flow/`, `frontends/`, `graph/`, `knowledge/`, `link/`, `link/classes/`, `link/recipes/`,
`source.py`.
"""
