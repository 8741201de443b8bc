"""All rewritings."""

from __future__ import annotations

from rewriting import layout

REWRITINGS = (*layout.REWRITINGS,)
