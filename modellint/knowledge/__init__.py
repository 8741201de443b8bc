"""Compact facts about `torch.nn` and `speechbrain`, for when neither can be read.

The facts were extracted by our own frontend (`python -m modellint.knowledge.regenerate`) and are loaded when somebody
asks.
"""

from __future__ import annotations


def canonical(name: str) -> str:
    """The public name of what `name` stands for: `torch.nn.modules.sparse.Embedding` is `torch.nn.Embedding`."""
    parts = name.split(".")
    if parts[:2] == ["torch", "nn"] and not parts[-1].startswith("_"):
        if parts[2:3] == ["modules"] and len(parts) >= 5:
            return ".".join(["torch", "nn", *parts[4:]])
        if parts[2:3] == ["parameter"] and len(parts) >= 4:
            return ".".join(["torch", "nn", *parts[3:]])
    return name


def knows(name: str) -> bool:
    """Whether the facts describe the class called `name`."""
    return name.startswith("torch.nn.")
