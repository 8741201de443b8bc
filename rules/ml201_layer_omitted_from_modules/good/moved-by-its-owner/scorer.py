import torch


class Rescorer:
    def __init__(self, lm):
        self.lm = lm

    def __call__(self, x):
        self.lm.to(x.device)
        return self.lm(x)


class Follower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(512, 512)

    def forward(self, x):
        self.proj.to(x.device)
        return self.proj(x)
