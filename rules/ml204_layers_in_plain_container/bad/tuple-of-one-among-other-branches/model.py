import torch


class Encoder(torch.nn.Module):
    def __init__(self, size, width, kind):
        super().__init__()
        if kind == "linear":
            self.embed = torch.nn.Sequential(torch.nn.Linear(size, width), torch.nn.ReLU())
        elif kind == "embed":
            self.embed = (  # expect: ML204
                torch.nn.Embedding(size, width),
            )
        else:
            self.embed = None

    def forward(self, x):
        if self.embed is not None:
            x = self.embed(x)
        return x
