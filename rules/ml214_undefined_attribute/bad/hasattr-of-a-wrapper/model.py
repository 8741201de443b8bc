from torch import nn


class Coder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def penalty(self):
        return self.proj.weight.norm()

    def forward(self, x):
        return self.proj(x)


def train(rank, batches):
    model = nn.parallel.DistributedDataParallel(Coder(4).to(rank), device_ids=[rank])
    for x in batches:
        loss = model(x).mean()
        if hasattr(model, "penalty"):  # expect: ML214
            loss = loss + 0.1
        loss.backward()
