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
    from modellint.folders.jinja import Template as Template
    from modellint.folders.jinja import read_template as read_template
    from modellint.folders.jsons import Json as Json
    from modellint.folders.labels import Head as Head
    from modellint.folders.labels import Labels as Labels
    from modellint.folders.labels import contradictions as contradictions
    from modellint.folders.labels import head_of as head_of
    from modellint.folders.labels import is_classifier as is_classifier
    from modellint.folders.labels import is_detector as is_detector
    from modellint.folders.labels import labels_of as labels_of
    from modellint.folders.labels import timm_head as timm_head
    from modellint.folders.opcodes import Refusal as Refusal
    from modellint.folders.opcodes import Refused as Refused
    from modellint.folders.pickles import Checkpoint as Checkpoint
    from modellint.folders.rows import Rows as Rows
    from modellint.folders.rows import class_rows as class_rows
    from modellint.folders.rows import has_codes as has_codes
    from modellint.folders.rows import hears_waveforms as hears_waveforms
    from modellint.folders.rows import part_rows as part_rows
    from modellint.folders.rows import table_rows as table_rows
    from modellint.folders.shards import Index as Index
    from modellint.folders.special_ids import OddValue as OddValue
    from modellint.folders.special_ids import SpecialId as SpecialId
    from modellint.folders.special_ids import generates as generates
    from modellint.folders.special_ids import ids_in as ids_in
    from modellint.folders.special_ids import odd_values as odd_values
    from modellint.folders.special_ids import place_ids as place_ids
    from modellint.folders.templates import ChatTemplate as ChatTemplate
    from modellint.folders.templates import OwnClass as OwnClass
    from modellint.folders.templates import chat_templates as chat_templates
    from modellint.folders.templates import defines as defines
    from modellint.folders.templates import own_classes as own_classes
    from modellint.folders.tensors import Tensor as Tensor
    from modellint.folders.tensors import Trouble as Trouble
    from modellint.folders.tensors import Weights as Weights
    from modellint.folders.tokenizers import ROLES as ROLES
    from modellint.folders.tokenizers import Token as Token
    from modellint.folders.tokenizers import Tokenizer as Tokenizer
    from modellint.folders.values import mapping_of as mapping_of
    from modellint.reading.model_folders import PIPELINE as PIPELINE
    from modellint.reading.model_folders import SENTENCES as SENTENCES
else:
    __getattr__ = lazily(
        __name__,
        {
            ".folder": "ModelFolder tensors_at",
            ".jinja": "Template read_template",
            ".jsons": "Json",
            ".labels": "Head Labels contradictions head_of is_classifier is_detector labels_of timm_head",
            ".opcodes": "Refusal Refused",
            ".pickles": "Checkpoint",
            ".rows": "Rows class_rows has_codes hears_waveforms part_rows table_rows",
            ".shards": "Index",
            ".special_ids": "OddValue SpecialId generates ids_in odd_values place_ids",
            ".templates": "ChatTemplate OwnClass chat_templates defines own_classes",
            ".tensors": "Tensor Trouble Weights",
            ".tokenizers": "ROLES Token Tokenizer",
            ".values": "mapping_of",
            "modellint.reading.model_folders": "PIPELINE SENTENCES",
        },
    )
