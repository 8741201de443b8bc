"""ML103: ids drawn from a head with more classes than the table they index."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from modellint.edits.python import clamped, place_in, text_at, written
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.size import excess, is_proved
from modellint.graph.value import EventKind, self_attribute
from modellint.link.values.bounds import is_as_large, is_direct, limits, may_limit, may_look_up
from modellint.rule import Example, Rule
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.lookups import GuardAdmits, IdsExceed
    from modellint.claims.recipes import RowsLacking
    from modellint.flow.domain import Site
    from modellint.flow.lookups import Lookup
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.size import Size
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.link.values.guarded import Clamped
    from modellint.probes import Probe


class IdsExceedTable(Rule):
    """Ids come from a head with more classes than the table they look up has rows

    ## What it does
    Follows ids from where they are drawn (`argmax`, `multinomial`, `topk`, `Categorical.sample`) through lists,
    concatenation, returns and calls of other functions and files to where they index an embedding or a codebook, and
    compares the number of classes of the head with the number of rows of the table. Comparisons, limits and cuts on
    the way count; an early exit on one id keeps that id away, for the codebook that it looks at. It also finds a
    guard that lets one id too many through (`codes > rows`, `codes.clamp(0, rows)`), wherever the ids come from. In
    recipes it compares the head that a searcher draws ids from with the table in which it looks them up.

    ## Why is this bad
    A vocabulary is often padded, or has marks for the end of a stream. Sooner or later the head predicts one of those
    ids. On a GPU the lookup then fails with `device-side assert triggered`, at a line that has nothing to do with it.

    ## How to fix
    Cut the logits to the table's rows before drawing ids (`logits[..., :rows]`), drop the extra ids, or clamp them.
    A guard must reject the number of rows too: `codes >= rows`.

    ## References
    - mini-omni: a head over 4160 classes in front of a codec with 4096 rows
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML103"
    name = "ids-exceed-table"
    severity = Severity.ERROR
    triggers = ("import",)
    bad = (
        Example(
            "A searcher of a recipe",
            {
                "hparams.yaml": """\
output_neurons: 1001
emb: !new:torch.nn.Embedding [1000, 128]
dec: !new:speechbrain.nnet.RNN.AttentionalRNNDecoder
    enc_dim: 256
seq_lin: !new:speechbrain.nnet.linear.Linear
    input_size: 256
    n_neurons: !ref <output_neurons>
search: !new:speechbrain.decoders.S2SRNNGreedySearcher  # expect: ML103
    embedding: !ref <emb>
    decoder: !ref <dec>
    linear: !ref <seq_lin>
"""
            },
        ),
        Example(
            "A padded head in front of a codec, across files",
            {
                "config.py": """\
from dataclasses import dataclass


@dataclass
class SpeechConfig:
    width: int = 512
    codebook_size: int = 4096
    n_special: int = 64
""",
                "codec.py": """\
from torch import nn

from config import SpeechConfig


class Codec(nn.Module):
    def __init__(self, config: SpeechConfig):
        super().__init__()
        self.codebook = nn.Embedding(config.codebook_size, 8)

    def decode(self, codes):
        return self.codebook(codes).mean(-1)
""",
                "model.py": """\
from torch import nn

from config import SpeechConfig


class SpeechModel(nn.Module):
    def __init__(self, config: SpeechConfig):
        super().__init__()
        self.head = nn.Linear(config.width, config.codebook_size + config.n_special)

    def generate(self, hidden, steps):
        frames = []
        for _ in range(steps):
            frames.append(self.head(hidden)[-1].argmax(-1).tolist())
        return frames
""",
                "speak.py": """\
import torch

from codec import Codec
from config import SpeechConfig
from model import SpeechModel


def speak(hidden):
    config = SpeechConfig()
    model, codec = SpeechModel(config), Codec(config)
    frames = model.generate(hidden, 100)
    return codec.decode(torch.tensor(frames))  # expect: ML103
""",
            },
            changes=(("codec.decode(torch.tensor(frames))", "codec.decode(torch.tensor(frames).clamp(max=4095))"),),
        ),
        Example(
            "A guard that lets the number of rows through",
            {
                "decode.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.head = nn.Linear(width, 4100)
        self.codebook = nn.Embedding(4096, width)

    def forward(self, hidden):
        codes = self.head(hidden).argmax(-1)
        if (codes > 4096).any():  # expect: ML103
            raise ValueError("no such code")
        return self.codebook(codes)
""",
            },
            changes=(("if (codes > 4096).any():", "if (codes >= 4096).any():"),),
        ),
        Example(
            "Only one of several codebooks is tested for the end",
            {
                "model.py": """\
import torch
from torch import nn


class Streams(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.first = nn.Linear(width, 1025)
        self.second = nn.Linear(width, 1025)
        self.codebook = nn.Embedding(1024, width)

    def forward(self, hidden, steps):
        frames = []
        for _ in range(steps):
            ids = [head(hidden).argmax(-1) for head in (self.first, self.second)]
            if ids[0] == 1024:
                break
            frames.append(torch.stack(ids))
        return self.codebook(torch.stack(frames))  # expect: ML103
""",
            },
            changes=(("self.codebook(torch.stack(frames))", "self.codebook(torch.stack(frames).clamp(max=1023))"),),
        ),
        Example(
            "Indices of topk and a sampled class index a plain matrix",
            {
                "model.py": """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Retriever(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 520))
        self.codebook = nn.Parameter(torch.randn(512, width))

    def forward(self, x):
        logits = self.score(x)
        best = self.codebook[logits.topk(4).indices]  # expect: ML103
        drawn = Categorical(logits=logits).sample()
        return best.sum(-2) + F.embedding(drawn, self.codebook)  # expect: ML103
""",
            },
        ),
        Example(
            "A wider head, by a default argument, and ids that are joined",
            {
                "model.py": """\
import torch
from torch import nn


class Vocoder(nn.Module):
    def __init__(self, rows=2048, width=64):
        super().__init__()
        self.table = nn.Embedding(rows, width)

    def from_codes(self, codes):
        return self.table(codes)


class Model(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.head = nn.Linear(width, 2051)
        self.vocoder = Vocoder()

    def sample(self, hidden):
        values, ids = torch.topk(self.head(hidden), 1)
        return ids.squeeze(-1)

    def forward(self, hidden, steps):
        tokens = self.sample(hidden)
        for _ in range(steps):
            tokens = torch.cat([tokens, self.sample(hidden)], dim=-1)
        return self.vocoder.from_codes(tokens)  # expect: ML103
""",
            },
            changes=(("self.vocoder.from_codes(tokens)", "self.vocoder.from_codes(tokens.clamp(max=2047))"),),
        ),
        Example(
            "Offsets that are removed without a range test",
            {
                "decode.py": """\
import torch
from torch import nn


class Unpacker(nn.Module):
    def __init__(self, width=512, rows=1024, n_layers=4):
        super().__init__()
        self.head = nn.Linear(width, 4 * 1024 + 8)
        self.books = nn.ModuleList(nn.Embedding(rows, 8) for _ in range(n_layers))

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        total = 0
        for layer, book in enumerate(self.books):
            total = total + book(ids[:, layer] - layer * 1024)  # expect: ML103
        return total
""",
            },
        ),
        Example(
            "Guards and clamps that let the number of rows through, for ids of a caller",
            {
                "model.py": """\
import torch
from torch import nn


class Codec(nn.Module):
    def __init__(self, rows=4096, width=64):
        super().__init__()
        self.rows = rows
        self.books = nn.Embedding(rows, width)
        self.places = nn.Embedding(2 * rows, width)

    def decode(self, codes):
        if torch.any(codes > self.rows):  # expect: ML103
            raise ValueError("no such code")
        return self.books(codes)

    def checked(self, codes):
        assert codes.max() <= self.rows  # expect: ML103
        return self.books(codes)

    def forward(self, codes, others):
        first = self.books(codes.clamp(0, self.rows).long())  # expect: ML103
        places = self.places((codes - others + self.rows).clamp(0, 2 * self.rows))  # expect: ML103
        return places + first + self.books(torch.clamp(others, max=self.rows))  # expect: ML103
""",
            },
            changes=(
                ("if torch.any(codes > self.rows):", "if torch.any(codes >= self.rows):"),
                ("assert codes.max() <= self.rows", "assert codes.max() < self.rows"),
            ),
        ),
        Example(
            "Clamped to the number of rows by methods, and by a function that is told the limit",
            {
                "model.py": """\
import torch
from torch import nn

from limiting import limited


class Codec(nn.Module):
    def __init__(self, rows=4096, width=64):
        super().__init__()
        self.rows = rows
        self.books = nn.Embedding(rows, width)

    def keep(self, codes):
        return torch.clamp(codes, 0, self.rows).long()  # expect: ML103

    def kept(self, codes):
        return self.keep(codes)

    def forward(self, codes, others):
        return self.books(self.kept(codes)) + self.books(limited(others, self.rows))  # expect: ML103
""",
                "limiting.py": """\
def limited(ids, last):
    return ids.clamp(min=0, max=last)
""",
            },
        ),
        Example(
            "A published codec that another file makes, and a head that is cut for each of its codebooks",
            {
                "loading.py": """\
from transformers import MimiModel


def load(device):
    tokenizer = None
    codec = MimiModel.from_pretrained("kyutai/mimi").eval().to(device)
    return tokenizer, codec
""",
                "speak.py": """\
import torch
from torch import nn

from loading import load


class Speaker(nn.Module):
    def __init__(self, width=64, classes=2051, books=8):
        super().__init__()
        self.classes, self.books = classes, books
        self.head = nn.Linear(width, classes * books)

    def forward(self, hidden):
        scores, found = self.head(hidden), []
        for book in range(self.books):
            found.append(scores[..., self.classes * book : self.classes * (book + 1)])
        return found


def speak(model: Speaker, hidden, codec):
    codes = [scores.argmax(-1) for scores in model(hidden)]
    return codec.decode(torch.stack(codes, dim=1)).audio_values  # expect: ML103


def main(hidden):
    _, codec = load("cuda")
    return speak(Speaker(), hidden, codec)
""",
            },
        ),
    )
    good = (
        Example(
            "Ids up to the mark of the end, and guards that are exact",
            {
                "model.py": """\
import torch
from torch import nn


class Speaker(nn.Module):
    def __init__(self, rows=1024, width=64):
        super().__init__()
        self.rows, self.eos = rows, rows
        self.head = nn.Linear(width, rows + 1)
        self.table = nn.Embedding(rows, width)

    def forward(self, x):
        ids = self.head(x).argmax(-1).tolist()
        if self.eos in ids:
            ids = ids[: ids.index(self.eos)]
        return self.table(torch.tensor(ids))

    def decode(self, codes, others):
        if codes.max() > self.rows - 1 or (codes >= self.rows).any():
            raise ValueError("no such code")
        return self.table(codes) + self.table(others.clamp(0, self.rows) - 1) + self.table(others.clamp(min=0))

    def places(self, x, ids=None):
        n = x.shape[1]
        assert n <= self.rows
        if ids is None:
            ids = torch.arange(n, device=x.device)
        return self.table(ids) + self.table(torch.arange(n))
""",
            },
        ),
        Example(
            "Ids are clamped, limited or wrapped",
            {
                "model.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=4096):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + 64)
        self.codebook = nn.Embedding(rows, width)
        self.places = nn.Embedding(2 * rows + 1, width)

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        clamped = self.codebook(ids.clamp(0, self.rows - 1)) + self.places(ids.clamp(0, 2 * self.rows))
        smaller = self.codebook(torch.minimum(ids, torch.tensor(self.rows - 1)))
        wrapped = self.codebook(ids % self.rows)
        chosen = self.codebook(torch.where(ids < self.rows, ids, 0))
        return clamped + smaller + wrapped + chosen
""",
            },
        ),
        Example(
            "The extra classes are cut from the logits",
            {
                "model.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=4096, n_special=64):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + n_special)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, hidden):
        logits = self.head(hidden)[..., : self.rows]
        return self.codebook(torch.multinomial(logits.softmax(-1), 1))
""",
            },
        ),
        Example(
            "The extra classes are masked with -inf",
            {
                "model.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=4096, n_special=64):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + n_special)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, hidden):
        logits = self.head(hidden)
        logits[..., self.rows :] = float("-inf")
        masked = logits.masked_fill(torch.arange(logits.size(-1)) >= self.rows, float("-inf"))
        return self.codebook(logits.argmax(-1)) + self.codebook(masked.argmax(-1))
""",
            },
        ),
        Example(
            "A comparison filters ids, in a comprehension and by a mask",
            {
                "decode.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=4096):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + 64)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        kept = [i for i in ids.tolist() if i < self.rows]
        return self.codebook(torch.tensor(kept)) + self.codebook(ids[ids < self.rows])
""",
            },
        ),
        Example(
            "The loop ends at the only extra id",
            {
                "decode.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=1024):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + 1)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, hidden, steps):
        ids = []
        for _ in range(steps):
            token = self.head(hidden).argmax(-1).item()
            if token == self.rows:
                break
            ids.append(token)
        return self.codebook(torch.tensor(ids))
""",
            },
        ),
        Example(
            "As many classes as rows",
            {
                "config.py": """\
from dataclasses import dataclass


@dataclass
class Config:
    width: int = 256
    vocab_size: int = 32000
""",
                "model.py": """\
import torch
from torch import nn

from config import Config


class LanguageModel(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.width)
        self.rnn = nn.GRU(config.width, config.width)
        self.head = nn.Linear(config.width, config.vocab_size, bias=False)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.head(hidden)


def generate(model: LanguageModel, ids, steps):
    for _ in range(steps):
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
    return model.embed(ids)
""",
            },
        ),
        Example(
            "A table with rows to spare",
            {
                "model.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=1024):
        super().__init__()
        self.head = nn.Linear(width, rows)
        self.embed = nn.Embedding(rows + 2, width, padding_idx=rows)

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        start = torch.full_like(ids[:, :1], self.embed.padding_idx)
        return self.embed(torch.cat([start, ids], dim=1))
""",
            },
        ),
        Example(
            "Offsets that are removed after a range test, and ids of every layer cut apart",
            {
                "decode.py": """\
import torch
from torch import nn


class Unpacker(nn.Module):
    def __init__(self, width=512, rows=1024, n_layers=4):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows * n_layers)
        self.books = nn.ModuleList(nn.Embedding(rows, 8) for _ in range(n_layers))

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        total = 0
        for layer, book in enumerate(self.books):
            local = ids[:, layer] - layer * self.rows
            inside = (local >= 0) & (local < self.rows)
            total = total + book(local.masked_fill(~inside, 0))
            total = total + book((ids - layer * self.rows) % self.rows)
        return total
""",
            },
        ),
        Example(
            "Another head's ids, and a layer of unknown width",
            {
                "model.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, encoder, width=64):
        super().__init__()
        self.encoder = encoder
        self.phones = nn.Linear(width, 100)
        self.speakers = nn.Linear(width, 10)
        self.speaker_table = nn.Embedding(10, width)

    def forward(self, x):
        phones = self.phones(x).argmax(-1)
        speaker = self.speakers(x.mean(1)).argmax(-1)
        return phones, self.speaker_table(speaker) + self.speaker_table(self.encoder(x).argmax(-1))
""",
            },
        ),
        Example(
            "The nearest of the rows, by distances that are summed along the features",
            {
                "model.py": """\
import torch
from torch import nn


class Quantiser(nn.Module):
    def __init__(self, rows=32, width=64):
        super().__init__()
        self.width = width
        self.table = nn.Embedding(rows, width)

    def forward(self, x):
        flat = x.float().view(-1, self.width)
        rows = self.table.weight.t()
        distances = (flat**2).sum(dim=1, keepdim=True) + (rows**2).sum(dim=0, keepdim=True) - 2 * torch.mm(flat, rows)
        return self.table(torch.max(-distances, dim=1)[1])
""",
            },
        ),
        Example(
            "Clamped to the last row by methods, by functions that are told it, or once more",
            {
                "model.py": """\
import torch
from torch import nn


def limited(ids, last):
    return ids.clamp(min=0, max=last)


class Codec(nn.Module):
    def __init__(self, rows=4096, width=64):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows)
        self.books = nn.Embedding(rows, width)
        self.more = nn.Embedding(rows + 1, width)

    def keep(self, codes):
        return torch.clamp(codes, 0, self.rows - 1).long()

    def keep_most(self, codes):
        return codes.clamp(max=self.rows)

    def forward(self, codes, others):
        kept = self.books(self.keep(codes)) + self.books(limited(others, self.rows - 1))
        kept = kept + self.more(self.keep_most(codes)) + self.books(self.keep(self.keep_most(codes)))
        return kept + self.books(self.keep_most(self.keep(others))) + self.books(self.keep_most(codes) - 1)

    def step(self, x):
        return self.books(self.keep_most(self.head(x).argmax(-1)))
""",
            },
        ),
        Example(
            "Ids that a codec has rows for, by its class, its checkpoint, its configuration and what it says itself",
            {
                "speak.py": """\
import torch
from snac import SNAC
from torch import nn
from transformers import AutoModel, EncodecConfig, EncodecModel


class Speaker(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.head = nn.Linear(width, 2048)
        self.wide = nn.Linear(width, 4160)
        self.small = EncodecModel(EncodecConfig(codebook_size=2048))
        self.large = SNAC.from_pretrained("hubertsiuzdak/snac_24khz").eval()
        self.music = EncodecModel.from_pretrained("facebook/encodec_32khz")
        self.other = EncodecModel.from_pretrained("somebody/codec")
        self.found = AutoModel.from_pretrained("kyutai/mimi")

    def forward(self, hidden):
        codes, wide = self.head(hidden).argmax(-1), self.wide(hidden).argmax(-1)
        kept = wide.clamp(max=self.found.config.codebook_size - 1)
        told = self.small.decode(codes), self.large.decode([codes]), self.music.decode(codes)
        return told, self.other.decode(wide), self.found.decode(kept)
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        nearest: dict[object, Lookup] = {}
        for lookup in project.indexed.lookups(module):
            extra = _extra(lookup)
            key = lookup.place, lookup.table
            if extra is not None and (key not in nearest or _rank(lookup) < _rank(nearest[key])):
                nearest[key] = lookup
        for lookup in nearest.values():
            yield self._too_many_classes(lookup)
        guarding = list(_guarding(module, project))
        if guarding:
            yield from self._wrong_guards(guarding, module, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.claims.recipes import RowsLacking
        from modellint.link.recipes.vocabularies import searches

        for search in searches(recipe, project):
            head, table = search.head, search.table
            if head is None or table is None or head.number <= table.number or search.item.recipe is not recipe:
                continue
            yield self.finding(
                search.item.place,
                f"`{search.item.path}` draws ids of {head.described} classes and looks them up in a table of "
                f"{table.described} rows",
                symbol=search.item.path,
                confidence=Confidence.HIGH,
                evidence=(f"ids go up to {head.number - 1}, the last row is {table.number - 1}",),
                related=(
                    Related(head.place, f"the head `{head.item.path}` has {head.number} classes"),
                    Related(table.place, f"the table `{table.item.path}` has {table.number} rows"),
                ),
                help="size the head and the table by the same key",
                claim=RowsLacking(search.item.place, head.item.path, table.item.path),
            )

    def probe(self, claim: IdsExceed | GuardAdmits | RowsLacking, project: Project) -> Probe | None:
        """Run the function with every id that it can draw, and with the one that a guard lets through.

        Of recipes the head and the table are built and compared.
        """
        from modellint.claims.lookups import GuardAdmits
        from modellint.claims.recipes import RowsLacking
        from modellint.probes import python_probe, recipe_probe

        if isinstance(claim, RowsLacking):
            return recipe_probe(claim, project)
        return python_probe(claim, project, claim.lookup if isinstance(claim, GuardAdmits) else None)

    def _too_many_classes(self, lookup: Lookup) -> Finding:
        from modellint.claims.lookups import IdsExceed
        from modellint.flow.domain import Ids

        ids, rows = lookup.element, lookup.rows
        assert isinstance(ids, Ids)
        assert rows is not None
        module, call = lookup.place.module, lookup.place.value
        name = module.text_of(call.args[0])
        confidence = Confidence.HIGH if is_proved(ids.bound, rows) else Confidence.MEDIUM
        related = [Related(lookup.table.place, f"the table has {rows.described} rows")]
        if ids.head is not None:
            related.append(Related(ids.head.place, f"the head has {ids.bound.described} classes"))
        related.append(Related(ids.origin.place, "the ids are drawn here"))
        related.extend(Related(step.place, "the ids are handed on here") for step in lookup.steps[1:-1])
        if len(lookup.steps) > 1:
            related.append(Related(lookup.steps[-1].place, "the ids are looked up here"))
        return self.finding(
            lookup.place.place,
            f"`{name}` looks up ids of {ids.bound.described} classes in a table of {rows.described} rows",
            symbol=name,
            confidence=Confidence.LOW if lookup.is_conditional else confidence,
            evidence=_evidence(ids.bound, rows, lookup),
            related=related,
            help=f"cut the logits to {rows.described} classes before ids are drawn, or keep larger ids from the table",
            fix=None if lookup.source else _clamped(rows, lookup),
            claim=IdsExceed(lookup.place.place),
        )

    def _wrong_guards(self, functions: list[Function], module: ModuleFacts, project: Project) -> Iterator[Finding]:
        """`codes > rows` guards a table of `rows` rows: the id `rows` itself passes."""
        from modellint.flow.domain import Site
        from modellint.link.values.guarded import Guarded

        guarded = Guarded(functions, project)
        reported: set[object] = set()
        for indexed, event, function in guarded.lookups:
            size = partial(guarded.size, function=function)
            for compare, limit in _limits(indexed.index, event, module, project):
                if id(compare) not in reported and is_as_large(indexed.rows, limit, size):
                    reported.add(id(compare))
                    advice, fix = f"compare with `{_EXACT[compare.data]}`", _exact(compare, module)
                    at, use = Site(compare, function), Site(indexed.call, function)
                    yield self._guard(at, indexed.rows, indexed.table, use, advice, fix)
        for lookup, ids in guarded.clamped:
            guard, rows = _clamp(ids, module), lookup.rows
            if guard not in reported and rows is not None and _admits(ids.bound, rows):
                reported.add(guard)
                yield self._guard(guard, rows, lookup.table, lookup.place, f"clamp to {_last(rows)}", None)

    def _guard(self, guard: Site, rows: Size, table: Site, lookup: Site, advice: str, fix: Fix | None) -> Finding:
        from modellint.claims.lookups import GuardAdmits

        text = guard.module.text_of(guard.value)
        return self.finding(
            guard.place,
            f"`{text}` lets the id {rows.described} through to a table of {rows.described} rows",
            symbol=text,
            confidence=Confidence.HIGH,
            evidence=(f"valid ids are 0 to {_last(rows)}",),
            related=(
                Related(lookup.place, "the ids are looked up here"),
                Related(table.place, f"the table has {rows.described} rows"),
            ),
            help=advice,
            fix=fix,
            claim=GuardAdmits(guard.place, lookup.place),
        )


def _extra(lookup: Lookup) -> int | None:
    """How many ids have no row, if there are more of them than tests keep away."""
    from modellint.flow.domain import Ids

    ids, rows = lookup.element, lookup.rows
    found = excess(ids.bound, rows) if isinstance(ids, Ids) and rows is not None else None
    return found if isinstance(ids, Ids) and found is not None and found > len(ids.excluded) else None


def _rank(lookup: Lookup) -> tuple[bool, int]:
    """Which of several ids that one table looks up at one place are told: those that surely arrive, as they are drawn.

    A container holds what its elements are replaced with later, too: ids with an offset, say.
    """
    return lookup.is_conditional, _extra(lookup) or 0


def _clamp(ids: Clamped, module: ModuleFacts) -> Site:
    """What lets ids through: the clamp, or the call of what clamps in another file, or to what it is told."""
    is_here = ids.origin.module is module and not ids.is_told
    return ids.origin if ids.way is None or is_here else ids.way


def _admits(bound: Size, rows: Size) -> bool:
    """Whether ids below a bound may be the number of rows, but no larger."""
    return excess(bound, rows) == 1 and (is_proved(bound, rows) or bound.number is not None)


def _guarding(module: ModuleFacts, project: Project) -> Iterator[Function]:
    """The functions of a file with tables that limit what they may look up."""
    if may_look_up(module, project):
        from modellint.link.values.guarded import clamping

        comparing = filter(may_limit, module.all_functions())
        limited = [f for f in comparing if any(_is_limited(event, module, project) for event in f.flow.events)]
        yield from dict.fromkeys([*limited, *clamping(module, project)])


def _is_limited(event: Event, module: ModuleFacts, project: Project) -> bool:
    """Whether an event is given, or indexes with, what was compared before."""
    if event.kind is not EventKind.INDEX and (event.kind is not EventKind.CALL or len(event.value.args) < 2):
        return False
    return any(_limits(event.value.args[1], event, module, project))


def _limits(index: Value, event: Event, module: ModuleFacts, project: Project) -> Iterator[tuple[Value, Value]]:
    """The comparisons of an index that may let the number of rows through, and what it is compared with."""
    for compare, limit in limits(index, event, project.budget):
        if is_direct(index, compare, event, module):
            yield compare, limit


#: What each comparison with the number of rows must be, for that number to be rejected.
_EXACT = {">": ">=", "<=": "<", "<": "<=", ">=": ">"}


def _clamped(rows: Size, lookup: Lookup) -> Fix | None:
    """The ids limited to the last row, where the call itself says which that is."""
    call, module = lookup.place.value, lookup.place.module
    if rows.number is not None:
        return clamped(call, str(rows.number - 1), module)
    if len(lookup.steps) > 1 or self_attribute(call.args[0]) is None:
        return None
    return clamped(call, f"{module.text_of(call.args[0])}.num_embeddings - 1", module)


def _exact(compare: Value, module: ModuleFacts) -> Fix | None:
    """The same comparison, with the operator that is right."""
    node = written(compare, module)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    place = module.place(compare)
    left, right = place_in(compare, node.left, module), place_in(compare, node.comparators[0], module)
    between = Place(place.path, Span(left.span.end_line, left.span.end_column, right.span.line, right.span.column))
    operator = _EXACT[compare.data]
    text = text_at(between, module).replace(compare.data, operator, 1)
    return Fix(f"Compare with `{operator}`", Applicability.SAFE, (Edit(between, text),))


def _last(rows: Size) -> str:
    return str(rows.number - 1) if rows.number is not None else f"{rows} - 1"


def _evidence(bound: Size, rows: Size, lookup: Lookup) -> Iterator[str]:
    if bound.number is not None and rows.number is not None:
        yield f"ids go up to {bound.number - 1}, the last row is {rows.number - 1}"
    else:
        yield f"`{bound}` is larger than `{rows}`"
    if lookup.source:
        yield f"its codebooks have {rows.described} rows ({lookup.source})"
    if lookup.way:
        yield f"the ids reach the table through {lookup.way}"
