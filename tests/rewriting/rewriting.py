"""What a rewriting is, and how one is made of a codemod."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

import libcst as cst

from rewriting.marks import Files

#: Rewrites a project; None where there is nothing to rewrite.
Rewrite: TypeAlias = Callable[[Files], "dict[str, str] | None"]


class Kind(Enum):
    """How far a rewriting goes from what was written."""

    #: The same syntax tree: only blanks, brackets, comments and line breaks differ.
    LAYOUT = "layout"
    #: Another syntax tree that says the same in the same place.
    SYNTAX = "syntax"
    #: The same values, by another way.
    MOVE = "move"
    #: The same nodes of YAML.
    RECIPE = "recipe"
    #: Other nodes, of which HyperPyYAML makes the same.
    RECIPE_MOVE = "recipe, moved"
    #: The code beside a recipe: how it loads the recipe, and what it does with it.
    SCRIPT = "script"


@dataclass(frozen=True)
class Rewriting:
    """One way to say the same thing differently, named in words."""

    name: str
    kind: Kind
    rewrite: Rewrite
    #: The beginnings of codes for whose examples the meaning stays the same, if not for all.
    only: tuple[str, ...] = ("ML1", "ML2", "ML3", "ML5", "ML7")


@lru_cache(maxsize=4096)
def parsed(text: str) -> cst.Module | None:
    """The concrete syntax tree of Python code; None if it is broken."""
    try:
        ast.parse(text)
        return cst.parse_module(text)
    except (SyntaxError, ValueError, cst.ParserSyntaxError):
        return None


def each_module(change: Callable[[cst.Module], cst.Module]) -> Rewrite:
    """A rewriting of each Python file by itself, which is remembered: examples share files."""

    @lru_cache(maxsize=512)
    def again(text: str) -> str:
        module = parsed(text)
        return text if module is None else change(module).code

    def rewrite(files: Files) -> dict[str, str] | None:
        result = dict(files)
        for path, text in files.items():
            if path.endswith(".py"):
                result[path] = again(text)
        return changed(files, result)

    return rewrite


def codemod(transformer: Callable[[], cst.CSTTransformer]) -> Rewrite:
    """A rewriting by a transformer, a new one for each Python file."""
    return each_module(lambda module: module.visit(transformer()))


def changed(before: Files, after: dict[str, str]) -> dict[str, str] | None:
    """The files after a rewriting, None if it left them as they were."""
    return None if dict(before) == after else after


def in_turn(*rewrites: Rewrite) -> Rewrite:
    """One rewriting after the other; None if any of them finds nothing to rewrite in all."""

    def rewrite(files: Files) -> dict[str, str] | None:
        result = dict(files)
        for each in rewrites:
            result = each(result) or result
        return changed(files, result)

    return rewrite
