"""Configurations of LightningCLI and of other programs that parse their arguments with jsonargparse.

Begin with `checking.py`, which compares the nodes of a file with the types that they are parsed as; `parameters.py`
knows the parameters of a class as jsonargparse resolves them, `programs.py` the keys of a program, and `loading.py`
the program that loads a file. The facts come from jsonargparse 4.53, and the tests compare the answers with it.
It imports `edits/`, `frontends/`, `graph/`, `knowledge/`, `link/`, `link/classes/`, `link/recipes/`, `source.py`.
"""
