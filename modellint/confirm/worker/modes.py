"""The base of the dispatch modes that observe operators."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class ObservingMode(TorchDispatchMode):
    """A dispatch mode that torch does not wrap for `torch.compile`.

    The wrapper imports `torch._dynamo` with the first operator, which takes as long as torch itself, and slows down
    each other one.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
