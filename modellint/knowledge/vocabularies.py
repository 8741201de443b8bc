"""Classes that draw ids, and their arguments whose sizes must agree with the ids.

An argument is named, or is an element of a list that is: `("modules", 1)`.
"""

from __future__ import annotations

_PREFIX = "speechbrain"
_SEQ2SEQ = f"{_PREFIX}.decoders.seq2seq"
_TRANSFORMER = f"{_PREFIX}.lobes.models.transformer"

Argument = tuple[str, int | None]

#: Searchers: the table in which they look up the ids that they draw, the head that they draw them from.
SEARCHERS: dict[str, tuple[Argument, Argument]] = {
    f"{_SEQ2SEQ}.S2SRNNGreedySearcher": (("embedding", None), ("linear", None)),
    f"{_SEQ2SEQ}.S2SRNNBeamSearcher": (("embedding", None), ("linear", None)),
    f"{_SEQ2SEQ}.S2STransformerGreedySearcher": (("modules", 0), ("modules", 1)),
    f"{_SEQ2SEQ}.S2STransformerBeamSearcher": (("modules", 0), ("modules", 1)),
    f"{_PREFIX}.decoders.transducer.TransducerBeamSearcher": (("decode_network_lst", 0), ("classifier_network", 0)),
}
#: Scorers that rescore the ids of a searcher, each with the argument whose head does it.
SCORERS = {
    f"{_PREFIX}.decoders.scorer.CTCScorer": "ctc_fc",
    f"{_PREFIX}.decoders.scorer.RNNLMScorer": "language_model",
    f"{_PREFIX}.decoders.scorer.TransformerLMScorer": "language_model",
}
#: The arguments of layers that are a number of ids: rows to look up.
ROWS = {
    "torch.nn.Embedding": "num_embeddings",
    f"{_PREFIX}.nnet.embedding.Embedding": "num_embeddings",
    f"{_TRANSFORMER}.TransformerASR.TransformerASR": "tgt_vocab",
}
#: And classes to choose from.
CLASSES = {
    "torch.nn.Linear": "out_features",
    f"{_PREFIX}.nnet.linear.Linear": "n_neurons",
    f"{_PREFIX}.lobes.models.RNNLM.RNNLM": "output_neurons",
    f"{_TRANSFORMER}.TransformerLM.TransformerLM": "vocab",
}
#: Tokenizers that are trained to have so many tokens.
TOKENIZERS = {f"{_PREFIX}.tokenizers.SentencePiece.SentencePiece": "vocab_size"}
