"""Shapes of tensors: an algebra of symbolic sizes, transfer functions of operators, and the theory that runs them.

A shape is `[batch, 64, 7, 7]`: a number or a sum of products of symbols for each dimension, `?` where it is not known;
`*` stands for dimensions of unknown number. Two unlike symbols may be equal, so they never contradict each other.

Begin with `shape.py`, then `theory.py`.
It imports `flow/`, `flow/library/`, `frontends/`, `graph/`, `knowledge/`, `link/`, `link/calls/`, `link/classes/`,
`link/values/`, `operators/`, `source.py`.
"""
