"""The formats of maps: one module for each, with a function `lines`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.mapping.model import Map
    from modellint.reporters import View


def render(output_format: str, chart: Map, view: View) -> str:
    """The map in one of the formats, ready to be written."""
    lines: Iterator[str] = import_module(f"modellint.mapping.{output_format}").lines(chart, view)
    return "".join(f"{line}\n" for line in lines)
