"""ML101: an embedding whose number of rows is a feature dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.edits.python import swapped
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow.domain import Given, Tensor
from modellint.link.values.shapes import (
    COUNTS_IDS,
    counts_ids,
    documented_shape,
    documents_ids,
    is_own_width,
    is_shared_shape,
    sharing,
)
from modellint.link.values.swaps import Sign, swaps
from modellint.link.values.table_users import indices, is_parameter
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.lookups import SizedByWidth
    from modellint.flow.domain import Site
    from modellint.flow.watched import Use
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.size import Size
    from modellint.link.project import Project
    from modellint.link.recipes.evaluation import Item
    from modellint.link.values.held import Held
    from modellint.link.values.sizing import Sizing
    from modellint.probes import Probe
    from modellint.source import Place


_RIGHT_TABLE = "use a linear layer for features, or give the table as many rows as there are ids"


@dataclass(frozen=True)
class _Evidence:
    """One reason to believe that a table is sized by features."""

    text: str
    is_strong: bool
    related: Related | None = None


class EmbeddingSizedByFeatures(Rule):
    """An embedding has as many rows as its input has features

    ## What it does
    Finds embeddings, in code and in recipes, whose number of rows is the width of the features that are fed to them,
    or the width of the model, and not a number of ids. It needs proof: real numbers of that very width index the
    table, the documented shape of the input ends in that very dimension, a layer beside it takes the same tensor with
    the same width, or the two arguments are swapped.

    ## Why is this bad
    Features are no ids. `nn.Embedding` fails on floating point input, and after a cast to `long` on the first value
    that is negative or larger than the number of features: `srcIndex < srcSelectDimSize`, a device-side assert.

    ## How to fix
    Project features with `nn.Linear(n, d)`. For ids, give the table the size of the vocabulary.

    ## Confirming
    A run calls the layer that holds the table. It is confirmed where features look the table up, where the code runs
    only with the two sizes swapped, and where ids that the code allows have no row. It is refuted where ids reach each
    row and the code runs in this order of the sizes only. That sizes are swapped is also refuted where the rows are
    counted, `len(…)`, or where another layer takes as many features as the table has columns, and none as many as it
    has rows. Only in Python files: a recipe does not say what looks its tables up.

    ## References
    - Amphion: `nn.Embedding(1583, …)` where 1583 is the feature dimension of the input
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML101"
    name = "embedding-sized-by-features"
    severity = Severity.ERROR
    takes_configs = True
    triggers = ("import",)
    bad = (
        Example(
            "The documented shape of the input ends in the number of rows",
            {
                "config.py": """\
class EncoderConfig:
    input_dim: int = 1583
    d_model: int = 256
""",
                "encoder.py": '''\
from torch import nn

from config import EncoderConfig


class ContentEncoder(nn.Module):
    def __init__(self, cfg: EncoderConfig):
        super().__init__()
        self.input_layer = nn.Embedding(cfg.input_dim, cfg.d_model)  # expect: ML101

    def forward(self, x):
        """x: (N, T, input_dim)"""
        return self.input_layer(x)
''',
            },
        ),
        Example(
            "A layer takes the same tensor with the same width, or features of that very width are cast to ids",
            {
                "prenet.py": """\
from torch import nn


class Prenet(nn.Module):
    def __init__(self, feat_dim, d_model):
        super().__init__()
        self.embed = nn.Embedding(feat_dim, d_model)  # expect: ML101
        self.skip = nn.Linear(feat_dim, d_model)

    def forward(self, feats):
        return self.embed(feats) + self.skip(feats)
""",
                "head.py": """\
from torch import nn


class Head(nn.Module):
    def __init__(self, n_mels=80, hidden=512):
        super().__init__()
        self.proj = nn.Sequential(nn.Linear(n_mels, hidden), nn.ReLU(), nn.Dropout(0.1))
        self.table = nn.Embedding(hidden, 256)  # expect: ML101

    def forward(self, mel):
        features = self.proj(mel)
        return self.table(features.long())
""",
            },
        ),
        Example(
            "The arguments are swapped",
            {
                "decoder.py": """\
from torch import nn


class Decoder(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.embed_tokens = nn.Embedding(d_model, vocab_size)  # expect: ML101
        self.norm = nn.LayerNorm(d_model)

    def forward(self, input_ids):
        return self.norm(self.embed_tokens(input_ids))
""",
            },
            changes=(("nn.Embedding(d_model, vocab_size)", "nn.Embedding(vocab_size, d_model)"),),
        ),
        Example(
            "The width of the model is the number of rows",
            {
                "config.py": """\
class DecoderConfig:
    def __init__(self, hidden_size=768, vocab_size=32000):
        self.hidden_size = hidden_size
        self.vocab_size = vocab_size
""",
                "decoder.py": """\
from torch import nn

from config import DecoderConfig


class Decoder(nn.Module):
    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.hidden_size, config.hidden_size)  # expect: ML101
        self.up = nn.Linear(config.hidden_size, 4 * config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size)

    def forward(self, input_ids):
        return self.up(self.norm(self.embed_tokens(input_ids)))


class RecurrentDecoder(nn.Module):
    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.embed = nn.Embedding(config.hidden_size, config.hidden_size)  # expect: ML101
        self.rnn = nn.GRU(config.hidden_size, config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


class Codec(nn.Module):
    def __init__(self, config: DecoderConfig, codebook_size):
        super().__init__()
        self.codes = nn.Embedding(config.hidden_size, codebook_size)  # expect: ML101
        self.decoder = Decoder(config)

    def forward(self, ids):
        return self.decoder.norm(self.codes(ids))
""",
            },
            changes=(
                ("nn.Embedding(config.hidden_size, codebook_size)", "nn.Embedding(codebook_size, config.hidden_size)"),
            ),
        ),
        Example(
            "A jaxtyping annotation gives the shape, of a project's own embedding",
            {
                "layers.py": """\
from torch import nn


class FrozenEmbedding(nn.Embedding):
    def __init__(self, rows, width):
        super().__init__(rows, width)
        self.requires_grad_(False)
""",
                "encoder.py": """\
from jaxtyping import Float
from torch import Tensor, nn

from layers import FrozenEmbedding


class Encoder(nn.Module):
    def __init__(self, n_feats: int, width: int):
        super().__init__()
        self.front = FrozenEmbedding(n_feats, width)  # expect: ML101

    def forward(self, feats: Float[Tensor, "batch time n_feats"]):
        return self.front(feats)
""",
            },
        ),
        Example(
            "A recipe sizes the table by what feeds the feature extractor",
            {
                "hparams.yaml": """\
n_mels: 80
vocab_size: 5000
compute_features: !new:speechbrain.lobes.features.Fbank
    n_mels: !ref <n_mels>
embedding: !new:torch.nn.Embedding
    num_embeddings: !ref <n_mels>  # expect: ML101
    embedding_dim: 256
encoder: !new:torch.nn.Linear
    in_features: !ref <n_mels>
    out_features: !ref <vocab_size>
""",
            },
        ),
        Example(
            "Positions whose arguments are swapped, and the width of the model as the number of ids",
            {
                "model.py": """\
from torch import nn


class Text(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.symbols = nn.Embedding(width, width)  # expect: ML101
        self.places = nn.Embedding(width, longest)  # expect: ML101
        self.kinds = nn.Embedding(width, 2)  # expect: ML101
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, places, kinds):
        return self.norm(self.symbols(ids) + self.places(places)), self.kinds(kinds)


def bucket(distance, n_buckets):
    return distance.abs().clamp(max=n_buckets - 1)


class Bias(nn.Module):
    def __init__(self, heads, n_buckets, config):
        super().__init__()
        self.n_buckets = n_buckets
        self.bias = nn.Embedding(heads, n_buckets)  # expect: ML101
        self.steps = nn.Embedding(config.heads, config.steps)  # expect: ML101
        self.words = nn.Embedding(config.text.embedding_dim, len(config.words))  # expect: ML101
        self.config = config

    def forward(self, distance, ids):
        steps = self.steps(distance.clamp(0, self.config.steps - 1))
        return self.bias(bucket(distance, self.n_buckets)) + steps, self.words(ids)
""",
            },
            changes=(
                ("nn.Embedding(width, longest)", "nn.Embedding(longest, width)"),
                ("nn.Embedding(width, 2)", "nn.Embedding(2, width)"),
                ("nn.Embedding(heads, n_buckets)", "nn.Embedding(n_buckets, heads)"),
                ("nn.Embedding(config.heads, config.steps)", "nn.Embedding(config.steps, config.heads)"),
                (
                    "nn.Embedding(config.text.embedding_dim, len(config.words))",
                    "nn.Embedding(len(config.words), config.text.embedding_dim)",
                ),
            ),
        ),
    )
    good = (
        Example(
            "Tables of a few numbers for each column, and a local that is assigned from a vocabulary",
            {
                "columns.py": """\
from torch import nn


class Columns(nn.Module):
    def __init__(self, n_columns, n_words):
        super().__init__()
        self.columns, self.bias = nn.Embedding(n_columns, 4), nn.Embedding(n_words, 1)
        self.mix = nn.Linear(n_columns, n_words)
""",
                "model.py": """\
from torch import nn


class Tagger(nn.Module):
    def __init__(self, config):
        super().__init__()
        embed_dim = config.vocab_size + 1
        self.embed = nn.Embedding(embed_dim, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size)

    def forward(self, input_ids):
        return self.norm(self.embed(input_ids))
""",
            },
        ),
        Example(
            "A width of images, a number of words, and codes found by comparing vectors of that width",
            {
                "model.py": """\
import torch
from torch import nn


class Sparse(nn.Module):
    def __init__(self, width, input_dim, n_classes, n_codes, dim):
        super().__init__()
        self.dim = dim
        self.columns = nn.Embedding(width, n_classes)
        self.scores = nn.EmbeddingBag(input_dim, n_classes)
        self.codes = nn.Embedding(n_codes, dim)

    def forward(self, image, words, x):
        distance = (x.reshape(-1, 1, self.dim) - self.codes.weight).abs().clamp(max=self.dim - 1).sum(-1)
        return self.columns(torch.arange(image.shape[-1])), self.scores(words), self.codes(distance.argmin(-1))
""",
            },
        ),
        Example(
            "A constructor that decides between features and ids, and a forward that returns early for one of them",
            {
                "encoder.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, input_dim, d_model, continuous=True):
        super().__init__()
        self.continuous = continuous
        if continuous:
            self.input_layer = nn.Linear(input_dim, d_model)
            self.input_norm = nn.LayerNorm(input_dim)
        else:
            self.input_layer = nn.Embedding(input_dim, d_model)

    def forward(self, x):
        return self.input_layer(x)


class Front(nn.Module):
    def __init__(self, input_dim, d_model, discrete):
        super().__init__()
        self.discrete = discrete
        self.embed = nn.Embedding(input_dim, d_model)
        self.proj = nn.Linear(input_dim, d_model)

    def forward(self, x):
        if self.discrete:
            return self.embed(x)
        return self.proj(x)
""",
            },
        ),
        Example(
            "Learned queries, used through their weight alone",
            {
                "queries.py": """\
from torch import nn


class Transposed(nn.Module):
    def __init__(self, dim, num_codes, n_units):
        super().__init__()
        self.book = nn.Embedding(dim, num_codes)
        self.front = nn.Embedding(dim, n_units)
        self.out = nn.Linear(dim, n_units)

    def forward(self, x, ids):
        return x @ self.book.weight, self.front(ids) + self.out(x)


class QueryDecoder(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.queries = nn.Embedding(hidden_size, hidden_size)
        self.proj = nn.Linear(hidden_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)

    def forward(self, memory):
        queries = self.queries.weight.unsqueeze(1).expand(-1, memory.size(1), -1)
        return self.norm(self.proj(queries + memory))
""",
            },
        ),
        Example(
            "One embedding for each channel, indexed by arange",
            {
                "channels.py": '''\
import torch
from torch import nn


class ChannelEncoder(nn.Module):
    def __init__(self, in_channels, width):
        super().__init__()
        self.in_channels = in_channels
        self.channel_embed = nn.Embedding(in_channels, in_channels)
        self.conv = nn.Conv1d(in_channels, width, 3)
        self.norm = nn.LayerNorm(in_channels)

    def forward(self, x):
        """x: (batch, time, in_channels)"""
        channels = torch.arange(self.in_channels, device=x.device)
        return self.conv(self.norm(x + self.channel_embed(channels)).transpose(1, 2))
''',
            },
        ),
        Example(
            "Real numbers that are put into buckets, one table for each categorical column, and tables that need none",
            {
                "pitch.py": '''\
import torch
from torch import nn


class PitchEmbedding(nn.Module):
    def __init__(self, pitch_dim, width):
        super().__init__()
        self.pitch_dim = pitch_dim
        self.embed = nn.Embedding(pitch_dim, width)
        self.smooth = nn.Linear(pitch_dim, width)
        self.register_buffer("edges", torch.linspace(0, 1, pitch_dim - 1))

    def forward(self, pitch, spectrum):
        """pitch: (batch, time), spectrum: (batch, time, pitch_dim)"""
        return self.embed(torch.bucketize(pitch, self.edges)) + self.smooth(spectrum)
''',
                "columns.py": """\
from torch import nn


class ColumnEncoder(nn.Module):
    def __init__(self, cardinalities, dim, vectors):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors)
        self.sign = nn.Embedding(2, dim)
        self.scale = nn.Linear(2, dim)
        self.tables = nn.ModuleList()
        for n_features in cardinalities:
            self.tables.append(nn.Embedding(n_features, dim))
        self.gates = nn.ModuleList(nn.Linear(n_features, dim) for n_features in cardinalities)

    def forward(self, columns, signs, words):
        total = sum(table(columns[:, i]) for i, table in enumerate(self.tables))
        return total + self.words(words) + self.sign(signs) + self.scale(signs)
""",
            },
        ),
        Example(
            "The docstring says tokens, or the family of a class documents the shape, or there is a row for padding",
            {
                "encoder.py": '''\
from torch import nn


class TextEncoder(nn.Module):
    """input_dim: number of phone tokens; width: width of the model"""

    def __init__(self, input_dim, width):
        super().__init__()
        self.embed = nn.Embedding(input_dim, width)
        self.one_hot = nn.Linear(input_dim, width)
        self.norm = nn.LayerNorm(input_dim)

    def forward(self, phones, counts):
        return self.embed(phones) + self.one_hot(self.norm(counts))
''',
                "front.py": '''\
from torch import nn


class Front(nn.Module):
    pass


class NoFront(Front):
    def forward(self, x):
        """x (torch.Tensor): input (batch, time, idim)"""
        return x


class TableFront(Front):
    def __init__(self, idim, odim):
        super().__init__()
        self.embed = nn.Embedding(idim, odim)

    def forward(self, x):
        """x (torch.Tensor): input (batch, time, idim)"""
        return self.embed(x)


class Translator(nn.Module):
    def __init__(self, idim, width):
        super().__init__()
        self.embed = nn.Embedding(idim, width, padding_idx=0)

    def forward(self, xs):
        """xs: padded input (batch, time, idim)"""
        return self.embed(xs)
''',
            },
        ),
        Example(
            "A recipe whose table has a row for each token",
            {
                "hparams.yaml": """\
n_mels: 80
output_neurons: 5000
compute_features: !new:speechbrain.lobes.features.Fbank
    n_mels: !ref <n_mels>
embedding: !new:torch.nn.Embedding
    num_embeddings: !ref <output_neurons>
    embedding_dim: !ref <n_mels>
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        sizing = project.indexed.sizing(module)
        seen: set[object] = set()
        for table in sizing.holders.tables:
            place = _place(table, module)
            if place not in seen:
                for finding in self._check_table(table, sizing, module, project):
                    seen.add(place)
                    yield finding

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.tables import tables_of

        for table, rows, uses in tables_of(recipe, project):
            if len(uses) > 1 and not COUNTS_IDS.search(rows.path):
                yield self._in_recipe(table, rows, uses)

    def probe(self, claim: SizedByWidth, project: Project) -> Probe | None:
        """Run the layer that holds the table with the input that is documented for it."""
        from modellint.probes import python_probe

        return python_probe(claim, project)

    def _in_recipe(self, table: Item, rows: Item, uses: list[tuple[str, Item, str]]) -> Finding:
        written = table.node.get("num_embeddings")
        return self.finding(
            table.recipe.place(written.span if written is not None else table.node.span),
            f"`{table.path}` has `{rows.path}` rows, a feature dimension",
            symbol=table.path,
            confidence=Confidence.MEDIUM,
            evidence=[text for text, _, _ in uses],
            related=[Related(item.recipe.place(item.node.span), message) for _, item, message in uses],
            help=_RIGHT_TABLE,
        )

    def _check_table(self, table: Held, sizing: Sizing, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        rows = table.rows.size
        if rows is not None and rows.constant in (0, 1, 2):
            return
        evidence = list(_swapped(table, sizing))
        is_swapped = bool(evidence)
        call = _made_in(table, module)
        fix = None
        if is_swapped and table.is_written_here:
            fix = swapped(call.value, "num_embeddings", "embedding_dim", module)
        if rows is not None:
            evidence += _sized(table, rows, sizing, module, project)
        strong = [item for item in evidence if item.is_strong]
        if not strong and len({item.text for item in evidence}) < 2:
            return
        from modellint.claims.lookups import SizedByWidth

        function = sizing.holders.constructor(table) or call.function
        owner = None if function is None else function.owner
        chosen = list({item.text: item for item in (*strong, *evidence)}.values())
        callee, named = module.text_of(call.value.callee), table.rows.text
        message, advice = f"`{callee}` has `{named}` rows, a feature dimension", _RIGHT_TABLE
        if is_swapped:
            message = f"the arguments of `{callee}` are swapped: it has `{named}` rows"
            advice = "swap them: the number of ids comes first, the width second"
        yield self.finding(
            call.place,
            message,
            symbol=f"{owner.name}.{table.attribute}" if owner and table.attribute else call.value.target or named,
            confidence=Confidence.HIGH if strong else Confidence.MEDIUM,
            evidence=[item.text for item in chosen],
            related=[item.related for item in chosen if item.related is not None],
            help=advice,
            fix=fix,
            claim=SizedByWidth(call.place, fix is not None),
        )


def _sized(table: Held, rows: Size, sizing: Sizing, module: ModuleFacts, project: Project) -> Iterator[_Evidence]:
    """What indexes a table, or stands beside it, has as many features as the table has rows."""
    may_be_width, is_documented = sizing.may_be_width(table), _is_documented(rows, module)
    lookups = sizing.users.lookups(table) if may_be_width or is_documented or _is_square(table) else []
    if any(tensor.positions is not None for lookup in lookups for tensor in indices(lookup)):
        return
    yield from _real(table, rows, module, project)
    for lookup in lookups:
        yield from _documented(lookup, table, rows, project)
        yield from _fed_beside(lookup, rows, sizing)
    if any(map(_is_fed_ids, lookups)) and not _documents_ids(table, rows, sizing):
        yield from _shared_width(table, rows, sizing)
    if lookups:
        yield from _square(table, rows, sizing)


def _real(table: Held, rows: Size, module: ModuleFacts, project: Project) -> Iterator[_Evidence]:
    """Real numbers index a table, as many as it has rows along their last dimension."""
    from modellint.flow.domain import Real

    for lookup in project.indexed.lookups(module):
        numbers = lookup.element
        is_same = lookup.width is not None and lookup.width == lookup.rows and not lookup.is_conditional
        if lookup.table == table.made and is_same and isinstance(numbers, Real):
            made = Related(numbers.origin.place, "the features are made here")
            called = lookup.place.module.text_of(lookup.place.value)
            yield _Evidence(f"it is indexed by real numbers of width `{rows}`, in `{called}`", True, made)


def _is_documented(rows: Size, module: ModuleFacts) -> bool:
    """Whether the documented shape of anything ends in a number of rows."""
    named = str(rows.only_symbol)
    functions = (f for f in module.all_functions() if rows.only_symbol is not None and named in f.text)
    shapes = (documented_shape(f, parameter.name) for f in functions for parameter in f.parameters)
    return any(shape is not None and shape[-1:] == (named,) for shape in shapes)


def _documented(lookup: Use, table: Held, rows: Size, project: Project) -> Iterator[_Evidence]:
    """The documented shape of what indexes the table ends in the number of its rows.

    Whoever names the row of the padding has ids in mind, and a text that other classes share describes them all.
    """
    symbol, function = rows.only_symbol, lookup.root
    if table.has_padding or symbol is None:
        return
    for atom in lookup.given:
        shape = documented_shape(function, atom.name) if isinstance(atom, Given) and is_parameter(atom) else None
        if shape is not None and len(shape) > 1 and shape[-1] == str(symbol):
            name = getattr(atom, "name", "")
            yield _Evidence(
                f"`{function.name}` documents `{name}` as ({', '.join(shape)}): its last dimension is `{symbol}`",
                not is_shared_shape(shape, name, function, project),
                Related(lookup.call.place, f"`{name}` indexes the table here"),
            )


def _fed_beside(lookup: Use, rows: Size, sizing: Sizing) -> Iterator[_Evidence]:
    """A layer takes the same tensor, with the same width, on a path that the lookup shares."""
    for use in sizing.users.fed_beside(lookup, rows):
        text = f"`{use.call.module.text_of(use.call.value)}` takes the same tensor with `{rows}` features"
        yield _Evidence(text, True, Related(use.call.place, "a layer takes the same tensor"))


def _made_in(table: Held, module: ModuleFacts) -> Site:
    """Where a table is made, or what makes it is called, in a file."""
    return table.made if table.made.module is module else table.call


def _place(table: Held, module: ModuleFacts) -> Place:
    return _made_in(table, module).place


#: What is said of each sign that the sizes have changed places, and of where it is.
_SIGNS = {
    Sign.NAMES: ("by their names, `{columns}` is a number of ids and `{rows}` a width", ""),
    Sign.LIMIT: ("ids are kept below `{columns}`, the number of columns", "the ids are kept below it here"),
    Sign.WIDTH: ("`{columns}` counts ids, `{rows}` is the width of other parts", ""),
    Sign.TAKER: ("`{place}` takes rows of `{size}` numbers", "the rows are taken to be `{size}` wide here"),
}


def _swapped(table: Held, sizing: Sizing) -> Iterator[_Evidence]:
    """What says that the first two arguments are swapped; names alone are no proof."""
    columns = "" if table.columns is None else table.columns.text
    for swap in swaps(table, sizing):
        place = "" if swap.site is None else swap.site.module.text_of(swap.site.value)
        text, message = (
            words.format(columns=columns, rows=table.rows.text, place=place, size=table.rows.size)
            for words in _SIGNS[swap.sign]
        )
        related = None if swap.site is None else Related(swap.site.place, message)
        yield _Evidence(text, swap.sign is not Sign.NAMES, related)
        if swap.sign is Sign.NAMES:
            yield _Evidence("ids are looked up in the table", False)


def _is_square(table: Held) -> bool:
    """Whether a table has as many rows as columns, and neither is called a number of ids."""
    if table.columns is None or table.rows.size is None or not table.rows.size.symbols:
        return False
    return table.columns.size == table.rows.size and not counts_ids(table.rows) and not counts_ids(table.columns)


def _square(table: Held, rows: Size, sizing: Sizing) -> Iterator[_Evidence]:
    """The table has as many rows as columns, and other parts of the model are as wide."""
    if not _is_square(table):
        return
    if is_own_width(rows, table, sizing.holders) or sizing.holders.is_given_beside(rows, table):
        yield _Evidence(f"the table has as many rows as columns: `{rows}` is the width of its rows", False)
        yield _Evidence(f"other parts of the model are `{rows}` wide, and ids index the table", False)


def _is_fed_ids(lookup: Use) -> bool:
    """Whether what a function is given looks a table up, and nothing else."""
    return all(isinstance(atom, Given) or (isinstance(atom, Tensor) and atom.ids is not None) for atom in lookup.given)


def _documents_ids(table: Held, rows: Size, sizing: Sizing) -> bool:
    """Whether the docstrings of what makes a table say that its rows are ids."""
    functions = {table.call.function, sizing.holders.constructor(table)}
    return any(documents_ids(rows.symbols, function) for function in functions if function is not None)


def _shared_width(table: Held, rows: Size, sizing: Sizing) -> Iterator[_Evidence]:
    """The number of rows is also the width of other layers, or of the model."""
    taken, own = sharing(table, sizing.holders)
    for other, what in ((taken, "the input width of"), (own, "the width of the model, as in")):
        site = None if other is None else other.layer.site
        if site is not None:
            text = f"`{rows}` is {what} `{site.module.text_of(site.value)}`"
            yield _Evidence(text, False, Related(site.place, f"`{rows}` is used as a width here"))
