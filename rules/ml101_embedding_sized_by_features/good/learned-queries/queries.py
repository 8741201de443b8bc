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
