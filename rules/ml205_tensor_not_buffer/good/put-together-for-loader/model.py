import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader


class Walks(nn.Module):
    def __init__(self, starts, width, length):
        super().__init__()
        self.starts = starts
        self.length = length
        offset = [0, *starts[1:]]
        self.offset = torch.tensor(offset)
        self.embedding = nn.Embedding(sum(starts), width)

    def loader(self, **options):
        return DataLoader(range(self.starts[0]), collate_fn=self.sample, **options)

    def negative(self, nodes: Tensor):
        nodes = nodes.repeat(2)
        walks = [nodes]
        for _ in range(self.length):
            nodes = torch.randint(0, self.length, (nodes.size(0),), dtype=torch.long)
            walks.append(nodes)
        walk = torch.stack(walks, dim=-1)
        walk.add_(self.offset.view(1, -1))
        return walk

    def sample(self, batch: list[int]):
        if not isinstance(batch, Tensor):
            batch = torch.tensor(batch)
        return self.negative(batch)

    def forward(self, positive, negative):
        near = self.embedding(positive).sum(-1).mean()
        return near - self.embedding(negative).sum(-1).mean()


class Padded(nn.Module):
    def __init__(self, width, pad):
        super().__init__()
        self.pad = torch.full((1,), pad)
        self.embedding = nn.Embedding(pad + 1, width)

    def together(self, ids: Tensor, length):
        return torch.cat([ids, self.pad.expand(length - ids.size(0))])

    def loaders(self, parts):
        longest = 128
        return [DataLoader(part, collate_fn=lambda ids: self.together(ids[0], longest)) for part in parts]

    def forward(self, x):
        return self.embedding(x)
