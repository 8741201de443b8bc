"""Builds one of the twins and calls it once, as somebody would who tries it: an entry point for other tools.

python call.py NAME
"""

from __future__ import annotations

import sys

import models
import torch

#: What each parameter of a `forward` is given.
INPUTS = {
    "hidden": lambda: torch.randn(2, 5, 16),
    "frames": lambda: torch.randn(2, 5, 16),
    "mels": lambda: torch.randn(2, 20, 5),
    "input_ids": lambda: torch.arange(10).reshape(2, 5) + 20,
    "labels": lambda: torch.randint(10, (2,)),
    "mask": lambda: torch.ones(2, 5, dtype=torch.bool),
}


def main() -> None:
    """Call the model that the command line names, with everything that its `forward` takes."""
    model = getattr(models, sys.argv[1])()
    code = model.forward.__code__
    model(**{name: INPUTS[name]() for name in code.co_varnames[1 : code.co_argcount]})


if __name__ == "__main__":
    main()
