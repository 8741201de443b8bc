"""Published models and checkpoints, read as data: headers, indices, opcodes of pickles, documents of JSON.

A rule gets a `ModelFolder`, which reads a part when it is asked for it. Nothing is unpickled, imported or executed, and
no tensor is read. Unknown is None or empty: a rule reports nothing about it.

Begin with `folder.py`, then `tensors.py`; `jsons.py` finds the place of a key.
It imports `graph/`, `lazy.py`, `reading/`, `source.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.lazy import lazily

if TYPE_CHECKING:
    from modellint.folders.folder import ModelFolder as ModelFolder
    from modellint.folders.folder import tensors_at as tensors_at
    from modellint.folders.jsons import Json as Json
    from modellint.folders.opcodes import Refusal as Refusal
    from modellint.folders.opcodes import Refused as Refused
    from modellint.folders.pickles import Checkpoint as Checkpoint
    from modellint.folders.shards import Index as Index
    from modellint.folders.tensors import Tensor as Tensor
    from modellint.folders.tensors import Trouble as Trouble
    from modellint.folders.tensors import Weights as Weights
    from modellint.reading.model_folders import PIPELINE as PIPELINE
    from modellint.reading.model_folders import SENTENCES as SENTENCES
else:
    __getattr__ = lazily(
        __name__,
        {
            ".folder": "ModelFolder tensors_at",
            ".jsons": "Json",
            ".opcodes": "Refusal Refused",
            ".pickles": "Checkpoint",
            ".shards": "Index",
            ".tensors": "Tensor Trouble Weights",
            "modellint.reading.model_folders": "PIPELINE SENTENCES",
        },
    )
