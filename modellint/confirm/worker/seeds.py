"""Random numbers that are the same in each run."""

from __future__ import annotations

import torch


def seed_generators(number: int) -> None:
    """Seed torch's generators, those of a GPU only once it is in use.

    `torch.manual_seed` also queues the seed for devices that nothing has initialised yet, with a stack trace for each:
    most of its time. A generator that is made later begins with the same seed in each process.
    """
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
