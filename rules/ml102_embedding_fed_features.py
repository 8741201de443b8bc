"""ML102: real numbers where an embedding expects ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.lookups import FedNumbers
    from modellint.flow.domain import Real
    from modellint.flow.lookups import Lookup
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.probes import Probe


class EmbeddingFedFeatures(Rule):
    """An embedding is indexed by real numbers instead of ids

    ## What it does
    Follows what indexes an embedding to the layer, activation, cast to float or division that made it, through
    functions and files. A bare `.long()` does not turn features into ids.

    ## Why is this bad
    `nn.Embedding` raises `Expected tensor for argument #1 'indices' to have one of the following scalar types: Long,
    Int` for floating point indices. After `.long()` it runs, but truncated activations pick rows at random, and a
    negative or large one fails as a device-side assert.

    ## How to fix
    Project features with `nn.Linear`, or quantise them on purpose (`bucketize`, `argmax`, `round` and `clamp`).

    ## References
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML102"
    name = "embedding-fed-features"
    severity = Severity.ERROR
    triggers = ("import",)
    bad = (
        Example(
            "The output of a linear layer",
            {
                "model.py": """\
from torch import nn


class Tagger(nn.Module):
    def __init__(self, n_mels, width, n_tags):
        super().__init__()
        self.proj = nn.Linear(n_mels, width)
        self.embed = nn.Embedding(n_tags, width)

    def forward(self, mel):
        features = self.proj(mel)
        return self.embed(features)  # expect: ML102
""",
            },
        ),
        Example(
            "A bare cast does not quantise activations",
            {
                "model.py": """\
import torch
from torch import nn


class Quantiser(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.conv = nn.Conv1d(width, 1, 3, padding=1)
        self.embed = nn.Embedding(rows, width)

    def forward(self, x):
        levels = torch.relu(self.conv(x)).squeeze(1)
        return self.embed(levels.long())  # expect: ML102
""",
            },
        ),
        Example(
            "Features from another file, through a helper",
            {
                "encoder.py": """\
from torch import nn


class SpeechEncoder(nn.Module):
    def __init__(self, n_mels, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_mels, width), nn.GELU())
        self.norm = nn.LayerNorm(width)

    def forward(self, mel):
        return self.norm(self.layers(mel))
""",
                "model.py": """\
from torch import nn

from encoder import SpeechEncoder


class SpeechModel(nn.Module):
    def __init__(self, n_mels=80, width=256, vocab_size=1000):
        super().__init__()
        self.encoder = SpeechEncoder(n_mels, width)
        self.embed = nn.Embedding(vocab_size, width)

    def encode(self, mel):
        return self.encoder(mel)

    def forward(self, mel):
        return self.embed(self.encode(mel))  # expect: ML102
""",
            },
        ),
        Example(
            "Ids that are cast to float, and their mean",
            {
                "model.py": """\
from torch import nn


class Pooling(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.first = nn.Embedding(vocab_size, width)
        self.second = nn.Embedding(vocab_size, width)

    def forward(self, ids):
        first = self.first(ids.float())  # expect: ML102
        return first + self.second(ids / 2)  # expect: ML102
""",
            },
        ),
        Example(
            "Probabilities instead of their largest class",
            {
                "model.py": """\
import torch.nn.functional as F
from torch import nn


class Feedback(nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.head = nn.Linear(width, vocab_size)
        self.embed = nn.Embedding(2 * vocab_size, width)

    def forward(self, hidden, steps):
        for _ in range(steps):
            probabilities = F.softmax(self.head(hidden), dim=-1)
            hidden = F.embedding(probabilities, self.embed.weight)  # expect: ML102
        return hidden
""",
            },
        ),
        Example(
            "The state of a recurrent layer, passed to a decoder",
            {
                "model.py": """\
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, tokens):
        return self.embed(tokens)


class Translator(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.decoder = Decoder(vocab_size, width)

    def forward(self, source):
        states, last = self.rnn(source)
        return self.decoder(states)  # expect: ML102
""",
            },
        ),
        Example(
            "The last state, distances, projections by a parameter, and a layer of the project's own",
            {
                "model.py": """\
import torch
from torch import nn


class Scale(nn.Module):
    def forward(self, x):
        return torch.tanh(x)


class Reader(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.lstm = nn.LSTM(width, width)
        self.gru = nn.GRU(width, width)
        self.matrix = nn.Parameter(torch.randn(width, width))
        self.front = nn.Sequential(nn.Linear(width, width), Scale())
        self.embed = nn.Embedding(rows, width)

    def forward(self, x):
        _, (state, _) = self.lstm(x)
        _, last = self.gru(x)
        both = self.embed(state) + self.embed(last)  # expect: ML102, ML102
        far = self.embed(torch.cdist(x, x))  # expect: ML102
        turned = self.embed(torch.matmul(x, self.matrix))  # expect: ML102
        return both + far + turned + self.embed(self.front(x))  # expect: ML102
""",
            },
        ),
        Example(
            "Features that are kept, put into a dict and taken out again, and looked up by what is passed on",
            {
                "model.py": """\
import torch
from torch import nn


def look_up(table, numbers):
    return table(numbers)


class Encoder(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.front = nn.Conv1d(1, width, 3)
        self.pool = nn.BatchNorm1d(width)
        self.embed = nn.ModuleDict({"codes": nn.Embedding(rows, width)})

    def prepare(self, wave):
        self.features = {"codes": self.pool(self.front(wave))}

    def forward(self, wave):
        self.prepare(wave)
        first = self.embed["codes"](self.features["codes"])  # expect: ML102
        return first + look_up(self.embed["codes"], torch.true_divide(wave, 2))  # expect: ML102
""",
            },
        ),
    )
    good = (
        Example(
            "Tokens are the keys of dictionaries whose values are their scores",
            {
                "beam.py": """\
import torch
from torch import nn


class Beam(nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.head = nn.Linear(width, vocab_size)
        self.embed = nn.Embedding(vocab_size, width)

    def scores(self, hidden):
        scores = {}
        for score, token in zip(*self.head(hidden).log_softmax(-1).topk(5)):
            scores[(0, token.item())] = score.item()
        return scores

    def best(self, hidden):
        scores = self.scores(hidden)
        ranked = [*sorted(scores, key=scores.get), max(scores, key=scores.get), *scores, next(iter(scores))]
        ranked.extend(scores)
        return self.embed(torch.tensor(ranked))

    def counted(self, hidden):
        numbered = [sequence for _, sequence in enumerate(self.scores(hidden))]
        paired = [sequence for sequence, _ in zip(self.scores(hidden), range(5))]
        return self.embed(torch.tensor(numbered + paired + list(self.scores(hidden))))
""",
            },
        ),
        Example(
            "The largest class, by argmax, max and topk",
            {
                "model.py": """\
import torch
from torch import nn


class Feedback(nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.head = nn.Linear(width, vocab_size)
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, hidden):
        logits = self.head(hidden)
        best = self.embed(logits.argmax(dim=-1))
        scores, indices = logits.max(dim=-1)
        beam = torch.topk(logits, 4, dim=-1)
        values, ids = logits.topk(4)
        return best + self.embed(indices) + self.embed(beam.indices).sum(-2) + self.embed(ids).sum(-2)
""",
            },
        ),
        Example(
            "A block that takes features or ids, as it was built",
            {
                "model.py": """\
from torch import nn


class Block(nn.Module):
    def __init__(self, width, rows=None):
        super().__init__()
        self.is_discrete = rows is not None
        if self.is_discrete:
            self.embed = nn.Embedding(rows, width)
        else:
            self.project = nn.Linear(width, width)

    def forward(self, x):
        if not self.is_discrete:
            return self.project(x)
        return self.embed(x)


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.front = nn.Conv1d(1, width, 3)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))

    def forward(self, x):
        x = self.front(x)
        for block in self.blocks:
            x = block(x)
        return x
""",
            },
        ),
        Example(
            "Sampling from probabilities",
            {
                "model.py": """\
import torch
from torch import nn
from torch.distributions import Categorical


class Sampler(nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.head = nn.Linear(width, vocab_size)
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, hidden):
        probabilities = torch.softmax(self.head(hidden), dim=-1)
        drawn = self.embed(torch.multinomial(probabilities, 1))
        return drawn + self.embed(Categorical(probs=probabilities).sample())
""",
            },
        ),
        Example(
            "Real numbers in buckets",
            {
                "model.py": """\
import torch
from torch import nn


class VarianceAdaptor(nn.Module):
    def __init__(self, width, n_bins=256):
        super().__init__()
        self.predict = nn.Linear(width, 1)
        self.register_buffer("bins", torch.linspace(-2, 2, n_bins - 1))
        self.embed = nn.Embedding(n_bins, width)

    def forward(self, x):
        pitch = self.predict(x).squeeze(-1)
        return x + self.embed(torch.bucketize(pitch, self.bins))
""",
            },
        ),
        Example(
            "A scale that makes ids of real numbers on purpose",
            {
                "model.py": """\
from torch import nn


class TimeEmbedding(nn.Module):
    def __init__(self, width, steps=1000):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(width, 1), nn.Sigmoid())
        self.embed = nn.Embedding(steps, width)

    def forward(self, x):
        level = self.gate(x).squeeze(-1)
        return self.embed((level * 10).long())
""",
            },
        ),
        Example(
            "Rounded and clamped",
            {
                "model.py": """\
from torch import nn


class Durations(nn.Module):
    def __init__(self, width, longest=50):
        super().__init__()
        self.longest = longest
        self.predict = nn.Linear(width, 1)
        self.embed = nn.Embedding(longest + 1, width)

    def forward(self, x):
        frames = self.predict(x).squeeze(-1).round().clamp(0, self.longest)
        return self.embed(frames.long())
""",
            },
        ),
        Example(
            "Ids that a caller passes, cast to long",
            {
                "model.py": """\
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.proj = nn.Linear(width, width)

    def forward(self, ids, mask):
        ids = ids.to(mask.device).long()
        return self.proj(self.embed(ids)) * mask.float().unsqueeze(-1)
""",
            },
        ),
        Example(
            "A mask, and the side of a threshold, are integers",
            {
                "model.py": """\
from torch import nn


class Voicing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.predict = nn.Linear(width, 1)
        self.embed = nn.Embedding(2, width)

    def forward(self, x):
        voiced = self.predict(x).squeeze(-1) > 0
        return x + self.embed(voiced.long())
""",
            },
        ),
        Example(
            "Embeddings or features, by a condition",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, n_feats, vocab_size, width, is_text):
        super().__init__()
        self.is_text = is_text
        self.norm = nn.LayerNorm(n_feats)
        self.front = nn.Embedding(vocab_size, width) if is_text else nn.Linear(n_feats, width)

    def forward(self, x):
        if not self.is_text:
            x = self.norm(x)
        return self.front(x)
""",
            },
        ),
        Example(
            "The nearest row of a codebook",
            {
                "model.py": """\
import torch
from torch import nn


class VectorQuantiser(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, x):
        x = self.proj(x)
        distances = torch.cdist(x, self.codebook.weight)
        nearest = distances.argmin(dim=-1)
        return self.codebook(nearest), self.codebook.weight[nearest]
""",
            },
        ),
        Example(
            "Whole numbers from whole numbers",
            {
                "model.py": """\
import torch
from torch import nn


class Blocks(nn.Module):
    def __init__(self, n_blocks, width, size):
        super().__init__()
        self.size = size
        self.embed = nn.Embedding(n_blocks, width)

    def forward(self, x):
        positions = torch.arange(x.size(1), device=x.device)
        return x + self.embed(positions // self.size) + self.embed((positions / self.size).floor().long())
""",
            },
        ),
        Example(
            "Features or ids, as the type of what is given says",
            {
                "model.py": """\
import torch
from torch import nn


def is_features(x):
    return x.dtype == torch.float32


class Conditioner(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.embed = nn.Embedding(rows, width)
        self.project = nn.Linear(width, width)

    def forward(self, x):
        if is_features(x):
            return self.project(x)
        return self.embed(x)


class Model(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.front = nn.Linear(width, width)
        self.condition = Conditioner(width, rows)

    def forward(self, x):
        return self.condition(self.front(x))
""",
            },
        ),
        Example(
            "Quotients in whole numbers, and a decoder that was built for features",
            {
                "model.py": """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, rows, width, front="ids"):
        super().__init__()
        if front == "ids":
            self.front = nn.Embedding(rows, width)
        elif isinstance(front, nn.Module):
            self.front = front
        else:
            self.front = nn.Linear(width, width)

    def forward(self, x):
        return self.front(x)


class Model(nn.Module):
    def __init__(self, rows, width, deep):
        super().__init__()
        front = nn.Sequential(nn.Linear(width, width), nn.ReLU()) if deep else "features"
        self.project = nn.Linear(width, width)
        self.decoder = Decoder(rows, width, front)
        self.position = nn.Embedding(rows, width)

    def forward(self, x, n, size):
        places = torch.div(torch.arange(n), size, rounding_mode="floor")
        return self.decoder(self.project(x)) + self.position(places)
""",
            },
        ),
        Example(
            "Scores and ids in one dictionary, and real numbers added to what is given",
            {
                "decoder.py": """\
import torch
from torch import nn
from torch.nn import functional as F


class Decoder(nn.Module):
    def __init__(self, odim, width):
        super().__init__()
        self.embed = nn.Embedding(odim, width)
        self.output = nn.Linear(width, odim)

    def search(self, hyps, steps):
        ids = torch.zeros(1).long()
        for i in range(steps):
            kept = []
            for hyp in hyps:
                ids[0] = hyp["ids"][i]
                scores = F.log_softmax(self.output(self.embed(ids)), dim=1)
                best, found = torch.topk(scores, 4, dim=1)
                for j in range(4):
                    new = {}
                    new["score"] = hyp["score"] + best[0, j]
                    new["ids"] = [0] * (1 + len(hyp["ids"]))
                    new["ids"][: len(hyp["ids"])] = hyp["ids"]
                    new["ids"][len(hyp["ids"])] = int(found[0, j])
                    kept.append(new)
            hyps = kept
        return hyps

    def step(self, state, x):
        state += F.softmax(x, dim=-1)
        return self.embed(state["ids"])
""",
            },
        ),
        Example(
            "Ids and losses that are stacked by one `map`",
            {
                "model.py": """\
import torch
from torch import nn


class Quantiser(nn.Module):
    def __init__(self, rows=32, width=8):
        super().__init__()
        self.books = nn.ModuleList(nn.Embedding(rows, width) for _ in range(4))

    def forward(self, x):
        losses, ids, left = [], [], x
        for book in self.books:
            found = torch.cdist(left, book.weight).argmin(-1)
            losses.append(((book(found) - left) ** 2).mean())
            left = left - book(found)
            ids.append(found)
        losses, ids = map(torch.stack, (losses, ids))
        return left, ids, losses


class Speaker(nn.Module):
    def __init__(self, rows=32, width=8):
        super().__init__()
        self.quantiser = Quantiser(rows, width)
        self.table = nn.Embedding(rows, width)

    def forward(self, x):
        _, ids, _ = self.quantiser(x)
        return self.table(ids[0])
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.flow.domain import Real

        for lookup in project.indexed.lookups(module):
            is_width = lookup.rows is not None and lookup.width == lookup.rows
            if isinstance(lookup.element, Real) and not is_width:
                yield self._report(lookup, lookup.element)

    def probe(self, claim: FedNumbers, project: Project) -> Probe | None:
        """Run the function: what does torch say of the numbers that arrive at the lookup?"""
        from modellint.probes import python_probe

        return python_probe(claim, project)

    def _report(self, lookup: Lookup, numbers: Real) -> Finding:
        from modellint.claims.lookups import FedNumbers

        module, call, origin = lookup.place.module, lookup.place.value, numbers.origin
        made_by = origin.module.text_of(origin.value)
        name = module.text_of(call.args[0])
        evidence = [f"`{_short(made_by)}` gives floating point numbers; an embedding takes integer ids"]
        if lookup.way:
            evidence.append(f"they reach the embedding through {lookup.way}")
        return self.finding(
            lookup.place.place,
            f"`{name}` looks up real numbers, the result of `{_short(made_by)}`",
            symbol=name,
            confidence=Confidence.LOW if lookup.is_conditional else Confidence.HIGH,
            evidence=evidence,
            related=(
                Related(origin.place, "the numbers are made here"),
                Related(lookup.table.place, "the embedding"),
            ),
            help="use `nn.Linear` for features, or quantise them to ids first",
            claim=FedNumbers(lookup.place.place),
        )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
