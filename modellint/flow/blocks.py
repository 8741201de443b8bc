"""The events of a body as a tree of loops and nested functions."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.graph.value import Flow, Loop, Nested


@dataclass(eq=False, slots=True)
class Block:
    """The events `first` to `last` (exclusive), of which the `parts` are loops and functions, in order."""

    first: int
    last: int
    loop: Loop | None = None
    #: True for the body of a nested function, which runs when it is called.
    is_function: bool = False
    parts: list[Block] = field(default_factory=list)


def body_block(flow: Flow) -> Block:
    """The tree of a function's events."""
    return _tree(Block(0, len(flow.events)), flow.loops, flow.nested)


def nested_block(flow: Flow, nested: Nested) -> Block:
    """The tree of a nested function's events."""
    inner = [other for other in flow.nested if other is not nested and _is_within(other, nested)]
    return _tree(Block(nested.first, nested.last), nested.loops, inner)


def _is_within(inner: Nested, outer: Nested) -> bool:
    """True if one function is nested in another."""
    return outer.first <= inner.first and inner.last <= outer.last


def _tree(root: Block, loops: Iterable[Loop], functions: Iterable[Nested]) -> Block:
    blocks = [Block(loop.first, loop.last, loop) for loop in loops]
    blocks.extend(Block(nested.first, nested.last, is_function=True) for nested in functions)
    blocks.sort(key=lambda block: (block.first, -block.last))
    open_blocks = [root]
    for block in blocks:
        while len(open_blocks) > 1 and not (
            block.first >= open_blocks[-1].first and block.last <= open_blocks[-1].last
        ):
            open_blocks.pop()
        if not open_blocks[-1].is_function:  # the loops of a function in a function are its own
            open_blocks[-1].parts.append(block)
            open_blocks.append(block)
    return root
