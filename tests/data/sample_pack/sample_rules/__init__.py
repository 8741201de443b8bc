"""A pack of rules as its users install it: the entry point names this module."""

from sample_rules.lab001_no_embedding_bag import NoEmbeddingBag
from sample_rules.lab002_no_rnn_cell import NoRnnCell

RULES = [NoEmbeddingBag, NoRnnCell]
