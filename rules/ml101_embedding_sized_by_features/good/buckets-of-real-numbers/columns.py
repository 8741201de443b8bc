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
