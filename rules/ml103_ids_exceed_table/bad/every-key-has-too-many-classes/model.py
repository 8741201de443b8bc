from torch import nn


class Streams(nn.Module):
    def __init__(self, names, width=64):
        super().__init__()
        self.names = names
        self.head = nn.Linear(width, 2000)
        self.heads = nn.ModuleDict({"first": nn.Linear(width, 1025), "second": nn.Linear(width, 1026)})
        self.tables = nn.ModuleDict({"first": nn.Embedding(1024, width), "second": nn.Embedding(1024, width)})
        self.others = nn.ModuleDict({"text": nn.Embedding(2000, width), "audio": nn.Embedding(1024, width)})

    def forward(self, x):
        ids = {name: self.heads[name](x).argmax(-1) for name in self.names}
        return [self.tables[name](each) for name, each in ids.items()]  # expect: ML103

    def with_one_head(self, x):
        ids = self.head(x).argmax(-1)
        return [table(ids) for table in self.others.values()]  # expect: ML103
