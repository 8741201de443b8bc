"""The registration map: every layer of a recipe or a class, where it is used, and if it is moved, trained and saved.

The map of a model folder tells its weights. Builders (`recipes`, `classes`, `folders`) read the linked project and give
a map; writers (`table`, `json`, `dot`, `mermaid`, `html`) give text. No writer looks into the project, no builder knows
a format.

Begin with `model.py`, which is what a map is.
It imports `config/`, `finding.py`, `flow/`, `flow/library/`, `folders/`, `frontends/`, `graph/`, `knowledge/`, `link/`,
`link/classes/`, `link/recipes/`, `reporters/`, `source.py`, `version.py`.
"""
