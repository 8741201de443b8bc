"""ML303: a position table of a fixed length that is read for lengths that nobody compares with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import TableEnds
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.link.values.position_tables import FixedTable
    from modellint.probes import Probe


class UnguardedPositionTable(Rule):
    """A position table has a fixed length, and nothing compares it with the length of the input

    ## What it does
    Finds embeddings that are indexed by `arange(length)`, and buffers or parameters that are sliced up to a length,
    where that length is a dimension of the input, the table is built once with a literal number of rows (or a default
    that something in sight leaves as it is), and no comparison, clamp or rebuild stands between them, in the layer or
    in what calls it.

    ## Why is this bad
    A longer input than the table was built for fails deep inside of the model: `index out of range in self` from an
    embedding, a device-side assert on a GPU, or two tensors that do not fit together after a slice that came out short.

    ## How to fix
    Compare the length with the table and say what the limit is, build the table for the length that is needed, or make
    the limit a parameter that the model's users set.

    ## References
    - [DETR's learned position embeddings](https://github.com/facebookresearch/detr): 50 rows and 50 columns
    """

    code = "ML303"
    name = "unguarded-position-table"
    severity = Severity.INFO
    triggers = ("import", "class")
    bad = (
        Example(
            "Learned embeddings of 50 rows for however many there are",
            {
                "model.py": """\
import torch
from torch import nn


class GridPositions(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.rows = nn.Embedding(50, width)  # expect: ML303
        self.columns = nn.Embedding(50, width)  # expect: ML303

    def forward(self, x):
        height, width = x.shape[-2:]
        rows = self.rows(torch.arange(height, device=x.device))
        columns = self.columns(torch.arange(width, device=x.device))
        return rows[:, None] + columns[None]
""",
            },
        ),
        Example(
            "A sinusoidal table with the default length, and no other in sight",
            {
                "model.py": """\
import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, width, max_len=5000):
        super().__init__()
        table = torch.zeros(max_len, width)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        step = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
        table[:, 0::2] = torch.sin(position * step)
        table[:, 1::2] = torch.cos(position * step)
        self.register_buffer("table", table.unsqueeze(0))  # expect: ML303

    def forward(self, x):
        return x + self.table[:, : x.size(1)]


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.positions = PositionalEncoding(width)
        self.layer = nn.TransformerEncoderLayer(width, 8)

    def forward(self, x):
        return self.layer(self.positions(x))
""",
            },
        ),
        Example(
            "A learned parameter that is sliced",
            {
                "model.py": """\
import torch
from torch import nn

LONGEST = 1024


class Decoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.positions = nn.Parameter(torch.zeros(1, LONGEST, width))  # expect: ML303

    def forward(self, ids):
        batch, length = ids.shape
        return self.embed(ids) + self.positions[:, :length, :]
""",
            },
        ),
        Example(
            "A method that would rebuild the table, but is never called",
            {
                "model.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        angles = torch.outer(torch.arange(2048).float(), 10000.0 ** -(torch.arange(0, dim, 2) / dim))
        self.cosines = angles.cos()  # expect: ML303

    def grow(self, length):
        self.cosines = torch.arange(length).float()[:, None].cos()

    def forward(self, x):
        return x * self.cosines[: x.shape[1]]
""",
            },
        ),
        Example(
            "A method that builds the table for any length, and that only the constructor calls",
            {
                "model.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** -(torch.arange(0, dim, 2) / dim))
        self.build(longest)  # expect: ML303

    def build(self, longest):
        self.longest = longest
        angles = torch.outer(torch.arange(longest), self.inv_freq)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def forward(self, x, length=None):
        return self.cosines[:length].to(x.dtype), self.sines[:length].to(x.dtype)
""",
            },
        ),
        Example(
            "Positions that are made in one class and looked up in another",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = nn.Embedding(512, width)  # expect: ML303

    def forward(self, positions):
        return self.table(positions)


class Encoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.positions = Positions(width)

    def forward(self, ids):
        positions = torch.arange(ids.size(1), device=ids.device).unsqueeze(0).expand_as(ids)
        return self.embed(ids) + self.positions(positions)
""",
            },
        ),
        Example(
            "Sizes that a caller gives",
            {
                "model.py": """\
import torch
from torch import nn


class GridPositions(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.rows = nn.Embedding(50, width)  # expect: ML303
        self.columns = nn.Embedding(50, width)  # expect: ML303

    def forward(self, shape: torch.Size, device):
        height, width = shape[-2:]
        rows = self.rows(torch.arange(height, device=device))
        columns = self.columns(torch.arange(width, device=device))
        return rows[:, None] + columns[None]
""",
            },
        ),
    )
    good = (
        Example(
            "A default that only the file's own trial leaves as it is",
            {
                "model.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab_size, width, length=120):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(length, width)

    def forward(self, ids):
        return self.embed(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))


if __name__ == "__main__":
    model = Decoder(100, 64)
    print(model(torch.randint(100, (2, 120))))
""",
            },
        ),
        Example(
            "A comparison says what the limit is",
            {
                "model.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(1024, width)

    def forward(self, ids):
        length = ids.size(1)
        if length > self.positions.num_embeddings:
            raise ValueError("at most 1024 tokens")
        return self.embed(ids) + self.positions(torch.arange(length, device=ids.device))
""",
            },
        ),
        Example(
            "Positions beyond the table take its last row",
            {
                "model.py": """\
import torch
from torch import nn


class GridPositions(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.rows = nn.Embedding(50, width)
        self.columns = nn.Embedding(50, width)

    def forward(self, x):
        height, width = x.shape[-2:]
        rows = torch.arange(height, device=x.device).clamp(max=49)
        columns = torch.arange(min(width, 50), device=x.device)
        return self.rows(rows)[:, None] + self.columns(columns)[None]
""",
            },
        ),
        Example(
            "A table that grows with what it is given",
            {
                "model.py": """\
import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, width, max_len=5000):
        super().__init__()
        self.width = width
        self.table = torch.zeros(1, max_len, width)

    def grow(self, x):
        self.table = torch.zeros(1, 2 * x.size(1), self.width)

    def forward(self, x):
        try:
            return x + self.table[:, : x.size(1)]
        except RuntimeError:
            self.grow(x)
        return x + self.table[:, : x.size(1)]
""",
            },
        ),
        Example(
            "A method that the model calls, and one that compares",
            {
                "model.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        self.dim = dim
        self.build(longest)

    def build(self, longest):
        self.longest = longest
        self.register_buffer("cosines", torch.arange(longest)[:, None].cos())

    def forward(self, x, length=None):
        return self.cosines[:length]


class Growing(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.build(512)

    def build(self, longest):
        self.longest = longest
        self.table = torch.arange(longest)[:, None].cos()

    def forward(self, x):
        if x.shape[1] > self.longest:
            self.build(x.shape[1])
        return self.table[: x.shape[1]]


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)
        self.growing = Growing(dim)

    def forward(self, x):
        self.rotary.build(x.shape[1])
        return self.growing(x) * self.rotary(x, x.shape[1])
""",
            },
        ),
        Example(
            "The length is what a configuration says",
            {
                "model.py": """\
import torch
from torch import nn


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)

    def forward(self, ids):
        return self.words(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
""",
            },
        ),
        Example(
            "The length is what the builder of the model says",
            {
                "model.py": """\
import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, width, max_len=5000):
        super().__init__()
        self.register_buffer("table", torch.zeros(1, max_len, width))

    def forward(self, x):
        return x + self.table[:, : x.size(1)]
""",
                "build.py": """\
from torch import nn

from model import PositionalEncoding


class Encoder(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.positions = PositionalEncoding(width, longest)

    def forward(self, x):
        return self.positions(x)
""",
            },
        ),
        Example(
            "A default that a folder we do not see may override",
            {
                "layers/table.py": """\
import torch
from torch import nn


class Speech(nn.Module):
    def __init__(self, width, longest=120):
        super().__init__()
        self.positions = nn.Embedding(longest, width)

    def forward(self, x):
        return x + self.positions(torch.arange(x.shape[1], device=x.device))
""",
                "models/speech.py": """\
from layers.table import Speech

MODEL = Speech(64, longest=350)
""",
            },
        ),
        Example(
            "The caller compares, or cuts what it passes on",
            {
                "model.py": """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = nn.Embedding(512, width)

    def forward(self, x):
        return x + self.table(torch.arange(x.shape[1], device=x.device))


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.positions = Positions(width)

    def forward(self, x):
        return self.positions(x[:, :512])
""",
            },
        ),
        Example(
            "One row for each level of a pyramid, and for each of the segments",
            {
                "model.py": """\
import torch
from torch import nn


class Levels(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.levels = nn.Embedding(4, width)
        self.kinds = nn.Embedding(2, width)

    def forward(self, x):
        return x + self.levels(torch.arange(x.shape[1], device=x.device))[None, :, None]
""",
            },
        ),
        Example(
            "As many positions as the table has rows, and a length of the model's own",
            {
                "model.py": """\
import torch
from torch import nn


class Queries(nn.Module):
    def __init__(self, width, queries=100):
        super().__init__()
        self.queries = nn.Embedding(100, width)
        self.register_buffer("mask", torch.ones(512, 512))
        self.register_buffer("scale", torch.ones(1, 64))

    def forward(self, x):
        x = x + self.queries(torch.arange(100, device=x.device)) * self.scale[:, : x.shape[-1]]
        return x, self.mask[: self.queries.weight.shape[0]]
""",
            },
        ),
        Example(
            "The rows are a run-time quantity too",
            {
                "model.py": """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, positions):
        super().__init__()
        self.register_buffer("positions", positions)

    def forward(self, x):
        table = torch.zeros(x.size(1), x.size(2))
        return x + table[: x.size(1)] + self.positions[: x.size(1)]
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for found in project.position_tables.unguarded(module):
            yield self._report(found)

    def probe(self, claim: TableEnds, project: Project) -> Probe | None:
        """Run the function that reads the table for as many positions as it has rows, and for one more."""
        from modellint.probes import boundary_probe

        return boundary_probe(claim, project, [claim.lookup])

    def _report(self, found: FixedTable) -> Finding:
        from modellint.claims.positions import TableEnds

        table, use, size = found.table, found.use, found.rows
        length = found.length.module.text_of(found.length.value)
        text = table.module.text_of(table.value)
        place, lookup = table.place, use.place
        if size is None:
            rows, built = "as many rows as it is built with", f"only the constructor calls `{text}`"
        else:
            given = "" if size.constant is not None else f", the default of `{size}`,"
            rows, built = f"{size.number} rows", f"{size.number} rows{given} are built once"
        return self.finding(
            place,
            f"the table has {rows}, but is read for `{length}` positions, however many they are",
            symbol=text,
            confidence=Confidence.MEDIUM,
            evidence=(built, f"`{length}` is known only at run time, and neither compared nor limited"),
            related=(Related(lookup, "the table is read here"),),
            help="compare the length with the rows of the table, or build the table for the length",
            claim=TableEnds(place, lookup),
        )
