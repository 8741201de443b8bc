"""ML304: a negative filler in ids that index a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.value import EventKind
from modellint.link.values.facts import FILLING, FactKind
from modellint.link.values.python_edit import argument_place
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import NegativeFiller
    from modellint.confirm.plan import Probe
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.link.values.arrivals import Arrival
    from modellint.link.values.evaluator import Frame, Located
    from modellint.link.values.facts import Fact


class NegativeSentinelPositions(Rule):
    """Ids that index a table are padded with a negative sentinel

    ## What it does
    Finds a filler below -1, most often the label index that a loss ignores (-100), padded or filled into position ids
    or other ids that index an embedding, a cosine table or another tensor.

    ## Why is this bad
    A negative index counts from the end. With a table of 100 rows or more, -100 silently picks some other row; with
    fewer rows the lookup fails: `index -100 is out of bounds`, or a device-side assert on a GPU. Training runs until
    the first batch whose longest sequence is shorter than the sentinel is negative.

    ## How to fix
    Pad with 0 and let the attention mask hide the padding. Keep the sentinel for labels.

    ## References
    - VILA: position ids padded with `IGNORE_INDEX = -100`; dialogues below 100 tokens crash
    - [torch.nn.utils.rnn.pad_sequence](https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html)
    """

    code = "ML304"
    name = "negative-sentinel-positions"
    severity = Severity.ERROR
    triggers = (
        "import",
        r"pad_sequence|masked_fill|full|\bpad\b|fill_",
        # … with a negative number, a constant or an ignored index.
        r"-\s*(?:[2-9]|\d\d)|\b[A-Z]{3}|ignore",
    )
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
    )
    good = (
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
        for function in module.mentioning(FILLING):
            fillers = {id(event.value): (event, fact) for event, fact in _fillers(function, project)}
            if not fillers:
                continue
            looked_up: dict[int, Arrival] = {}
            for user in (function, *project.callers(function)):
                for arrival in project.arrivals.of(user):
                    key = id(arrival.fact.writer.value) if arrival.fact.writer is not None else 0
                    known = looked_up.get(key)
                    if key not in fillers or (known is not None and not known.conditional):
                        continue
                    if arrival.fact.number is not None and arrival.fact.number < -1:
                        looked_up[key] = arrival if known is None or not arrival.conditional else known
            for key, (event, fact) in fillers.items():
                found = looked_up.get(key)
                if fact.writer is None:
                    continue
                if (found is None or found.conditional) and _pads_positions(event, function, project):
                    yield self._positions(fact, fact.writer, project)
                elif found is not None and found.fact.writer is not None:
                    yield self._looked_up(found, found.fact.writer, project)

    def probe(self, claim: NegativeFiller, project: Project) -> Probe | None:
        """Run what pads, and what looks up, with sequences about as long as the filler is negative."""
        from modellint.confirm.plan import boundary_probe, function_at

        function = function_at(claim.place, project)
        callers = [] if function is None else project.callers(function)
        users = dict.fromkeys(caller.module.source.path.as_posix() for caller in callers)
        places = [claim.place] if claim.lookup is None else [claim.lookup, claim.place]
        return boundary_probe(claim, project, places, users)

    def _looked_up(self, arrival: Arrival, writer: Located, project: Project) -> Finding:
        fact, frame = arrival.fact, arrival.lookup.frame
        table = arrival.lookup.table
        index = frame.module.text_of(arrival.lookup.event.value)
        related = [Related(frame.module.place(arrival.lookup.event.value), "they are looked up here")]
        if table is not None:
            related.append(Related(table.frame.module.place(table.call), "in this table"))
        return self._finding(
            writer,
            f"ids are filled with {fact.number}, and `{index}` looks them up",
            Confidence.LOW if arrival.conditional else Confidence.HIGH,
            (_consequence(fact),),
            related,
            project,
        )

    def _positions(self, fact: Fact, writer: Located, project: Project) -> Finding:
        evidence = ("what is padded counts up from 0 (`arange`): it indexes a position table", _consequence(fact))
        message = f"positions are padded with {fact.number}, which is no position"
        return self._finding(writer, message, Confidence.MEDIUM, evidence, [], project)

    def _finding(
        self,
        writer: Located,
        message: str,
        confidence: Confidence,
        evidence: tuple[str, ...],
        related: list[Related],
        project: Project,
    ) -> Finding:
        from modellint.claims.positions import NegativeFiller

        call, module = writer.value, writer.frame.module
        position = project.facts.filling_argument(call, writer.frame)
        argument = None if position is None else argument_place(call, *position, module)
        place = argument or module.place(call)
        return self.finding(
            place,
            message,
            symbol=module.text_of(call.callee),
            confidence=confidence,
            evidence=evidence,
            related=related,
            help="fill with 0 and let the attention mask hide those elements",
            fix=None if argument is None else Fix("Fill with 0", Applicability.UNSAFE, (Edit(argument, "0"),)),
            claim=NegativeFiller(place, related[0].place if related else None),
        )


def _names_sentinel(compare: Value, event: Event, frame: Frame, project: Project) -> bool:
    sentinels = {fact.number for fact in project.facts.fillers(event.value, frame)}
    for arg in compare.args:
        size = project.evaluator.size(arg, frame)
        if size is not None and size.number in sentinels:
            return True
    return False


def _consequence(fact: Fact) -> str:
    rows = -(fact.number or 0)
    return f"a table of fewer than {rows} rows has no row {fact.number}; a longer one gives a row from its end"


def _fillers(function: Function, project: Project) -> Iterator[tuple[Event, Fact]]:
    """The calls of a function that fill ids with a number below -1."""
    frame = project.evaluator.root(function)
    for event in function.flow.of(EventKind.CALL):
        for fact in project.facts.fillers(event.value, frame):
            if fact.number is not None and fact.number < -1:
                yield event, fact


def _pads_positions(event: Event, function: Function, project: Project) -> bool:
    frame = project.evaluator.root(function)
    if any(_names_sentinel(test.value, event, frame, project) for test in function.flow.of(EventKind.COMPARE)):
        # A comparison with the sentinel tells the padding apart again.
        return False
    facts = project.facts.facts(event.value, frame)
    return any(fact.kind is FactKind.POSITIONS and not fact.conditional for fact in facts)
