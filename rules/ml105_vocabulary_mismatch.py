"""ML105: two places that must agree on the size of a vocabulary do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.value import Op
from modellint.link.values.vocabularies import GROWS
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.layers import Outgrown, Tied
    from modellint.claims.recipes import SizesDiffer
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.values.vocabularies import Growth, Tie
    from modellint.probes import Probe

_RECIPE = """\
output_neurons: 1000
emb: !new:speechbrain.nnet.embedding.Embedding
    num_embeddings: !ref <output_neurons>
seq_lin: !new:speechbrain.nnet.linear.Linear
    input_size: 256
    n_neurons: {lin}
ctc_lin: !new:speechbrain.nnet.linear.Linear
    input_size: 256
    n_neurons: {ctc}
lm: !new:speechbrain.lobes.models.RNNLM.RNNLM
    output_neurons: {lm}
scorer: !new:speechbrain.decoders.scorer.ScorerBuilder
    full_scorers:
        - !new:speechbrain.decoders.scorer.RNNLMScorer
            language_model: !ref <lm>
    partial_scorers:
        - !new:speechbrain.decoders.scorer.CTCScorer
            eos_index: 1
            blank_index: 0
            ctc_fc: !ref <ctc_lin>
dec: !new:speechbrain.nnet.RNN.AttentionalRNNDecoder
    enc_dim: 256
search: !new:speechbrain.decoders.S2SRNNBeamSearcher
    embedding: !ref <emb>
    decoder: !ref <dec>
    linear: !ref <seq_lin>
    scorer: !ref <scorer>
"""

_SIZE = "!ref <output_neurons>"


def _recipe(**sizes: str) -> str:
    text = _RECIPE
    for name in ("ctc", "lin", "lm"):
        text = text.replace(f"{{{name}}}", sizes.get(name, _SIZE))
    return text


class VocabularyMismatch(Rule):
    """Two places that must agree on the size of the vocabulary have different sizes

    ## What it does
    Compares layers that share their weight (`head.weight = embed.weight`), and tables that are sized by a tokenizer
    with the tokens that the same function adds to it: `len(tokenizer)` taken before `add_tokens`, and
    `tokenizer.vocab_size`, which does not count added tokens at all. In recipes it compares the head of a searcher with
    what scores the same ids (the output layer for CTC, a language model) and with the tokens of the only tokenizer.

    ## Why is this bad
    Tied layers of different sizes keep the weight of one of them: a bias, a loss or a checkpoint that was made for the
    other no longer fits. The id of an added token has no row in a table that was sized without it: `index out of range
    in self`, or a device-side assert on a GPU, at the first text that contains the token.

    ## How to fix
    Size both places by the same value. Add tokens first, and size tables by `len(tokenizer)` afterwards, or resize the
    table by the number of tokens added.

    ## Confirming
    A run builds both layers and compares the ids that they are made for; numbers that had to be assumed must disagree
    in each of several choices, also where all sizes are equal. A function that adds tokens is given a tokenizer of 100
    ids that counts what is added. Of recipes the last linear layers of both sides are compared.

    ## References
    - [Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859)
    """

    code = "ML105"
    name = "vocabulary-mismatch"
    severity = Severity.WARNING
    triggers = ("import",)
    bad = (
        Example(
            "A head for one token more than the table that it is tied to",
            {
                "model.py": """\
from torch import nn


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.width)  # expect: ML105
        self.head = nn.Linear(config.width, config.vocab_size + 1)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.embed(ids))
""",
            },
        ),
        Example(
            "A recipe whose output layer for CTC has one class more than the one that is searched",
            {"hparams.yaml": _recipe(ctc="1001", lin=f"{_SIZE}  # expect: ML105")},
        ),
        Example(
            "A recipe whose language model has been trained with other tokens",
            {"hparams.yaml": _recipe(lm="5000", lin=f"{_SIZE}  # expect: ML105")},
        ),
        Example(
            "Sizes of two constants, tied in a method",
            {
                "config.py": """\
TEXT_TOKENS = 8192
OUTPUTS = 8190
""",
                "model.py": """\
from torch import nn

from config import OUTPUTS, TEXT_TOKENS


class Model(nn.Module):
    def __init__(self, width=512, inner=512):
        super().__init__()
        assert width == inner, "tied layers are equally wide"
        self.embed = nn.Embedding(TEXT_TOKENS, width)
        self.head = nn.Linear(inner, OUTPUTS, bias=False)  # expect: ML105
        self.tie_weights()

    def tie_weights(self):
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.embed(ids))
""",
            },
        ),
        Example(
            "Tables of an encoder and a decoder that are shared",
            {
                "model.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, n_tokens, width):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width)  # expect: ML105


class Translator(nn.Module):
    def __init__(self, n_tokens, width):
        super().__init__()
        self.encoder = Encoder(n_tokens, width)
        self.embed = nn.Embedding(n_tokens + 2, width)
        self.encoder.embed.weight = self.embed.weight
""",
            },
        ),
        Example(
            "Weights that a class declares to be tied",
            {
                "model.py": """\
from torch import nn


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)  # expect: ML105

    def forward(self, ids):
        return self.embed_tokens(ids)


class ModelForGeneration(nn.Module):
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

    def __init__(self, config):
        super().__init__()
        self.model = Model(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size + 8, bias=False)

    def forward(self, ids):
        return self.lm_head(self.model(ids))


class ModelForTagging(nn.Module):
    _tied_weights_keys = ["head.weight"]

    def __init__(self, config):
        super().__init__()
        self.table = nn.Embedding(config.vocab_size + 1, config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.vocab_size)  # expect: ML105

    def get_input_embeddings(self):
        return self.table
""",
            },
        ),
        Example(
            "Tokens that are added after the model was sized",
            {
                "model.py": """\
from torch import nn


class Model(nn.Module):
    def __init__(self, n_tokens, width=64):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width)
        self.head = nn.Linear(width, n_tokens)

    def forward(self, ids):
        return self.head(self.embed(ids))
""",
                "train.py": """\
from model import Model


def build(tokenizer):
    model = Model(len(tokenizer))  # expect: ML105
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    return model, tokenizer
""",
            },
        ),
        Example(
            "A size that does not count added tokens",
            {
                "train.py": """\
from torch import nn


def build(tokenizer, width):
    tokenizer.add_tokens(["<image>", "<speech>"])
    return nn.Embedding(tokenizer.vocab_size, width)  # expect: ML105
""",
            },
        ),
        Example(
            "Tied by `setattr`, and by a function of another file that gets both layers",
            {
                "model.py": """\
from torch import nn

from tying import share


class Decoder(nn.Module):
    def __init__(self, width, n_tokens, n_extra):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width)  # expect: ML105
        self.head = nn.Linear(width, n_tokens + 2, bias=False)
        setattr(self.head, "weight", self.embed.weight)
        self.table = nn.Embedding(n_extra + 1, width)
        self.output = nn.Linear(width, n_extra, bias=False)  # expect: ML105
        share(self.output, self.table)

    def forward(self, ids, extra):
        return self.head(self.embed(ids)), self.output(self.table(extra))
""",
                "tying.py": """\
def share(head, table):
    head.weight = table.weight
""",
            },
        ),
    )
    good = (
        Example(
            "A recipe with one vocabulary, and one of which not every size is known",
            {
                "hparams.yaml": _recipe(),
                "other/hparams.yaml": _recipe(ctc="!ref <ctc_neurons>")
                + "ctc_neurons: !PLACEHOLDER\ntokenizer: !new:speechbrain.tokenizers.SentencePiece.SentencePiece\n"
                "    model_dir: tokens\n    vocab_size: 998\n",
            },
        ),
        Example(
            "One size for both",
            {
                "model.py": """\
from torch import nn


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.width)
        self.head = nn.Linear(config.width, config.vocab_size, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.embed(ids))
""",
            },
        ),
        Example(
            "A head that is not tied has one class more, for a blank",
            {
                "model.py": """\
from torch import nn


class Recogniser(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.head = nn.Linear(width, vocab_size + 1)
        self.norm = nn.LayerNorm(width)
        self.norm.weight = nn.LayerNorm(width).weight

    def forward(self, ids):
        return self.head(self.norm(self.embed(ids)))
""",
            },
        ),
        Example(
            "Declared to be tied, and of one size",
            {
                "model.py": """\
from torch import nn


class ModelForTagging(nn.Module):
    _tied_weights_keys = ["head.weight", "head.bias", "other.weight"]

    def __init__(self, config):
        super().__init__()
        self.table = nn.Embedding(config.vocab_size, config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.vocab_size)
        self.other = nn.Linear(config.hidden_size, config.n_labels)

    def get_input_embeddings(self):
        return self.table
""",
            },
        ),
        Example(
            "Two fields of a configuration that agree where weights are shared",
            {
                "config.py": """\
from dataclasses import dataclass


@dataclass
class Config:
    source_tokens: int = 42024
    target_tokens: int = 32000
    width: int = 64
    share: bool = False
""",
                "model.py": """\
from torch import nn

from config import Config


class Translator(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.source = nn.Embedding(config.source_tokens, config.width)
        self.target = nn.Embedding(config.target_tokens, config.width)
        if config.share:
            self.source.weight = self.target.weight
""",
            },
        ),
        Example(
            "Weights that are tied only if they fit",
            {
                "model.py": """\
from torch import nn


class Model(nn.Module):
    def __init__(self, n_tokens, n_extra, width):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width)
        self.head = nn.Linear(width, n_tokens + n_extra)
        if n_extra == 0:
            self.head.weight = self.embed.weight
        self.other = nn.Linear(width, n_tokens + 1)
        if self.other.weight.shape == self.embed.weight.shape:
            self.other.weight = self.embed.weight
""",
            },
        ),
        Example(
            "The table is sized once the tokens are there",
            {
                "train.py": """\
from torch import nn


def build(tokenizer, width):
    tokenizer.add_tokens(["<image>", "<speech>"])
    return nn.Embedding(len(tokenizer), width)
""",
            },
        ),
        Example(
            "The table is resized after tokens were added",
            {
                "train.py": """\
from torch import nn


class Model(nn.Module):
    def __init__(self, n_tokens, width=64):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width)

    def resize_token_embeddings(self, n_tokens):
        self.embed = nn.Embedding(n_tokens, self.embed.embedding_dim)


def build(tokenizer):
    model = Model(len(tokenizer))
    if tokenizer.add_tokens(["<image>"]):
        model.resize_token_embeddings(len(tokenizer))
    return model
""",
            },
        ),
        Example(
            "A padding token that the tokenizer has already",
            {
                "train.py": """\
from torch import nn


def build(tokenizer, width):
    embed = nn.Embedding(len(tokenizer), width)
    tokenizer.add_special_tokens({"pad_token": tokenizer.eos_token})
    return embed
""",
            },
        ),
        Example(
            "Another tokenizer grows",
            {
                "train.py": """\
from torch import nn


def build(source, target, width):
    embed = nn.Embedding(len(source), width)
    target.add_tokens(["<image>"])
    return embed, nn.Embedding(len(target), width)
""",
            },
        ),
        Example(
            "Room for tokens to come",
            {
                "train.py": """\
from torch import nn


def build(tokenizer, width):
    embed = nn.Embedding(len(tokenizer) + 2, width)
    tokenizer.add_tokens(["<image>", "<speech>"])
    return embed
""",
            },
        ),
        Example(
            "Shared by a function that compares first, and a weight that is made of some rows of another one",
            {
                "model.py": """\
from torch import nn


def share(head, table):
    if head.weight.shape == table.weight.shape:
        setattr(head, "weight", table.weight)


class Decoder(nn.Module):
    def __init__(self, width, n_tokens):
        super().__init__()
        self.embed = nn.Embedding(n_tokens + 2, width)
        self.head = nn.Linear(width, n_tokens, bias=False)
        self.head.weight = nn.Parameter(self.embed.weight[2:])
        self.output = nn.Linear(width, n_tokens, bias=False)
        share(self.output, self.embed)

    def forward(self, ids):
        x = self.embed(ids)
        return self.head(x), self.output(x)
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for cls in module.classes.values():
            for tie in project.vocabularies.declared(cls):
                yield self._tied(tie, is_declared=True)
        for tie in project.vocabularies.ties(module):
            yield self._tied(tie, is_declared=False)
        for function in (*module.all_functions(), module.body):
            words = function.words
            if not words.isdisjoint(GROWS) and not any("resize" in word for word in words):
                for growth in project.vocabularies.growths(function):
                    yield self._grown(growth)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.claims.recipes import SizesDiffer
        from modellint.link.recipes.vocabularies import disagreements

        for search, head, other in disagreements(recipe, project):
            smaller, larger = sorted((head, other), key=lambda sized: sized.number)
            if smaller.item.recipe is not recipe:
                continue
            yield self.finding(
                smaller.place,
                f"`{smaller.item.path}` has {smaller.described} ids, but `{larger.item.path}` {larger.described}",
                symbol=smaller.item.path,
                confidence=Confidence.HIGH if other.item.kind.value == "!new" else Confidence.MEDIUM,
                evidence=(f"`{search.item.path}` draws ids of `{head.item.path}`",),
                related=(
                    Related(larger.place, f"`{larger.item.path}` is sized here"),
                    Related(search.item.place, "they meet here"),
                ),
                help="size both by the same key",
                claim=SizesDiffer(smaller.place, head.item.path, other.item.path),
            )

    def probe(self, claim: SizesDiffer | Tied | Outgrown, project: Project) -> Probe | None:
        """Build what must agree, and compare the sizes; call what adds tokens, and count rows and ids afterwards."""
        from modellint.claims.layers import Tied
        from modellint.claims.recipes import SizesDiffer
        from modellint.probes import python_probe, recipe_probe

        if isinstance(claim, SizesDiffer):
            return recipe_probe(claim, project)
        return python_probe(claim, project, claim.tie if isinstance(claim, Tied) else None)

    def _tied(self, tie: Tie, *, is_declared: bool) -> Finding:
        """A finding about a tie that a function makes, or that a class declares for its base to make."""
        from modellint.claims.layers import Tied

        smaller, larger, made = tie.smaller, tie.larger, tie.smaller.made.module
        place, other, tied = smaller.made.place, larger.made.place, tie.tied.place
        return self.finding(
            place,
            f"this layer is made for {smaller.rows.described} ids, but shares its weight with a layer for "
            f"{larger.rows.described}",
            symbol=made.text_of(smaller.made.value.callee),
            confidence=Confidence.HIGH if tie.is_proved else Confidence.MEDIUM,
            evidence=(f"`{tie.tied.module.text_of(tie.tied.value)}` makes them share it",),
            related=(
                Related(other, "the other layer is made here"),
                Related(tied, "the weights are tied here"),
            ),
            help="size both layers by the same value",
            claim=None if tie.owner is None else Tied(place, other, tie.at.place, tie.owner.qualname, is_declared),
        )

    def _grown(self, growth: Growth) -> Finding:
        from modellint.claims.layers import Outgrown

        size, module, tokenizer = growth.size, growth.size.module, growth.event.value.callee.args[0]
        place, table = size.place, growth.table.place
        added = module.text_of(growth.event.value.callee)
        text = module.text_of(size.value)
        counts = "never counts added tokens" if size.value.op.value == "attr" else "is taken before they are added"
        return self.finding(
            place,
            f"`{text}` does not count the tokens of `{added}(…)`: their ids have no row",
            symbol=text,
            confidence=Confidence.MEDIUM if growth.event.guard is None else Confidence.LOW,
            evidence=(f"`{text}` {counts}", "nothing resizes the table afterwards"),
            related=(
                Related(module.place(growth.event.value), "tokens are added here"),
                Related(table, "the table"),
            ),
            help="add the tokens first, and size the table by `len` of the tokenizer",
            claim=Outgrown(place, str(tokenizer.data), table) if tokenizer.op is Op.PARAM else None,
        )
