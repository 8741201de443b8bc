"""ML104: a constant id that the table it indexes has no row for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.size import Size, excess, is_proved
from modellint.graph.value import same
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.lookups import ConstantOutside, PaddingOutside
    from modellint.flow.lookups import Lookup
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.values.indexed import Made
    from modellint.probes import Probe


class ConstantIdOutsideTable(Rule):
    """A constant id lies outside of the table that it indexes

    ## What it does
    Compares `padding_idx` and the constants that are written into ids (`torch.full`, `new_full`, `F.pad`,
    `pad_sequence`, `masked_fill`, `torch.tensor([…])`, `ids[:, 0] = …`) with the rows of the table that those ids
    look up.

    ## Why is this bad
    An id at or above the number of rows, or below zero, fails with `index out of range in self` on the CPU and with
    `device-side assert triggered` on a GPU, on the first batch that needs padding. `padding_idx=-1` is taken for the
    last row by the table alone: an id of -1 still has no row.

    ## How to fix
    Give the constant a row of its own (one more row), or use an id that the vocabulary has.

    ## References
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML104"
    name = "constant-id-outside-table"
    severity = Severity.ERROR
    triggers = ("import",)
    bad = (
        Example(
            "A padding index that is the number of rows",
            {
                "config.py": """\
VOCAB_SIZE = 5000
PAD = 5000
""",
                "model.py": """\
from torch import nn

from config import PAD, VOCAB_SIZE


class TextEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(VOCAB_SIZE, width, padding_idx=PAD)  # expect: ML104

    def forward(self, ids):
        return self.embed(ids)
""",
            },
        ),
        Example(
            "Start tokens that have no row",
            {
                "config.py": """\
from dataclasses import dataclass


@dataclass
class Config:
    vocab_size: int = 1024
    width: int = 256
    bos_id: int = 1024
""",
                "model.py": """\
import torch
from torch import nn

from config import Config


class Decoder(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.width)  # expect: ML104
        self.rnn = nn.GRU(config.width, config.width)

    def forward(self, ids):
        start = torch.full((ids.size(0), 1), self.config.bos_id)
        return self.rnn(self.embed(torch.cat([start, ids], dim=1)))
""",
            },
        ),
        Example(
            "Ids padded with -1",
            {
                "collate.py": """\
from torch.nn.utils.rnn import pad_sequence


def collate(examples):
    return pad_sequence([example["ids"] for example in examples], batch_first=True, padding_value=-1)
""",
                "model.py": """\
from torch import nn

from collate import collate


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)  # expect: ML104

    def forward(self, examples):
        return self.embed(collate(examples))
""",
            },
        ),
        Example(
            "Frames shifted in with F.pad",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class CodecModel(nn.Module):
    pad_id = 2048

    def __init__(self, width=128):
        super().__init__()
        self.codes = nn.Embedding(2048, width)  # expect: ML104

    def forward(self, codes):
        shifted = F.pad(codes[:, :-1], (1, 0), value=self.pad_id)
        return self.codes(shifted)
""",
            },
        ),
        Example(
            "A mask token, filled in and made with new_full, in a table of a subclass",
            {
                "model.py": """\
from torch import nn


class Table(nn.Embedding):
    def __init__(self, rows, width):
        super().__init__(rows, width)


class MaskedModel(nn.Module):
    def __init__(self, width=64, vocab_size=1000):
        super().__init__()
        self.mask_id = vocab_size
        self.embed = Table(vocab_size, width)  # expect: ML104
        self.suffix = Table(vocab_size, width)  # expect: ML104

    def forward(self, ids, mask):
        masked = ids.masked_fill(mask, self.mask_id)
        return self.embed(masked) + self.suffix(ids.new_full((1, 4), self.mask_id + 1)).sum(1)
""",
            },
        ),
        Example(
            "A prompt that is written out",
            {
                "model.py": """\
import torch
from torch import nn


class Prompted(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.task = nn.Embedding(4, width)  # expect: ML104
        self.encoder = nn.GRU(width, width)

    def forward(self):
        prompt = torch.tensor([[0, 4]])
        return self.encoder(self.task(prompt))
""",
            },
        ),
        Example(
            "The last row is a row less than the constant",
            {
                "model.py": """\
from torch import nn


class Speakers(nn.Module):
    def __init__(self, n_speakers, width):
        super().__init__()
        self.unknown = n_speakers
        self.embed = nn.Embedding(n_speakers, width, padding_idx=n_speakers)  # expect: ML104

    def forward(self, speaker):
        return self.embed(speaker)


class Languages(nn.Module):
    def __init__(self, read, width):
        super().__init__()
        n_languages = len(read())
        self.embed = nn.Embedding(n_languages, width, n_languages)  # expect: ML104

    def forward(self, language):
        return self.embed(language)
""",
            },
        ),
        Example(
            "A start token that is the number of rows, whatever that is",
            {
                "model.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, n, config, width):
        super().__init__()
        self.bos = n
        self.config = config
        self.first = nn.Embedding(n, width)  # expect: ML104
        self.second = nn.Embedding(config.vocab_size, width)  # expect: ML104

    def forward(self, ids, mask):
        start = torch.full((2,), self.bos)
        return self.first(start) + self.second(ids.masked_fill(mask, self.config.vocab_size))
""",
            },
        ),
        Example(
            "Ids that are made where a caller gives none",
            {
                "model.py": """\
import torch
from torch import nn


class Segments(nn.Module):
    def __init__(self, n_segments, width):
        super().__init__()
        self.n_segments = n_segments
        self.embed = nn.Embedding(n_segments, width)  # expect: ML104

    def forward(self, ids, segments=None):
        if segments is None:
            segments = torch.full_like(ids, self.n_segments)
        return self.embed(segments)
""",
            },
        ),
        Example(
            "Labels padded for the loss, and looked up; and ids that padding shifts below the first row",
            {
                "model.py": """\
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, n_labels, width):
        super().__init__()
        self.labels = nn.Embedding(n_labels, width)  # expect: ML104
        self.words = nn.Embedding(n_labels, width)  # expect: ML104

    def pad(self, batch):
        return {
            "labels": pad_sequence(batch, padding_value=-100),
            "words": pad_sequence(batch, padding_value=0),
        }

    def forward(self, batch):
        padded = self.pad(batch)
        return self.labels(padded["labels"]) + self.words(padded["words"] - 1)
""",
            },
        ),
        Example(
            "A table that is made anew for how many ids there are",
            {
                "positions.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.register_buffer("table", self.made(width, rows))  # expect: ML104

    @staticmethod
    def made(width, rows):
        return torch.zeros(rows, width)

    def forward(self, ids):
        if len(ids) > self.table.shape[0]:
            self.register_buffer("table", self.made(self.table.shape[1], len(ids)))
        return self.table[ids]


def fifth():
    return Positions(8, 3)(torch.tensor([5]))
""",
            },
        ),
    )
    good = (
        Example(
            "The defaults of two configurations tell nothing about each other",
            {
                "config.py": """\
from dataclasses import dataclass


@dataclass
class TextConfig:
    vocab_size: int = 1000


@dataclass
class SpeechConfig:
    mask_id: int = 4096
""",
                "model.py": """\
from torch import nn

from config import SpeechConfig, TextConfig


class Text(nn.Module):
    def __init__(self, config: TextConfig, width):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, width)


class Speech(Text):
    def __init__(self, config: SpeechConfig, width):
        super().__init__(config, width)
        self.config = config

    def forward(self, ids, mask):
        return self.embed(ids.masked_fill(mask, self.config.mask_id))
""",
            },
        ),
        Example(
            "A buffer that is filled in later, and constants below the number of rows",
            {
                "model.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, n, config, width):
        super().__init__()
        self.last = n - 1
        self.pad = config.pad_token_id
        self.first = nn.Embedding(n, width)
        self.second = nn.Embedding(config.vocab_size, width)

    def forward(self, ids, mask):
        start = torch.full((2,), self.last)
        return self.first(start) + self.second(ids.masked_fill(mask, self.pad))
""",
            },
        ),
        Example(
            "One more row for the padding",
            {
                "config.py": """\
VOCAB_SIZE = 5000
PAD = VOCAB_SIZE
""",
                "model.py": """\
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from config import PAD, VOCAB_SIZE


class TextEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(VOCAB_SIZE + 1, width, padding_idx=PAD)

    def forward(self, texts):
        return self.embed(pad_sequence(texts, batch_first=True, padding_value=PAD))
""",
            },
        ),
        Example(
            "The last row, counted from the end, is kept for padding that is moved there",
            {
                "model.py": """\
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.pad = vocab_size - 1
        self.embed = nn.Embedding(vocab_size, width, padding_idx=-1)

    def forward(self, ids, mask):
        return self.embed(ids.masked_fill(mask, self.pad))
""",
            },
        ),
        Example(
            "Ids shifted by one before they are looked up",
            {
                "model.py": """\
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size + 1, width, padding_idx=0)

    def forward(self, texts):
        ids = pad_sequence(texts, batch_first=True, padding_value=-1)
        return self.embed(ids + 1)
""",
            },
        ),
        Example(
            "A filler that a mask takes out again",
            {
                "model.py": """\
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, texts):
        ids = pad_sequence(texts, batch_first=True, padding_value=-1)
        mask = ids == -1
        embedded = self.embed(ids.masked_fill(mask, 0))
        again = self.embed(torch.where(ids < 0, 0, ids)) + self.embed(ids.clamp(min=0))
        return embedded + again
""",
            },
        ),
        Example(
            "The filler is replaced in place",
            {
                "model.py": """\
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, texts):
        ids = pad_sequence(texts, batch_first=True, padding_value=-1)
        ids[ids == -1] = 0
        return self.embed(ids)
""",
            },
        ),
        Example(
            "Labels that only a loss sees",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, vocab_size=100, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width, padding_idx=0)
        self.head = nn.Linear(width, vocab_size)

    def forward(self, texts):
        ids = pad_sequence(texts, batch_first=True)
        labels = pad_sequence(texts, batch_first=True, padding_value=-1)
        logits = self.head(self.embed(ids))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1)
""",
            },
        ),
        Example(
            "Constants of the configuration that have rows",
            {
                "config.py": """\
from dataclasses import dataclass


@dataclass
class Config:
    vocab_size: int = 32000
    width: int = 256
    pad_id: int = 0
    bos_id: int = 31999
""",
                "model.py": """\
import torch
from torch import nn

from config import Config


class Decoder(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.width, padding_idx=config.pad_id)

    def forward(self, ids):
        start = ids.new_full((ids.size(0), 1), self.config.bos_id)
        return self.embed(torch.cat([start, ids], dim=1))
""",
            },
        ),
        Example(
            "A prompt of ids that have rows, and a limit",
            {
                "model.py": """\
import torch
from torch import nn


class Prompted(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.task = nn.Embedding(4, width)

    def forward(self, ids):
        prompt = torch.tensor([[0, 3]])
        return self.task(prompt) + self.task(torch.minimum(ids, torch.tensor(4) - 1))
""",
            },
        ),
        Example(
            "A configuration without defaults, and a padding index that may be None",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, config, padding_idx=None):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.width, padding_idx=config.pad_token_id)
        self.types = nn.Embedding(2, config.width, padding_idx)

    def forward(self, ids, types):
        return self.words(ids) + self.types(types)
""",
            },
        ),
        Example(
            "Features that are padded with a large number",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, width=64, vocab_size=10):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.proj = nn.Linear(80, width)

    def forward(self, mel, ids):
        mel = F.pad(mel, (0, 0, 0, 4), value=-11.5)
        scores = self.proj(mel).masked_fill(mel[..., :1] < 0, -1e4)
        return scores + self.embed(ids)
""",
            },
        ),
        Example(
            "A number of rows that is not known yet, and sizes of a configuration that something else reads",
            {
                "model.py": """\
from settings import fields
from torch import nn


@fields
class Text:
    vocab_size: int = 1000


@fields
class Speech:
    mask_id: int = 4096


class Encoder(nn.Module):
    def __init__(self, text: Text, speech: Speech, width, n_phones=-1):
        super().__init__()
        self.speech = speech
        self.words = nn.Embedding(text.vocab_size, width)
        self.phones = nn.Embedding(n_phones, width)

    def forward(self, ids, phones, mask):
        return self.words(ids.masked_fill(mask, self.speech.mask_id)) + self.phones(phones.masked_fill(mask, 0))
""",
            },
        ),
        Example(
            "A filler that the rest of a loop writes over, and one before a return",
            {
                "model.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Embedding(100, width)

    def forward(self, texts):
        ids = torch.full((len(texts), 12), -1)
        for row, text in enumerate(texts):
            ids[row] = text
        return self.embed(ids)

    def one(self, text, mask):
        ids = text.masked_fill(mask, -1)
        if (ids == -1).any():
            return None
        return self.embed(ids)
""",
            },
        ),
        Example(
            "A table that is made anew where the ids are too large for it",
            {
                "positions.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.register_buffer("table", self.made(width, rows))
        self.learned = nn.Embedding(rows, width)

    @staticmethod
    def made(width, rows):
        return torch.zeros(rows, width)

    def forward(self, ids):
        if max(ids) >= self.table.shape[0]:
            self.register_buffer("table", self.made(self.table.shape[1], max(ids) + 1))
        if ids.max().item() + 1 > self.learned.num_embeddings:
            self.learned = nn.Embedding(int(ids.max()) + 1, self.table.shape[1])
        return self.table[ids] + self.learned(ids)


def fifth():
    return Positions(8, 3)(torch.tensor([5]))
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for made in project.indexed.made(module):
            yield from self._padding_index(made)
        seen: set[object] = set()
        for lookup in project.indexed.lookups(module):
            for finding in self._filler(lookup):
                key = finding.place, finding.message
                if key not in seen:
                    seen.add(key)
                    yield finding

    def probe(self, claim: PaddingOutside | ConstantOutside, project: Project) -> Probe | None:
        """Build the table, or run the function that looks the constant up."""
        from modellint.claims.lookups import ConstantOutside
        from modellint.probes import python_probe

        return python_probe(claim, project, claim.lookup if isinstance(claim, ConstantOutside) else None)

    def _padding_index(self, made: Made) -> Iterator[Finding]:
        from modellint.claims.lookups import PaddingOutside
        from modellint.flow.domain import size_of

        module, call = made.function.module, made.call
        rows, padding = size_of(made.rows), size_of(made.padding)
        constant, place = _padding_of(call) or call, module.place(call)
        if rows is None or padding is None:
            number = call.argument(0, "num_embeddings")
            if number is None or not same(constant, number):
                return
            written = f"`{module.text_of(constant)}`"
            named, last, confidence = (written, written), f"`{module.text_of(constant)} - 1`", Confidence.HIGH
        else:
            above, below = excess(padding, rows), padding.number
            too_high = above is not None and above >= 0
            too_low = below is not None and rows.number is not None and below < -rows.number
            if not too_high and not too_low:
                return
            confidence = Confidence.HIGH if is_proved(padding, rows) else Confidence.MEDIUM
            named, last = (padding.described, rows.described), (rows - Size.of(1)).described
        yield self.finding(
            place,
            f"`padding_idx` is {named[0]}, but the table has {named[1]} rows",
            symbol=module.text_of(call.callee),
            confidence=confidence,
            evidence=(f"the last row is {last}",),
            related=(Related(module.place(constant), "the constant is written here"),),
            help="add a row for the padding, or pad with an id of the vocabulary",
            claim=PaddingOutside(place),
        )

    def _filler(self, lookup: Lookup) -> Iterator[Finding]:
        from modellint.claims.lookups import ConstantOutside
        from modellint.flow.domain import Filler

        filler, rows, table = lookup.element, lookup.rows, lookup.table
        if not isinstance(filler, Filler) or not lookup.is_made:
            return
        size, origin = filler.size, filler.origin
        number = size.number
        is_negative = number is not None and number < 0
        above = None if rows is None else excess(size, rows)
        if not is_negative and (above is None or above < 0):
            return
        constant = origin.module.text_of(origin.value)
        shown = constant if number is None or constant == str(number) else f"{constant} = {number}"
        what = "no row is negative" if is_negative else f"the table has {rows.described if rows else 'fewer'} rows"
        proved = size.constant is not None if is_negative else rows is not None and is_proved(size, rows)
        confidence = Confidence.HIGH if proved else Confidence.MEDIUM
        place = table.place
        yield self.finding(
            place,
            f"ids are filled with `{shown}`, which this table has no row for",
            symbol=table.module.text_of(table.value.callee),
            confidence=Confidence.LOW if lookup.is_conditional else confidence,
            evidence=(what,),
            related=(
                Related(origin.place, "the constant is written here"),
                Related(lookup.place.place, "the ids are looked up here"),
            ),
            help="fill with an id that has a row, and mask those elements",
            claim=ConstantOutside(place, lookup.place.place),
        )


def _padding_of(call: Value) -> Value | None:
    """Where the call that makes a table says which row is for padding."""
    return next((call.argument(*at) for at in operators.arguments("padding").values() if call.argument(*at)), None)
