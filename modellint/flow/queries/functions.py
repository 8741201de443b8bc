"""Queries about functions: the kinds of their parameters, and tests on arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.truth import truth_with
from modellint.link.classes.definitions import SourceMethod
from modellint.link.classes.handed import is_new

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.link.project import Project


def is_plain_parameter(name: str, function: Function, project: Project) -> bool:
    """True if a parameter takes numbers, strings and the like, by its annotation, its default or a docstring."""
    return name in SourceMethod(function, project.names).plain


def is_new_tensor(value: Value, function: Function, project: Project) -> bool:
    """True if a value of a function certainly is a tensor that is made on the default device, perhaps by a helper."""
    return is_new(value, function, project)


def outcome(test: Value, arguments: Mapping[str, object]) -> bool | None:
    """The outcome of a test where parameters have these constant values; None if it depends on anything else.

    `outcome(test, {"bias": False})` is False for the test `bias and width > 3`.
    """
    return truth_with(test, arguments)
