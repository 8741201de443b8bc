"""Dialects of configurations: how their files are written, and what the loader of each makes of them.

Begin with `description.py` (the dialects), `hydra.py` (what Hydra composes) and `omegaconf.py` (objects and `${…}`);
`apps.py` finds programs, `placing.py` the files that they compose, and `reading.py` runs one with its configuration.
`openmmlab.py` composes configurations in Python, and `registries.py` knows the names in them.
It imports `edits/`, `flow/`, `frontends/`, `graph/`, `knowledge/`, `link/`, `link/classes/`, `link/recipes/`,
`source.py`.
"""
