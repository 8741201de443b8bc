"""ML304: a negative filler in ids that index a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.value import Op
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import NegativeFiller
    from modellint.flow.domain import Filler
    from modellint.flow.lookups import Lookup, Padded
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.probes import Probe
    from modellint.source import Place


class NegativeSentinelPositions(Rule):
    """Ids that index a table are padded with a negative sentinel

    ## What it does
    Finds a filler below -1, most often the label index that a loss ignores (-100), padded or filled into position ids
    or other ids that index an embedding, a cosine table or another tensor. A mask that is only made of them
    (`mask = positions.ne(-100)`) changes nothing about that; one that replaces or picks elements does.

    What is handed to a class of a library that cannot be read is followed into what the project puts in the place of
    the library's code: a file that is copied over one of the library's, a function that replaces a method.

    ## Why is this bad
    A negative index counts from the end. With a table of 100 rows or more, -100 silently picks some other row; with
    fewer rows the lookup fails: `index -100 is out of bounds`, or a device-side assert on a GPU. Training runs until
    the first batch whose longest sequence is shorter than the sentinel is negative.

    ## How to fix
    Pad with 0 and let the attention mask hide the padding. Keep the sentinel for labels. Where the mask is made of the
    sentinel, make it of the lengths instead: no fix is offered there.

    ## References
    - VILA: position ids padded with `IGNORE_INDEX = -100`; dialogues below 100 tokens crash
    - [torch.nn.utils.rnn.pad_sequence](https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html)
    """

    code = "ML304"
    name = "negative-sentinel-positions"
    severity = Severity.ERROR
    triggers = ("import|def",)
    bad = (
        Example(
            "Positions of packed dialogues, padded with the index that a loss ignores",
            {
                "constants.py": """\
IGNORE_INDEX = -100
""",
                "packing.py": """\
from torch.nn.utils.rnn import pad_sequence

from constants import IGNORE_INDEX


def pack(rows):
    labels = pad_sequence([row["labels"] for row in rows], batch_first=True, padding_value=IGNORE_INDEX)
    position_ids = pad_sequence(
        [row["position_ids"] for row in rows], batch_first=True, padding_value=IGNORE_INDEX  # expect: ML304
    )
    return labels, position_ids
""",
                "model.py": """\
from torch import nn

from packing import pack


class Decoder(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.positions = nn.Embedding(longest, width)

    def forward(self, x, rows):
        labels, position_ids = pack(rows)
        return x + self.positions(position_ids), labels
""",
            },
            changes=(
                (
                    '[row["position_ids"] for row in rows], batch_first=True, padding_value=IGNORE_INDEX',
                    '[row["position_ids"] for row in rows], batch_first=True, padding_value=0',
                ),
            ),
        ),
        Example(
            "Ids filled with the sentinel and looked up",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, ids, mask):
        ids = ids.masked_fill(mask, -100)  # expect: ML304
        return self.embed(ids)
""",
            },
            changes=(("ids.masked_fill(mask, -100)", "ids.masked_fill(mask, 0)"),),
        ),
        Example(
            "Positions that count up, padded before anybody looks them up",
            {
                "packing.py": """\
import torch
from torch.nn.utils.rnn import pad_sequence


def pack(lengths):
    positions = [torch.arange(length) for length in lengths]
    return pad_sequence(positions, batch_first=True, padding_value=-100)  # expect: ML304
""",
            },
            changes=(
                (
                    "pad_sequence(positions, batch_first=True, padding_value=-100)",
                    "pad_sequence(positions, batch_first=True, padding_value=0)",
                ),
            ),
        ),
        Example(
            "A cosine table that is indexed by padded positions",
            {
                "model.py": """\
import torch
import torch.nn.functional as F
from torch import nn

PAD_POSITION = -1000


class Rotary(nn.Module):
    def __init__(self, longest, dim):
        super().__init__()
        angles = torch.arange(longest)[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("cosines", torch.cos(angles))

    def forward(self, x, position_ids, missing):
        position_ids = F.pad(position_ids, (0, missing), value=PAD_POSITION)  # expect: ML304
        return x * self.cosines[position_ids]
""",
            },
            changes=(
                ("F.pad(position_ids, (0, missing), value=PAD_POSITION)", "F.pad(position_ids, (0, missing), value=0)"),
            ),
        ),
        Example(
            "A buffer of positions that starts out full of sentinels",
            {
                "model.py": """\
import torch
from torch import nn


class Packed(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.embed = nn.Embedding(longest, width)

    def forward(self, x, lengths):
        positions = torch.full(x.shape[:2], -100)  # expect: ML304
        for row, length in enumerate(lengths):
            positions[row, :length] = torch.arange(length)
        return x + self.embed(positions)
""",
            },
            changes=(("torch.full(x.shape[:2], -100)", "torch.full(x.shape[:2], 0)"),),
        ),
        Example(
            "A mask that callers may give",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.positions = nn.Embedding(longest, width)

    def forward(self, pos, mask=None):
        if mask is not None:
            pos = pos.masked_fill(mask == 0, -100)  # expect: ML304
        return self.positions(pos)
""",
            },
            changes=(("pos.masked_fill(mask == 0, -100)", "pos.masked_fill(mask == 0, 0)"),),
        ),
        Example(
            "Positions that a mask counts up to",
            {
                "generation.py": """\
import torch


def prepare(ids, attention_mask):
    position_ids = attention_mask.long().cumsum(-1) - 1
    position_ids = position_ids.masked_fill(attention_mask == 0, -100)  # expect: ML304
    return {"input_ids": ids, "position_ids": position_ids}
""",
            },
            changes=(
                (
                    "position_ids.masked_fill(attention_mask == 0, -100)",
                    "position_ids.masked_fill(attention_mask == 0, 0)",
                ),
            ),
        ),
        Example(
            "Packed positions that a library hands to a method that the project replaces",
            {
                "constants.py": """\
IGNORE_INDEX = -100
""",
                "packing.py": """\
import torch
from torch.nn.utils.rnn import pad_sequence

from constants import IGNORE_INDEX


class Packing:
    def repack(self, embeds, labels, mask, cache):
        lengths, order = torch.sort(mask.sum(dim=-1), descending=True)
        rows, positions, targets, row, places, marks, used = [], [], [], [], [], [], 0
        for i in range(len(lengths)):
            if used + lengths[i].item() > embeds.shape[1]:
                rows.append(torch.cat(row, 0))
                positions.append(torch.cat(places, 0))
                targets.append(torch.cat(marks, 0))
                row, places, marks, used = [], [], [], 0
            used += lengths[i].item()
            row.append(embeds[order[i]][mask[order[i]]])
            places.append(torch.arange(row[-1].shape[0], device=row[-1].device))
            marks.append(labels[order[i]][mask[order[i]]])
        rows.append(torch.cat(row, 0))
        positions.append(torch.cat(places, 0))
        targets.append(torch.cat(marks, 0))
        rows = pad_sequence(rows, batch_first=True, padding_value=0.0)
        positions = pad_sequence(positions, batch_first=True, padding_value=IGNORE_INDEX)  # expect: ML304
        targets = pad_sequence(targets, batch_first=True, padding_value=IGNORE_INDEX)
        packed = positions.ne(IGNORE_INDEX)
        assert packed.sum() == mask.sum()
        return None, positions, packed, cache, rows, targets, lengths
""",
                "chat.py": """\
from shelf import DecoderForCausalLM

from packing import Packing


class Chat(DecoderForCausalLM, Packing):
    def forward(self, embeds, labels=None, mask=None, position_ids=None, cache=None):
        lengths = mask.sum(-1)
        if self.training:
            _, position_ids, mask, _, embeds, labels, lengths = self.repack(embeds, labels, mask, cache)
        return super().forward(mask=mask, position_ids=position_ids, embeds=embeds, labels=labels, lengths=lengths)
""",
                "faster.py": """\
import shelf.models.decoder


def rotate(queries, keys, cos, sin, position_ids):
    cos, sin = cos[position_ids].unsqueeze(1), sin[position_ids].unsqueeze(1)
    return queries * cos, keys * sin


def forward(self, x, mask=None, position_ids=None, **options):
    queries, keys = self.queries(x), self.keys(x)
    cos, sin = self.rotary(keys, length=keys.shape[-2])
    queries, keys = rotate(queries, keys, cos, sin, position_ids)
    return self.output(queries @ keys.transpose(1, 2)), None


def install():
    shelf.models.decoder.Attention.forward = forward
""",
            },
        ),
    )
    good = (
        Example(
            "Packed positions whose padding a mask replaces, before a library hands them to a replaced method",
            {
                "packing.py": """\
import torch
from torch.nn.utils.rnn import pad_sequence


class Packing:
    def repack(self, embeds, lengths):
        positions = pad_sequence([torch.arange(n) for n in lengths], batch_first=True, padding_value=-100)
        packed = positions.ne(-100)
        return positions.masked_fill(~packed, 0), packed, embeds
""",
                "chat.py": """\
from shelf import DecoderForCausalLM

from packing import Packing


class Chat(DecoderForCausalLM, Packing):
    def forward(self, embeds, lengths):
        position_ids, mask, embeds = self.repack(embeds, lengths)
        return super().forward(mask=mask, position_ids=position_ids, embeds=embeds)
""",
                "faster.py": """\
import shelf.models.decoder


def forward(self, x, mask=None, position_ids=None, **options):
    cos, sin = self.rotary(x, length=x.shape[-2])
    return x * cos[position_ids] + x.flip(-1) * sin[position_ids]


def install():
    shelf.models.decoder.Attention.forward = forward
""",
            },
        ),
        Example(
            "Positions padded with the last row of any table",
            {
                "packing.py": """\
import torch
from torch.nn.utils.rnn import pad_sequence


def pack(lengths):
    positions = pad_sequence([torch.arange(n) for n in lengths], batch_first=True, padding_value=-1)
    return positions, positions.ne(-1)
""",
            },
        ),
        Example(
            "Positions that make a mask, and are limited",
            {
                "packing.py": """\
import torch
from torch.nn.utils.rnn import pad_sequence


def pack(lengths):
    positions = pad_sequence([torch.arange(n) for n in lengths], batch_first=True, padding_value=-100)
    return positions.clamp(min=0), positions.ne(-100)
""",
            },
        ),
        Example(
            "Times that add up, and positions that are padded with 0",
            {
                "generation.py": """\
import torch


def prepare(durations, attention_mask):
    ends = durations.cumsum(-1).masked_fill(attention_mask == 0, -100)
    position_ids = attention_mask.long().cumsum(-1) - 1
    return ends, position_ids.masked_fill(attention_mask == 0, 0)
""",
            },
        ),
        Example(
            "Labels padded with the index that the loss ignores",
            {
                "collate.py": """\
import torch
from torch.nn.utils.rnn import pad_sequence

IGNORE_INDEX = -100


def collate(rows):
    ids = pad_sequence([row["ids"] for row in rows], batch_first=True, padding_value=0)
    labels = pad_sequence([row["labels"] for row in rows], batch_first=True, padding_value=IGNORE_INDEX)
    labels = labels.masked_fill(labels == 0, IGNORE_INDEX)
    positions = torch.arange(ids.size(1)).expand_as(ids)
    return ids, labels, positions
""",
                "model.py": """\
from torch import nn

from collate import collate


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(2048, width)
        self.head = nn.Linear(width, vocab_size)

    def forward(self, rows):
        ids, labels, positions = collate(rows)
        logits = self.head(self.embed(ids) + self.positions(positions))
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
""",
            },
        ),
        Example(
            "Positions padded with 0",
            {
                "packing.py": """\
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Packed(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.embed = nn.Embedding(longest, width)

    def forward(self, lengths):
        positions = [torch.arange(length) for length in lengths]
        return self.embed(pad_sequence(positions, batch_first=True, padding_value=0))
""",
            },
        ),
        Example(
            "The sentinel is replaced before the lookup",
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
        labels = pad_sequence(texts, batch_first=True, padding_value=-100)
        ids = torch.where(labels == -100, 0, labels)
        return self.embed(ids) + self.embed(labels.clamp(min=0)) + self.embed(labels.masked_fill(labels < 0, 0))
""",
            },
        ),
        Example(
            "Elements that are real take part in the lookup alone",
            {
                "model.py": """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, ids, mask):
        marked = ids.masked_fill(mask, -100)
        kept = marked[marked != -100]
        return self.embed(kept)
""",
            },
        ),
        Example(
            "Scores and features filled with a large negative number",
            {
                "model.py": """\
import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.score = nn.Linear(width, 1)

    def forward(self, ids, mask, mel):
        scores = self.score(self.embed(ids)).squeeze(-1).masked_fill(mask, -10000)
        mel = F.pad(mel, (0, 4), value=-20)
        return torch.softmax(scores, dim=-1), mel
""",
            },
        ),
        Example(
            "Positions that are marked, and told apart again",
            {
                "packing.py": """\
import torch
from torch.nn.utils.rnn import pad_sequence


def pack(lengths):
    positions = pad_sequence([torch.arange(n) for n in lengths], batch_first=True, padding_value=-100)
    mask = positions != -100
    return torch.where(mask, positions, 0), mask
""",
            },
        ),
        Example(
            "A table that has a row for the sentinel, moved to the front",
            {
                "model.py": """\
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Relative(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(2 * 100 + 1, width)

    def forward(self, distances):
        padded = pad_sequence(distances, batch_first=True, padding_value=-100)
        return self.embed(padded + 100)
""",
            },
        ),
        Example(
            "A target that is indexed by ids, and filled",
            {
                "loss.py": """\
import torch


def smooth(labels, mask, n_classes):
    targets = torch.full((*labels.shape, n_classes), -50.0)
    targets = targets.scatter(-1, labels.unsqueeze(-1), 0.0)
    ignored = labels.masked_fill(mask, -100)
    return torch.nn.functional.nll_loss(targets.flatten(0, 1), ignored.flatten(), ignore_index=-100)
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.flow.domain import Filler

        seen: set[object] = set()
        lookups = [*project.indexed.lookups(module)]
        for function in {f: None for f, filler in project.indexed.written(module) if _number(filler) is not None}:
            lookups += project.indexed.lookups_beside(function)
        padded = [one for one in project.indexed.padded(module) if _number(one.filler) is not None]
        padded = [one for one in padded if project.indexed.goes_on(one, module)]
        for one in padded:
            lookups += project.indexed.lookups_of_users(one)
        for lookup in sorted(lookups, key=lambda lookup: lookup.is_conditional):
            element = lookup.element
            number = _number(element) if isinstance(element, Filler) else None
            if isinstance(element, Filler) and number is not None and element.key not in seen:
                seen.add(element.key)
                yield self._looked_up(lookup, element, number, project.indexed.is_compared(element, module))
        for one in padded:
            number = _number(one.filler)
            if number is not None and one.filler.key not in seen:
                yield self._padded(one, number, project.indexed.is_compared(one.filler, module))

    def probe(self, claim: NegativeFiller, project: Project) -> Probe | None:
        """Run what pads, and what looks up, with sequences about as long as the filler is negative."""
        from modellint.probes import boundary_probe, function_at

        function = function_at(claim.place, project)
        callers = [] if function is None else project.callers(function)
        users = dict.fromkeys(caller.module.source.path.as_posix() for caller in callers)
        places = [claim.place] if claim.lookup is None else [claim.lookup, claim.place]
        return boundary_probe(claim, project, places, users)

    def _looked_up(self, lookup: Lookup, filler: Filler, number: int, is_compared: bool) -> Finding:
        place = lookup.steps[-1]
        index = place.module.text_of(place.value)
        related = [Related(place.place, "they are looked up here")]
        if lookup.is_made:
            related.append(Related(lookup.table.place, "in this table"))
        return self._finding(
            filler,
            f"ids are filled with {number}, and `{index}` looks them up",
            Confidence.LOW if lookup.is_conditional else Confidence.HIGH,
            (_consequence(number),),
            related,
            is_compared,
            place.place,
        )

    def _padded(self, padded: Padded, number: int, is_compared: bool) -> Finding:
        origin = padded.positions.origin
        evidence = ("what is padded counts up from 0: it indexes a position table", _consequence(number))
        message = f"positions are padded with {number}, which is no position"
        related = [Related(origin.place, "the positions are made here")]
        return self._finding(padded.filler, message, Confidence.MEDIUM, evidence, related, is_compared)

    def _finding(
        self,
        filler: Filler,
        message: str,
        confidence: Confidence,
        evidence: tuple[str, ...],
        related: list[Related],
        is_compared: bool,
        lookup: Place | None = None,
    ) -> Finding:
        from modellint.claims.positions import NegativeFiller

        place, module = filler.origin.place, filler.origin.module
        is_written = filler.origin.value.op is not Op.CALL  # it stands in what the call unpacks, or is computed
        can_be_fixed = is_written and not is_compared
        to_do = "fill with 0 and let the attention mask hide those elements"
        if is_compared:
            to_do += ", made of the lengths: one that compares with the filler would hide nothing"
        return self.finding(
            place,
            message,
            symbol=module.text_of(filler.origin.value),
            confidence=confidence,
            evidence=evidence,
            related=related,
            help=to_do,
            fix=Fix("Fill with 0", Applicability.UNSAFE, (Edit(place, "0"),)) if can_be_fixed else None,
            claim=NegativeFiller(place, lookup),
        )


def _number(filler: Filler) -> int | None:
    """The constant, if it is no position, and no way to say which is the last one either."""
    number = filler.size.number
    return number if number is not None and number < -1 else None


def _consequence(number: int) -> str:
    return f"a table of fewer than {-number} rows has no row {number}; a longer one gives a row from its end"
